package dap

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	dap "github.com/google/go-dap"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// scopeOf returns what expressions see in a frame; 0 is that of the paused place.
func scopeOf(s *server, t *target, frame int) (executor.Scope, error) {
	if frame == 0 {
		return t.session.Here(), nil
	}
	f, err := s.refs.frame(s, frame)
	if err != nil {
		return executor.Scope{}, err
	}
	return f.scope.Latest(), nil
}

// evaluate evaluates JSONata. In the console of the editor, commands begin with a
// slash.
func evaluate(s *server, t *target, a dap.EvaluateArguments) (any, error) {
	text := strings.TrimSpace(a.Expression)
	if a.Context == "repl" && strings.HasPrefix(text, "/") {
		return debugCommand(t, text)
	}
	scope, err := scopeOf(s, t, a.FrameId)
	if err != nil {
		return nil, err
	}
	if a.Context == "hover" && t.session.Document(scope).Has(text) {
		text = "$" + member(text) // the id of a node
	}
	v, err := t.session.Eval(s.ctx, scope, text)
	if err != nil {
		return nil, explained(err)
	}
	if v.IsUndefined() && a.Context == "hover" {
		return nil, errors.New("there is no such value here")
	}
	body := dap.EvaluateResponseBody{Result: shown(v, maxShown), Type: typeOf(v)}
	if a.Context == "clipboard" && !v.IsUndefined() {
		body.Result = string(v.AppendIndent(nil, "  "))
	}
	if isContainer(v) {
		s.mu.Lock()
		body.VariablesReference = s.refs.add(reference{what: valueRef, scope: scope, value: v, path: "(" + text + ")"})
		s.mu.Unlock()
		body.NamedVariables, body.IndexedVariables = sizes(v)
	}
	return body, nil
}

// explained adds the hint to the error of an expression.
func explained(err error) error {
	var wrong *expr.Error
	if errors.As(err, &wrong) && wrong.Hint != "" {
		return fmt.Errorf("%w: %s", err, wrong.Hint)
	}
	return err
}

const replCommands = `expected /answer JSON, /decline, /cancel, /pin NODE JSON or /unpin NODE`

// debugCommand does what was typed into the console of the editor.
func debugCommand(t *target, text string) (any, error) {
	name, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	done := func(text string, err error) (any, error) { return dap.EvaluateResponseBody{Result: text}, err }
	switch name {
	case "/answer", "/decline", "/cancel":
		questions := t.session.Questions()
		if len(questions) == 0 {
			return nil, errors.New("the run asks nothing")
		}
		given := value.FromString(name[1:])
		if name == "/answer" {
			var err error
			if given, err = value.ParseStrict(rest); err != nil {
				return nil, errors.New("the answer is not JSON; type /answer {…}")
			}
		}
		answer, err := questions[0].Result(given)
		if err != nil {
			return nil, fmt.Errorf("%w; type /answer {…}", err)
		}
		return done("answered", t.session.Answer(questions[0].ID, answer))
	case "/pin":
		node, text, _ := strings.Cut(rest, " ")
		v, err := value.ParseStrict(strings.TrimSpace(text))
		if err != nil {
			return nil, errors.New("the value is not JSON; type /pin NODE JSON")
		}
		return done(node+" yields the value without being executed", t.session.Pin(node, v))
	case "/unpin":
		return done(rest+" is executed again", t.session.Unpin(rest))
	}
	return nil, fmt.Errorf("unknown command %q; %s", name, replCommands)
}

// maxCompletions bounds the list of completions.
const maxCompletions = 200

// completions completes ids of nodes behind "$.", and variables.
func completions(s *server, t *target, a dap.CompletionsArguments) (any, error) {
	body := dap.CompletionsResponseBody{Targets: []dap.CompletionItem{}}
	scope, err := scopeOf(s, t, a.FrameId)
	if err != nil {
		return body, nil
	}
	units := utf16.Encode([]rune(a.Text))
	before := utf16.Decode(units[:min(max(a.Column-1-s.columns, 0), len(units))])
	start := len(before)
	for start > 0 && !strings.ContainsRune(" ()[]{},;+-*/&=<>!?:", before[start-1]) {
		start--
	}
	word := string(before[start:])
	at, length := len(utf16.Encode(before[:start]))+1+s.columns, len(utf16.Encode(before[start:]))
	add := func(label, detail string, kind dap.CompletionItemType) {
		if strings.HasPrefix(label, word) && len(body.Targets) < maxCompletions {
			body.Targets = append(body.Targets, dap.CompletionItem{Label: label, Detail: detail, Type: kind, Start: at, Length: length})
		}
	}
	if i := strings.LastIndexByte(word, '.'); i > 1 {
		v, err := t.session.Eval(s.ctx, scope, word[:i])
		if err == nil && v.Kind() == value.Object {
			for _, e := range v.Entries() {
				add(word[:i]+member(e.Key), typeOf(e.Value), "property")
			}
		}
		return body, nil
	}
	for _, id := range scope.Nodes() {
		add("$"+member(id), "output of the node", "property")
	}
	for _, v := range t.session.Variables(scope) {
		add("$"+v.Key, typeOf(v.Value), "variable")
	}
	return body, nil
}

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// answers answer the questions of a run: from --answer, or else on the terminal.
type answers struct {
	app   *app
	given map[string][]value.Value // by node, as they were written; the last is used again
	// asking is called before something is asked on the terminal; it may be nil.
	asking func()

	mu     sync.Mutex // one question at a time is on the terminal
	prompt lineReader
}

// lineReader asks a person for a line.
type lineReader interface {
	// possible reports whether somebody can answer.
	possible() bool
	line(ctx context.Context, question string) (string, error)
}

// readAnswers reads the values of --answer.
func readAnswers(a *app, pairs []string) (*answers, error) {
	all := &answers{app: a, given: map[string][]value.Value{}, prompt: newPrompt(a)}
	for _, p := range pairs {
		node, text, ok := strings.Cut(p, "=")
		if !ok || node == "" {
			return nil, usagef("--answer %q has no value; expected NODE=JSON", p)
		}
		answer, err := value.ParseStrict(text)
		if err != nil && text != "" && !strings.ContainsAny(text[:1], "{[\"") {
			answer, err = value.FromString(text), nil
		}
		if err != nil {
			return nil, usagef("--answer %s: expected JSON, accept, decline or cancel", p)
		}
		all.given[node] = append(all.given[node], answer)
	}
	return all, nil
}

// check refuses answers that cannot be those of their nodes in a tool, and those of nodes
// that the tool does not have or that ask nothing.
func (s *answers) check(g *graph.Graph) error {
	asks := map[string]bool{} // by the id of each node
	if err := s.checkIn(g, map[*graph.Graph]bool{}, asks); err != nil || g == nil {
		return err
	}
	var asking []string
	for id, does := range asks {
		if does {
			asking = append(asking, id)
		}
	}
	slices.Sort(asking)
	for _, id := range slices.Sorted(maps.Keys(s.given)) {
		does, known := asks[id]
		switch near, ok := diag.Nearest(id, asking); {
		case does:
		case known:
			return usagef("--answer %s: this node asks nothing", id)
		case ok:
			return usagef("--answer %s: there is no such node; did you mean %q?", id, near)
		case len(asking) == 0:
			return usagef("--answer %s: there is no such node, and no node of this tool asks anything", id)
		default:
			return usagef("--answer %s: there is no such node; expected %s", id, diag.List(asking))
		}
	}
	return nil
}

func (s *answers) checkIn(g *graph.Graph, seen map[*graph.Graph]bool, asks map[string]bool) error {
	if g == nil || seen[g] {
		return nil
	}
	seen[g] = true
	for _, n := range g.Nodes {
		asks[n.ID] = asks[n.ID] || n.Approval != nil || n.Kind != nil && n.Kind.Asks != ""
		for _, given := range s.given[n.ID] {
			_, err := executor.Question{Method: n.AskMethod()}.Result(given)
			if err != nil && executor.FailureOf(err).Name != graph.FailCannotAsk {
				return usagef("--answer %s: %v", n.ID, err)
			}
		}
		for _, body := range n.Bodies {
			if err := s.checkIn(body, seen, asks); err != nil {
				return err
			}
		}
		if err := s.checkIn(n.Callee, seen, asks); err != nil {
			return err
		}
	}
	return nil
}

// ask is a [mcpgraph.AskFunc].
func (s *answers) ask(ctx context.Context, q executor.Question) (value.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if given := s.given[q.Node.ID]; len(given) > 0 {
		if len(given) > 1 {
			s.given[q.Node.ID] = given[1:]
		}
		return q.Result(given[0])
	}
	if !s.prompt.possible() {
		example := map[string]string{graph.AskModel: "TEXT", graph.AskRoots: `["file:///…"]`}[q.Method]
		if example == "" {
			example = "{…}"
		}
		return value.Undef, &graph.Failure{Name: graph.FailCannotAsk, Message: fmt.Sprintf(
			"nobody can be asked: stdin is no terminal; answer with --answer '%s=%s', or %[1]s=decline", q.Node.ID, example)}
	}
	if s.asking != nil {
		s.asking()
	}
	switch q.Method {
	case graph.AskModel:
		return s.asModel(ctx, q)
	case graph.AskRoots:
		return s.asRoots(ctx, q)
	}
	return s.onTerminal(ctx, q)
}

// onTerminal asks whether to answer, and then for each field of the form.
func (s *answers) onTerminal(ctx context.Context, q executor.Question) (value.Value, error) {
	fmt.Fprintf(s.app.stderr, "\n%s asks: %s\n", q.Path, visible(q.Value.Get("message").Str()))
	if link := q.Value.Get("url"); !link.IsUndefined() {
		fmt.Fprintf(s.app.stderr, "It wants you to visit %s\n", visible(link.Str()))
	}
	for {
		said, err := s.prompt.line(ctx, "accept? [y]es, [n]o, [c]ancel: ")
		switch {
		case err != nil:
			return value.Undef, err
		case said == "n" || said == "no":
			return mcpgraph.Answer(mcpgraph.Decline, value.Undef), nil
		case said == "c" || said == "cancel":
			return mcpgraph.Answer(mcpgraph.Cancel, value.Undef), nil
		case said == "y" || said == "yes":
			content, err := s.fields(ctx, q.Value.Get("requestedSchema"))
			return mcpgraph.Answer(mcpgraph.Accept, content), err
		}
	}
}

// fields asks for the fields of a form.
func (s *answers) fields(ctx context.Context, schema value.Value) (value.Value, error) {
	required := map[string]bool{}
	for _, name := range schema.Get("required").Elems() {
		required[name.Str()] = true
	}
	b := value.NewBuilder(4)
	for _, field := range schema.Get("properties").Entries() {
		prompt := "  " + visible(field.Key) + fieldHint(field.Value, required[field.Key]) + ": "
		for {
			said, err := s.prompt.line(ctx, prompt)
			if err != nil {
				return value.Undef, err
			}
			absent := field.Value.Get("default")
			if said == "" && !absent.IsUndefined() {
				b.Set(field.Key, absent)
				break
			}
			if said == "" && !required[field.Key] {
				break
			}
			types := schematext.Types(schema, field.Value)
			v, err := readAs(types, said)
			switch {
			case said == "":
				fmt.Fprintln(s.app.stderr, "  a value is required")
				continue
			case err != nil || len(types) > 0 && !fits(types, v):
				fmt.Fprintf(s.app.stderr, "  expected %s\n", strings.Join(types, " or "))
				continue
			}
			if one, err := graph.NewSchema(field.Value); err == nil {
				if err := one.Validate(v); err != nil {
					fmt.Fprintf(s.app.stderr, "  %s\n", visible(err.Error()))
					continue
				}
			}
			b.Set(field.Key, v)
			break
		}
	}
	return b.Value(), nil
}

// fieldHint returns what values a field accepts.
func fieldHint(schema value.Value, required bool) string {
	var about []string
	if text := schema.Get("description").Str(); text != "" {
		about = append(about, visible(text))
	}
	var choices []string
	for _, choice := range schema.Get("enum").Elems() {
		choices = append(choices, visible(choice.Str()))
	}
	for _, choice := range schema.Get("oneOf").Elems() {
		choices = append(choices, visible(choice.Get("const").Str()))
	}
	switch kind := schema.Get("type").Str(); {
	case choices != nil:
		about = append(about, diag.List(choices))
	case kind == "array":
		about = append(about, "a JSON list")
	default:
		about = append(about, visible(kind))
	}
	if v := schema.Get("default"); !v.IsUndefined() {
		about = append(about, "default "+visible(v.JSON()))
	} else if !required {
		about = append(about, "optional")
	}
	return " (" + strings.Join(about, "; ") + ")"
}

// visible returns text without control characters: a question must not move the
// cursor of the terminal, or show its text in another order than it has.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, text)
}

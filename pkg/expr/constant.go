package expr

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// comparison matches a text that was meant to be evaluated: two sides with an
// operator between them.
var comparison = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([$\pL_` + "`" + `][^=<>!]*?)\s*(===?|!==?|>=|<=|=|>|<)\s*([^=<>\s][^=<>]*?)\s*$`)
})

// constants finds a rule whose truth is the same in every run, and conditions
// in it of which that is so.
func (c *compiler) constants(rule value.Value, root node) {
	w := constantFinder{c: c}
	if message, hint := alwaysThe(rule, root); message != "" {
		c.constant(message, hint)
		return
	}
	w.walk(rule, true)
	if !w.reads && len(c.findings) == 0 {
		c.constant("the rule reads nothing from the run, so its outcome is always the same", w.meant)
	}
}

// literalExpression matches a text that reads the document or calls a function.
var literalExpression = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\$\$?\.[\pL_` + "`" + `]|^\$\pL[\pL\pN_]*\(`)
})

// LooksLikeExpression reports whether a text that stands where none is
// evaluated was probably meant to be an expression.
func LooksLikeExpression(s string) bool {
	return strings.HasPrefix(s, "$") && literalExpression().MatchString(s)
}

func (c *compiler) constant(message, hint string) { c.report(ConstantRule, message, hint) }

// report adds a finding about all of what is being compiled.
func (c *compiler) report(kind FindingKind, message, hint string) {
	c.findings = append(c.findings, Finding{
		Kind: kind, Message: message, Hint: hint, Path: c.here(), Offset: -1, End: -1,
	})
}

// alwaysThe returns why a rule is not an operation, or "" if it is one.
func alwaysThe(rule value.Value, root node) (message, hint string) {
	_, isList := root.(*list)
	if _, ok := root.(literal); !ok && !isList {
		return "", ""
	}
	truth := fmt.Sprintf("always %t", truthy(rule))
	const (
		form    = `a rule is a map with one operator, such as {"==": [{var: NODE.FIELD}, 1]}`
		removal = `leave the condition out, or give it a rule such as {"==": [{var: NODE.FIELD}, 1]}`
	)
	switch rule.Kind() {
	case value.String:
		hint = form
		if s := suggestion(rule.Str()); s != "" {
			hint = "write " + s
		}
		return "a text is not a rule: this one is " + truth, hint
	case value.Object:
		if rule.Len() == 0 {
			return "an empty map is not a rule: it is " + truth, form
		}
		return fmt.Sprintf("a map with %d keys is not a rule: it is %s", rule.Len(), truth),
			"a rule has one operator; join several with {and: [{…}, {…}]}"
	case value.Array:
		return "a list is not a rule: this one is " + truth, "join rules with {and: […]} or {or: […]}"
	}
	if rule.Kind() == value.Bool {
		return "the rule is " + truth, removal
	}
	return fmt.Sprintf("the rule is %s, which is %s", rule.JSON(), truth),
		removal
}

// suggestion returns the rule that a text was probably meant to be, or "" if
// that is not clear.
func suggestion(s string) string {
	if m := comparison().FindStringSubmatch(s); m != nil {
		op := m[2]
		if op == "=" {
			op = "=="
		}
		return fmt.Sprintf("{%q: [{var: %s}, %s]}", op, flowText(m[1]), m[3])
	}
	if strings.HasPrefix(s, "$") {
		return fmt.Sprintf("{var: %s}", flowText(s))
	}
	return ""
}

// flowText writes a text inside braces of YAML, in quotes where it needs them.
func flowText(s string) string {
	if strings.ContainsAny(s, "{}[],:#\"'&*!|>%@`") {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// constantFinder goes through a rule that is an operation.
type constantFinder struct {
	c     *compiler
	reads bool   // something reads the run
	meant string // what an operand that is a text may have been meant to be
}

// walk looks at a rule; truth means that only its truth counts.
func (w *constantFinder) walk(rule value.Value, truth bool) {
	switch {
	case rule.Kind() == value.Array:
		for i, e := range rule.Elems() {
			w.at(i, e, false)
		}
	case rule.Kind() == value.Object && rule.Len() == 1:
		e := rule.Entries()[0]
		w.operation(e.Key, e.Value, truth)
	case rule.Kind() == value.Object:
		if slices.ContainsFunc(rule.Entries(), func(e value.Entry) bool { return isOperator(e.Key) }) {
			w.c.constant(fmt.Sprintf("a map with %d keys is data, not a rule", rule.Len()),
				"a rule has one operator; join several with {and: [{…}, {…}]}")
		}
	case rule.Kind() == value.String:
		s := suggestion(rule.Str())
		if truth && s != "" {
			w.c.constant("a text is not a rule: this one is always true", "write "+s)
		}
		if !truth && LooksLikeExpression(rule.Str()) {
			w.c.report(LiteralExpression, "this text is compared as text, not evaluated",
				"to evaluate it, write "+suggestion(rule.Str()))
			w.reads = true // or was meant to
		}
		if w.meant == "" && dotted().MatchString(rule.Str()) {
			w.meant = fmt.Sprintf("to read the output of a node, write {var: %s}", rule.Str())
		}
	}
}

// dotted matches a path that a text may have been meant to be.
var dotted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\$\.)?[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)+$`)
})

func isOperator(name string) bool {
	_, ok := operators[name]
	return ok || slices.Contains(deciding, name)
}

func (w *constantFinder) at(step any, rule value.Value, truth bool) {
	w.c.path = append(w.c.path, step)
	w.walk(rule, truth)
	w.c.path = w.c.path[:len(w.c.path)-1]
}

func (w *constantFinder) operation(name string, under value.Value, truth bool) {
	switch name {
	case "var", "missing", "missing_some":
		w.reads = true
		return
	}
	w.c.path = append(w.c.path, name)
	defer func() { w.c.path = w.c.path[:len(w.c.path)-1] }()
	if under.Kind() != value.Array {
		w.walk(under, isTruth(name, 0, 1, truth))
		return
	}
	for i, e := range under.Elems() {
		w.at(i, e, isTruth(name, i, under.Len(), truth))
	}
}

// isTruth reports whether only the truth of argument i of n counts; truth
// reports whether only that of the operation does.
func isTruth(operator string, i, n int, truth bool) bool {
	switch operator {
	case "!", "!!":
		return true
	case "and", "or":
		return truth || i+1 < n // the last is the value of the operation
	case "if", "?:":
		return i%2 == 0 && i+1 < n || truth
	}
	return false
}

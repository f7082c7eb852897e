package suite

import (
	"context"
	"fmt"
	"regexp"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Pattern is a value that another one is compared with. An object with the only
// key match, expr or is means more than itself.
type Pattern struct {
	Node *config.Node // where it is written

	form    form
	literal value.Value
	entries []patternEntry
	items   []*Pattern
	regexp  *regexp.Regexp
	expr    *Predicate
}

type patternEntry struct {
	key     string
	pattern *Pattern
}

// form is what a Pattern is.
type form uint8

const (
	literalForm form = iota
	objectForm
	listForm
	matchForm // a regular expression
	exprForm  // a predicate
)

// Predicate is a JSONata expression that must yield true.
type Predicate struct {
	Node *config.Node
	expr *jsonata.Expr // nil if it did not compile
}

// reFlags lets . match line breaks.
const reFlags = "(?s)"

// The keys that make an object a pattern.
const (
	matchKey = "match"
	exprKey  = "expr"
	isKey    = "is"
)

// pattern decodes a value to compare with. It returns nil for nil.
func (d *decoder) pattern(n *config.Node) *Pattern {
	if n == nil {
		return nil
	}
	n = d.resolve(n)
	p := &Pattern{Node: n}
	switch n.Kind() {
	case config.List:
		p.form = listForm
		for _, item := range n.Items() {
			p.items = append(p.items, d.pattern(item))
		}
		return p
	case config.Map:
		if all := n.Fields(); len(all) == 1 && d.special(p, all[0].Key.String(), all[0].Value) {
			return p
		}
		p.form = objectForm
		for _, f := range n.Fields() {
			p.entries = append(p.entries, patternEntry{f.Key.String(), d.pattern(f.Value)})
		}
		return p
	}
	p.literal = d.value(n)
	return p
}

// special decodes an object with one key that may be more than itself, and reports
// whether it is.
func (d *decoder) special(p *Pattern, key string, n *config.Node) bool {
	switch n = d.resolve(n); key {
	case matchKey:
		if !d.isText(n, key) {
			return true
		}
		re, err := regexp.Compile(reFlags + d.text(n))
		if err != nil {
			bad := n.Problem(diag.CodeValue, fmt.Sprintf("invalid regular expression: %v", err))
			bad.Hint = "the syntax is that of RE2 (https://github.com/google/re2/wiki/Syntax)"
			d.report(bad)
			return true
		}
		p.form, p.regexp = matchForm, re
	case exprKey:
		if d.isText(n, key) {
			p.form, p.expr = exprForm, d.predicate(n)
		}
	case isKey:
		p.literal = d.value(n)
	default:
		return false
	}
	return true
}

// isText reports whether the value of match or expr is a string, or that it is not.
func (d *decoder) isText(n *config.Node, key string) bool {
	if n.IsString() {
		return true
	}
	p := n.Expected(fmt.Sprintf("%q", key), "a string")
	p.Hint = fmt.Sprintf("to compare with an object that has the key %s, write {is: {%[1]s: …}}", key)
	d.report(p)
	return false
}

// predicate compiles an expression.
func (d *decoder) predicate(n *config.Node) *Predicate {
	return &Predicate{n, d.compile(n)}
}

var findingCodes = map[jsonata.FindingKind]string{
	jsonata.UnknownFunction: diag.CodeFunction, jsonata.UnboundVariable: diag.CodeVariable,
	jsonata.WrongCall: diag.CodeCall, jsonata.OddCharacter: diag.CodeOddCharacter,
	jsonata.ForeignForm: diag.CodeForeign, jsonata.ForeignField: diag.CodeAssumedField,
}

// argumentsVariable is what replies know the arguments of a call by.
const argumentsVariable = "arguments"

// compile compiles an expression, which may use some variables; nil if it is wrong,
// which it reports.
func (d *decoder) compile(n *config.Node, variables ...string) *jsonata.Expr {
	text := d.text(n)
	// An offset in the text is one in the file only where no variable moved it.
	place := func(code string, from, to int, message, hint string) {
		p := n.Problem(code, message)
		if from >= 0 && text == n.Text().String() {
			p = n.Text().ProblemAt(from, to, code, message)
		}
		p.Hint = hint
		d.report(p)
	}
	compiled, err := jsonata.Compile(text, jsonata.WithVariables(variables...))
	if err != nil {
		bad := err.(*jsonata.Error)
		place(diag.CodeExpression, bad.Offset, bad.Offset+len(bad.Token), bad.Message, bad.Hint)
		return nil
	}
	for _, f := range compiled.Findings() {
		if near, ok := diag.Nearest(f.Name, f.Visible); ok && f.Hint == "" {
			f.Hint = fmt.Sprintf("did you mean \"$%s\"?", near)
		}
		place(findingCodes[f.Kind], f.Offset, f.End, f.Message, f.Hint)
	}
	return compiled
}

// Holds evaluates the predicate over a value. Reason is why it does not hold.
func (p *Predicate) Holds(ctx context.Context, o Evaluation, v value.Value) (ok bool, reason string) {
	if p.expr == nil {
		return false, "the expression has errors"
	}
	got, err := p.expr.Eval(ctx, v, o.options())
	switch {
	case err != nil:
		return false, err.Error()
	case got.Kind() == value.Bool && got.Bool():
		return true, ""
	case got.IsUndefined():
		return false, "it yields nothing"
	}
	return false, "it yields " + got.Preview(maxShown)
}

// maxShown bounds a value in a message, in bytes.
const maxShown = 200

// Literal returns a value as a test file has to write it to compare with it as it is:
// an object with a single key that means more than itself stands in {is: …}.
func Literal(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		list := make([]value.Value, v.Len())
		for i, e := range v.Elems() {
			list[i] = Literal(e)
		}
		return value.FromArray(list)
	case value.Object:
		b := value.NewBuilder(v.Len())
		for _, e := range v.Entries() {
			if v.Len() == 1 && (e.Key == matchKey || e.Key == exprKey || e.Key == isKey) {
				return value.ObjectOf(isKey, v)
			}
			b.Set(e.Key, Literal(e.Value))
		}
		return b.Value()
	}
	return v
}

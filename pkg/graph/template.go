package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// exprKey marks an expression inside a template: it is the only key of its map.
const exprKey = "expr"

// Template is a value with expressions in it. It is immutable and safe for
// concurrent use.
type Template struct {
	literal value.Value // where nothing below is an expression
	program *Program
	keys    []string // of a map, else nil
	parts   []*Template
	src     *config.Node
}

// Template asks for a map, in which each map whose only key is `expr` is a
// JSONata expression, the outermost too; lists and maps are walked. In the flat
// layout a string directly in the outermost map is an expression too where it
// begins with `$`. What is written must be a map. It returns nil where the
// field is absent.
func (f *Fields) Template(name, doc string, opts ...Option) *Template {
	n := f.get(TemplateField, name, doc, opts)
	if n == nil {
		return nil
	}
	if n.Kind() != config.Map {
		f.report(n.Expected(f.what(name), "a map"))
		return nil
	}
	t, _ := f.template(n, name, 0)
	return t
}

// template compiles n and reports whether anything in it is an expression.
func (f *Fields) template(n *config.Node, path string, depth int) (*Template, bool) {
	t := &Template{src: n, literal: n.Value()}
	live := false
	add := func(part *Template, isLive bool) {
		t.parts = append(t.parts, part)
		live = live || isLive
	}
	switch n.Kind() {
	case config.List:
		for i, item := range n.Items() {
			add(f.template(item, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
	case config.Map:
		if field, ok := n.Field(exprKey); ok {
			t.program = f.embedded(n, field, path)
			return t, true
		}
		for _, field := range n.Fields() {
			key := field.Key.String()
			t.keys = append(t.keys, key)
			add(f.template(field.Value, path+"."+key, depth+1))
		}
	default:
		switch text := n.Text().String(); {
		case !n.IsString():
		case f.site.flat && depth == 1 && strings.HasPrefix(text, "$"):
			t.program = f.compile(n)
			return t, true
		case expr.LooksLikeExpression(text):
			d := n.Problem(diag.CodeLiteral, fmt.Sprintf("%s looks like an expression, but is sent as text", f.what(path)))
			d.Hint = fmt.Sprintf("to evaluate it, write {expr: %q}; to send the text, write {expr: %q}", text, jsonText(text))
			f.report(d)
		case strings.ContainsAny(text, "${"):
			f.node.texts = append(f.node.texts, sentText{n, f.what(path)})
		}
	}
	if !live {
		t.keys, t.parts = nil, nil
	}
	return t, live
}

// jsonText returns a string as JSON, which is also an expression for it.
func jsonText(s string) string { return string(value.AppendString(nil, s)) }

// embedded compiles the expression of the map n.
func (f *Fields) embedded(n *config.Node, field config.Field, path string) *Program {
	what := fmt.Sprintf("%q of %s", f.path+path, f.owner)
	if len(n.Fields()) > 1 {
		d := field.Key.Problem(diag.CodeConflict, what+` has "expr" beside other keys`)
		d.Hint = `a map with "expr" is an expression and cannot have other keys`
		f.report(d)
		return nil
	}
	if !field.Value.IsString() {
		d := field.Value.Expected(`"expr" in `+what, "a JSONata expression")
		d.Hint = notText(field.Value)
		f.report(d)
		return nil
	}
	return f.compile(field.Value)
}

// notText returns what to do about an expression that is not written as a
// string.
func notText(n *config.Node) string {
	if n.Kind() == config.Scalar {
		return "put it in quotes"
	}
	return "YAML reads braces and brackets as a map or list: put quotes around the expression, or write it below \"|\""
}

// Eval returns the template with every expression replaced by its value: one
// that yields nothing drops its key, and is null inside a list. It returns
// undefined where the template as a whole is an expression that yields nothing.
// Errors are *PosError.
func (t *Template) Eval(ctx context.Context, env *expr.Env) (value.Value, error) {
	switch {
	case t.program != nil:
		return t.program.Eval(ctx, env)
	case t.parts == nil:
		return t.literal, nil
	}
	values := make([]value.Value, len(t.parts))
	for i, part := range t.parts {
		v, err := part.Eval(ctx, env)
		if err != nil {
			return value.Undef, err
		}
		values[i] = v
	}
	if t.keys == nil {
		for i, v := range values {
			if v.IsUndefined() {
				values[i] = value.NullValue
			}
		}
		return value.FromArray(values), nil
	}
	entries := make([]value.Entry, 0, len(values))
	for i, v := range values {
		if !v.IsUndefined() {
			entries = append(entries, value.Entry{Key: t.keys[i], Value: v})
		}
	}
	return value.FromEntries(entries), nil
}

// Place returns where the template is written.
func (t *Template) Place() (pos, end diag.Pos) { return t.src.Pos(), t.src.End() }

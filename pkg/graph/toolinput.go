package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// ToolInput is the compiled inputSchema of a tool of an upstream server. It is immutable
// and safe for concurrent use.
type ToolInput struct{ schema *Schema }

// NewToolInput compiles the inputSchema of a tool. A required property that has a default
// is not required: servers fill it in. The error says why the schema cannot be used.
func NewToolInput(schema value.Value) (*ToolInput, error) {
	compiled, err := NewSchema(withoutDefaulted(schema, 0))
	if err != nil {
		return nil, err
	}
	return &ToolInput{compiled}, nil
}

// withoutDefaulted returns a schema in which properties with a default are not required.
// It does so only in parts where that makes the whole accept more: in "not", "if" or
// "oneOf" it could make the whole refuse what the tool takes.
func withoutDefaulted(schema value.Value, depth int) value.Value {
	if depth > maxSchemaDepth || schema.Kind() != value.Object {
		return schema
	}
	b := value.NewBuilder(schema.Len())
	for _, e := range schema.Entries() {
		switch e.Key {
		case "properties", "patternProperties":
			e.Value = withoutDefaultedIn(e.Value, depth)
		case "items", "prefixItems", "additionalProperties", "allOf", "anyOf":
			if e.Value.Kind() == value.Array {
				e.Value = withoutDefaultedIn(e.Value, depth)
			} else {
				e.Value = withoutDefaulted(e.Value, depth+1)
			}
		case "required":
			if e.Value.Kind() == value.Array {
				e.Value = value.FromArray(slices.DeleteFunc(slices.Clone(e.Value.Elems()), func(name value.Value) bool {
					return name.Kind() == value.String && schema.Get("properties").Get(name.Str()).Has("default")
				}))
			}
		}
		b.Set(e.Key, e.Value)
	}
	return b.Value()
}

// withoutDefaultedIn applies withoutDefaulted to each schema in a list or map.
func withoutDefaultedIn(schemas value.Value, depth int) value.Value {
	switch schemas.Kind() {
	case value.Array:
		out := make([]value.Value, 0, schemas.Len())
		for _, e := range schemas.Elems() {
			out = append(out, withoutDefaulted(e, depth+1))
		}
		return value.FromArray(out)
	case value.Object:
		b := value.NewBuilder(schemas.Len())
		for _, e := range schemas.Entries() {
			b.Set(e.Key, withoutDefaulted(e.Value, depth+1))
		}
		return b.Value()
	}
	return schemas
}

// Check returns what is wrong with the arguments of a call, in words that quote no value
// of them, and the paths to the arguments that it is about, the first 20. wrong is empty
// if they fit. The error is that of a check that was given up (see
// [Schema.ValidateContext]).
func (t *ToolInput) Check(ctx context.Context, args value.Value) (wrong string, at []string, err error) {
	err = t.schema.ValidateContext(ctx, args)
	var misfits *SchemaError
	if !errors.As(err, &misfits) {
		return "", nil, err
	}
	clean := &SchemaError{Problems: slices.Clone(misfits.Problems)}
	for i := range clean.Problems {
		p := &clean.Problems[i]
		if _, v := locate(args, p.tokens); p.Found == Describe(v) {
			p.Found = kindInWords(v)
		}
		if len(at) < maxProblems && p.Path != "" && !slices.Contains(at, p.Path) {
			at = append(at, p.Path)
		}
	}
	return clean.Error(), at, nil
}

// kindInWords describes a value as [Describe] does, without its contents.
func kindInWords(v value.Value) string {
	switch v.Kind() {
	case value.Bool:
		return "a boolean"
	case value.Number:
		return "a number"
	case value.String:
		return "a string"
	}
	return Describe(v)
}

// Unsent is an argument that a node did not send because its expression gave nothing, or
// an element of a list for which it sent null.
type Unsent struct {
	// Path leads to the argument, as in `options.depth`; empty if the expression is that of
	// all arguments. Expression is its text.
	Path, Expression string
	// Null is true for an element of a list: null was sent in its place, which is also what
	// an expression that gives null sends.
	Null bool
}

// String returns the argument and its expression, cut after 60 characters.
func (u Unsent) String() string {
	if u.Path == "" {
		return fmt.Sprintf("args: the expression %s gave no arguments", textline.Shorten(u.Expression, maxShown))
	}
	if u.Null {
		return fmt.Sprintf("%s: the expression %s gave nothing or null, and null was sent", u.Path, textline.Shorten(u.Expression, maxShown))
	}
	return fmt.Sprintf("%s: the expression %s gave nothing", u.Path, textline.Shorten(u.Expression, maxShown))
}

// maxUnsent is how many arguments that were not sent are told.
const maxUnsent = 20

// Unsent returns the arguments of the node that are not among those that it sent, the
// first 20 of them, and elements of lists that it sent as null.
func (n *Node) Unsent(sent value.Value) []Unsent {
	switch {
	case n.args == nil || sent.Kind() != value.Object:
		return nil
	case n.args.program != nil && sent.Len() == 0:
		return []Unsent{{Expression: n.args.program.Source()}}
	}
	return n.args.unsent(nil, "", sent)
}

func (t *Template) unsent(all []Unsent, at string, sent value.Value) []Unsent {
	for i, part := range t.parts {
		var v value.Value
		if t.keys != nil {
			v = sent.Get(t.keys[i])
		} else if elems := sent.Elems(); i < len(elems) {
			v = elems[i]
		}
		switch {
		case len(all) >= maxUnsent:
			return all
		case part.parts != nil:
			all = part.unsent(all, t.path(at, i), v)
		case part.program != nil && (v.IsUndefined() || t.keys == nil && v.IsNull()):
			all = append(all, Unsent{t.path(at, i), part.program.Source(), v.IsNull()})
		}
	}
	return all
}

// path returns the path to a part of the template, which is at this path itself.
func (t *Template) path(at string, part int) string {
	if t.keys == nil {
		return at + "[" + strconv.Itoa(part) + "]"
	}
	return pathTo(at, t.keys[part])
}

// pathTo returns the path to a member of the object at a path, as in [SchemaProblem].
func pathTo(at, key string) string {
	switch {
	case !plainKey().MatchString(key):
		return at + "[" + strconv.Quote(key) + "]"
	case at != "":
		return at + "." + key
	}
	return key
}

// ArgumentPlace returns where an argument of the node's call is written, by its path as
// [ToolInput.Check] returns it: the deepest part of the way to it. In a node without
// arguments that is the name of the tool.
func (n *Node) ArgumentPlace(path string) (pos, end diag.Pos) {
	src := n.toolSrc
	if n.args != nil {
		src = argumentAt(n.args.src, "", path)
	}
	if src.Kind() == config.Map {
		return src.Pos(), diag.Pos{} // of the map, the beginning will do
	}
	return src.Pos(), src.End()
}

func argumentAt(src *config.Node, at, path string) *config.Node {
	leads := func(to string) bool {
		rest, ok := strings.CutPrefix(path, to)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	if f, ok := src.Field(exprKey); ok && len(src.Fields()) == 1 {
		return f.Value
	}
	for _, f := range src.Fields() {
		if to := pathTo(at, f.Key.String()); leads(to) {
			return argumentAt(f.Value, to, path)
		}
	}
	for i, item := range src.Items() {
		if to := at + "[" + strconv.Itoa(i) + "]"; leads(to) {
			return argumentAt(item, to, path)
		}
	}
	return src
}

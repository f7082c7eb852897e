package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// checkCertainResult reports results that do not fit the outputSchema of their tool,
// whatever is in them that is not known. Nothing is reported again that before reports,
// which may be nil.
func checkCertainResult(b *reporter, g *Graph, k, before *knowledge) {
	if g.Output == nil || g.Exit == nil {
		return
	}
	nodes, _ := k.before(g.Exit)
	for _, n := range nodes {
		if n == nil || n.literal != nil && isLiteral(n) {
			continue
		}
		wrong := k.wrongResult(n, g.Output.src.Value())
		if wrong == nil || before != nil && before.wrongResult(n, g.Output.src.Value()) != nil {
			continue
		}
		b.report(resultProblem(g, n, wrong))
	}
}

// wrongResult returns what does not fit a schema of the output of a node, or nil.
func (k *knowledge) wrongResult(n *Node, schema value.Value) *unfitPart {
	known := k.output(n)
	if known == nil {
		if known = kindContents(k.typesOf(n)); known.types() == jsonata.AnyKinds() {
			return nil
		}
	}
	return unfit(known, schema, 0)
}

// unfitPart is a part of a result that does not fit its schema.
type unfitPart struct {
	path []string // to it in the result
	// One of these is set: what is required and not there, with what is; what must not
	// be there; or the types that it has, with those that it must have.
	missing, unknown string
	others           *diag.Names
	found            jsonata.Types
	want             []string
	// key is where an expression makes the part; it is nil if that is not known.
	key *expressionKey
}

// expressionKey is a key in the expression of a node.
type expressionKey struct {
	node        *Node
	offset, end int
}

func (w *unfitPart) in(step string, key *expressionKey) *unfitPart {
	if w != nil {
		w.path = slices.Insert(w.path, 0, step)
		if w.key == nil {
			w.key = key
		}
	}
	return w
}

// unfit returns the first part of a value that does not fit a schema, or nil if that is
// not certain of any.
func unfit(known contents, schema value.Value, depth int) *unfitPart {
	if depth > maxContentsDepth || known == nil || schema.Kind() != value.Object || schema.Has("$ref") {
		return nil
	}
	types := known.types()
	var want []string
	for _, t := range append([]value.Value{schema.Get("type")}, schema.Get("type").Elems()...) {
		if t.Kind() == value.String {
			want = append(want, t.Str())
		}
	}
	allowed := jsonata.TypesOf(want...)
	switch {
	case allowed != 0 && types.Never(allowed):
		return &unfitPart{found: types.Of, want: want}
	case types.Is(jsonata.TypesOf("array")):
		return unfit(elementOf(known), schema.Get("items"), depth+1).in("[]", nil)
	case !types.Is(jsonata.TypesOf("object")):
		return nil
	}
	for _, name := range schema.Get("required").Elems() {
		if _, wrong := known.step(name.Str()); wrong != nil && !wrong.guess && wrong.scalar == "" {
			return &unfitPart{missing: name.Str(), others: wrong.others}
		}
	}
	properties := schema.Get("properties")
	if shape, ok := known.(*knownShape); ok && !schema.Has("patternProperties") {
		closed := schema.Get("additionalProperties").Kind() == value.Bool && !schema.Get("additionalProperties").Bool()
		for _, f := range shape.shape.Fields {
			if closed && !properties.Has(f.Name) {
				return &unfitPart{unknown: f.Name, key: &expressionKey{shape.node, f.Offset, f.End}}
			}
		}
	}
	for _, p := range properties.Entries() {
		below, _ := known.step(p.Key)
		var key *expressionKey
		if shape, ok := known.(*knownShape); ok {
			if f := shape.shape.Field(p.Key); f != nil {
				key = &expressionKey{shape.node, f.Offset, f.End}
			}
		}
		if wrong := unfit(below, p.Value, depth+1).in(p.Key, key); wrong != nil {
			return wrong
		}
	}
	return nil
}

// elementOf returns what is known of the elements of a list, or nil.
func elementOf(known contents) contents {
	switch c := known.(type) {
	case listContents:
		return c.of
	case *schemaContents:
		return c.eachElement()
	case *knownShape:
		return newKnownShape(c.k, c.node, c.shape, jsonata.Kinds{Of: c.kinds.Elements, Elements: jsonata.AnyKinds().Of})
	case pathContents:
		return nil // whose elements the contents are, or those of lists in it
	case kindContents:
		return kindContents{Of: c.Elements, Elements: jsonata.AnyKinds().Of}
	}
	return nil
}

// resultProblem returns the diagnostic for a part of a result.
func resultProblem(g *Graph, n *Node, w *unfitPart) diag.Diagnostic {
	whole := "the result"
	if len(w.path) > 0 {
		whole = fmt.Sprintf("%q in the result", pathName(w.path))
	}
	var d diag.Diagnostic
	switch {
	case w.missing != "":
		d = n.problem(diag.CodeImpossible, fmt.Sprintf("the result never has %q, which the outputSchema of tool %q requires", pathName(append(w.path, w.missing)), g.Name))
		d.Hint = w.others.ExpectedAll(w.missing, "it has ")
	case w.unknown != "":
		d = n.problem(diag.CodeImpossible, fmt.Sprintf("%s has %q, which the outputSchema of tool %q does not allow", whole, w.unknown, g.Name))
		d.Hint = fmt.Sprintf("add %q to the properties of the outputSchema, or remove additionalProperties: false", w.unknown)
	default:
		d = n.problem(diag.CodeImpossible, fmt.Sprintf("%s is %s, but the outputSchema of tool %q wants %s", whole, w.found, g.Name, describeTypes(w.want)))
		d.Hint = "change the expression, or the type in the outputSchema"
	}
	if w.key != nil && w.key.node.yields != nil {
		d.Pos, d.End = w.key.node.yields.place(nil, w.key.offset, w.key.end)
	}
	d.Related = []diag.Related{{Pos: g.Output.src.Pos(), Message: "the schema is here"}}
	return d
}

func pathName(path []string) string { return strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]") }

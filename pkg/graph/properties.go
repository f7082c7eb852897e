package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// contents is what is known, before any run, of the properties of a value. A
// path goes through arrays as if they were not there.
type contents interface {
	// step returns what is known of a property, or nil if that is nothing, or why
	// there never is such a property.
	step(name string) (contents, *absent)
	// types returns what is known of the types of the value.
	types() jsonata.Kinds
}

// absent is why a property is never there: the value is a scalar, such as "a
// string", or has other properties.
type absent struct {
	scalar string
	others *diag.Names
	// guess is true where the property may be there, but its name looks misspelt.
	guess bool
}

// checkProperties reports what expressions and rules of a graph, and of the bodies in
// it, read of the output of a node that is never in it.
func checkProperties(b *reporter, top *Graph) {
	input := newInputContents(top)
	for n := range b.each(top) {
		for _, r := range n.refs {
			target := n.Graph.visible(r.ref.Node)
			if len(r.ref.Steps) == 0 || target == nil || n.isFound(r) {
				continue
			}
			if r.ref.Steps[0].Name == "error" && target.handled() {
				continue // where its failure was handled
			}
			if known := input.of(target); known != nil {
				checkProperty(b, top, target, r, known)
			}
		}
	}
}

// inputContents holds what is known of a tool's arguments, once asked for.
type inputContents struct {
	graph  *Graph
	known  contents
	shapes map[*Node]contents
}

func newInputContents(g *Graph) *inputContents {
	return &inputContents{graph: g, shapes: map[*Node]contents{}}
}

// of returns what is known of the output of a node, or nil.
func (i *inputContents) of(n *Node) contents {
	switch {
	case n == i.graph.Entry && i.graph.Input != nil:
		if i.known == nil {
			i.known = newSchemaContents(i.graph.Input.src.Value())
		}
		return i.known
	case n.shape != nil:
		known := i.shapes[n]
		if known == nil {
			known = &shapeContents{shape: n.shape}
			i.shapes[n] = known
		}
		return known
	}
	return nil
}

// checkProperty follows the steps of a reference as far as something is known.
func checkProperty(b *reporter, g *Graph, target *Node, r reference, known contents) {
	p := propertyPath{
		program: r.program, path: r.ref.Path, steps: r.ref.Steps,
		whole:   fmt.Sprintf("the output of node %q", target.ID),
		related: diag.Related{Pos: target.Pos, Message: "the node is here"}, target: target,
	}
	if target == g.Entry {
		p.related = diag.Related{Pos: g.Input.src.Pos(), Message: "the schema is here"}
	}
	followPath(b, p, known)
}

// propertyPath is a path of properties that a program reads of something.
type propertyPath struct {
	program *Program
	path    []any       // of the reference in a rule
	steps   []expr.Step // below whole
	whole   string      // what is read, for messages
	related diag.Related
	target  *Node // whose output whole is, or nil
}

// followPath reports the first step of a path that is never there.
func followPath(b *reporter, p propertyPath, known contents) {
	whole := p.whole
	for i, step := range p.steps {
		below, wrong := known.step(step.Name)
		if wrong != nil {
			for i--; i >= 0; i-- {
				if around := p.steps[i].Name; !isIndex(around) {
					whole = fmt.Sprintf("%q in ", around) + whole
					break
				}
			}
			d := p.program.src.Problem(diag.CodeUnknownProperty, fmt.Sprintf("%s has no property %q: reading it returns nothing", whole, step.Name))
			if wrong.scalar != "" {
				d.Message = fmt.Sprintf("%s is %s, which has no property %q: reading it returns nothing", whole, wrong.scalar, step.Name)
			}
			d.Pos, d.End = p.program.place(p.path, step.Offset, step.End)
			switch {
			case step.Name == "length":
				d.Hint = "$count returns how many elements a list has, $length how many characters a text has"
			case i < 0 && p.target != nil && len(p.steps) > 1 && slices.Contains(outputNames, step.Name):
				d.Hint = fmt.Sprintf("the output itself is %s: write %s", readNode(p.target.ID), pathText(p.target.ID, p.steps[1:]))
			case len(wrong.others.All()) == 1:
				d.Hint = wrong.others.ExpectedAll(step.Name, "its only property is ")
			default:
				d.Hint = wrong.others.ExpectedAll(step.Name, "its properties are ")
			}
			d.Related = []diag.Related{p.related}
			b.report(d)
			return
		}
		if below == nil {
			return
		}
		known = below
	}
}

// shapeContents is what the expression of a node makes sure.
type shapeContents struct {
	shape *expr.Shape
	names *diag.Names // of the fields, once something asked
}

func (c *shapeContents) step(name string) (contents, *absent) {
	if c.shape.Scalar != "" {
		return nil, &absent{scalar: c.shape.Scalar}
	}
	if f := c.shape.Field(name); f != nil {
		if f.Shape == nil {
			return nil, nil
		}
		return &shapeContents{shape: f.Shape}, nil
	}
	if isIndex(name) {
		return c, nil
	}
	if c.names == nil {
		var names []string
		for _, f := range c.shape.Fields {
			names = append(names, f.Name)
		}
		c.names = diag.NewNames(names)
	}
	return nil, &absent{others: c.names}
}

// isIndex reports whether a step is a place in an array, as rules write it.
func isIndex(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }

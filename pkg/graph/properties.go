package graph

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// contents is what is known, before any run, of the properties of a value. A
// path goes through arrays as if they were not there.
type contents interface {
	// step returns what is known of a property, or nil if that is nothing, or why
	// there never is such a property.
	step(name string) (contents, *absent)
}

// absent is why a property is never there: the value is a scalar, such as "a
// string", or has other properties.
type absent struct {
	scalar string
	others []string
}

// properties reports what expressions and rules of a graph, and of the bodies in
// it, read of the output of a node that is never in it.
func (b *builder) properties(top *Graph) {
	input := &inputContents{graph: top}
	for _, n := range top.all() {
		for _, r := range n.refs {
			target := n.Graph.visible(r.ref.Node)
			if len(r.ref.Steps) == 0 || target == nil || n.isFound(r) {
				continue
			}
			if r.ref.Steps[0].Name == "error" && (len(target.Policy.Catch) > 0 || len(target.Graph.Catch) > 0) {
				continue // where its failure was handled
			}
			if known := input.of(target); known != nil {
				b.property(top, target, r, known)
			}
		}
	}
}

// inputContents holds what is known of a tool's arguments, once asked for.
type inputContents struct {
	graph *Graph
	known contents
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
		return shapeContents{n.shape}
	}
	return nil
}

// property follows the steps of a reference as far as something is known.
func (b *builder) property(g *Graph, target *Node, r reference, known contents) {
	whole := "the output of node " + fmt.Sprintf("%q", target.ID)
	for i, step := range r.ref.Steps {
		below, wrong := known.step(step.Name)
		if wrong != nil {
			for i--; i >= 0; i-- {
				if around := r.ref.Steps[i].Name; !isIndex(around) {
					whole = fmt.Sprintf("%q in ", around) + whole
					break
				}
			}
			d := r.problem(diag.CodeUnknownProperty, fmt.Sprintf("%s has no property %q: reading it returns nothing", whole, step.Name))
			if wrong.scalar != "" {
				d.Message = fmt.Sprintf("%s is %s, which has no property %q: reading it returns nothing", whole, wrong.scalar, step.Name)
			}
			d.Pos, d.End = r.program.place(r.ref.Path, step.Offset, step.End)
			if near, ok := b.nearest(step.Name, wrong.others); ok {
				d.Hint = fmt.Sprintf("did you mean %q?", near)
			} else if n := len(wrong.others); n > 0 && n <= maxListed {
				d.Hint = "its properties are " + strings.ReplaceAll(diag.List(wrong.others), " or ", " and ")
				if n == 1 {
					d.Hint = "its only property is " + diag.List(wrong.others)
				}
			}
			d.Related = []diag.Related{{Pos: target.Pos, Message: "the node is here"}}
			if target == g.Entry {
				d.Related = []diag.Related{{Pos: g.Input.src.Pos(), Message: "the schema is here"}}
			}
			b.report(d)
			return
		}
		if below == nil {
			return
		}
		known = below
	}
}

// maxListed is how many properties a hint lists.
const maxListed = 12

// shapeContents is what the expression of a node makes sure.
type shapeContents struct{ shape *expr.Shape }

func (c shapeContents) step(name string) (contents, *absent) {
	if c.shape.Scalar != "" {
		return nil, &absent{scalar: c.shape.Scalar}
	}
	if f := c.shape.Field(name); f != nil {
		if f.Shape == nil {
			return nil, nil
		}
		return shapeContents{f.Shape}, nil
	}
	if isIndex(name) {
		return c, nil
	}
	wrong := &absent{}
	for _, f := range c.shape.Fields {
		wrong.others = append(wrong.others, f.Name)
	}
	return nil, wrong
}

// isIndex reports whether a step is a place in an array, as rules write it.
func isIndex(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }

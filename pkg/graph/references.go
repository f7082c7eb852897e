package graph

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
)

// reference is a place in a program that reads a node's output.
type reference struct {
	program *Program
	ref     expr.Ref
}

// read is a place in a program that reads a variable, or the output of the node
// before.
type read struct {
	program *Program
	of      expr.Read
}

func (r reference) problem(code, message string) diag.Diagnostic {
	d := r.program.src.Problem(code, message)
	d.Pos, d.End = r.program.place(r.ref.Path, r.ref.Offset, r.ref.End)
	return d
}

// effect returns what such a reference yields at run time.
func (r reference) effect() string {
	switch r.ref.Func {
	case "":
		return "it returns nothing"
	case "executionCount":
		return "$executionCount gives 0"
	case "nodeExecutions":
		return "$nodeExecutions returns an empty array"
	default:
		return "$" + r.ref.Func + " gives null"
	}
}

// open is a question about a reference: whether the node that it names can have
// run before the one that reads it.
type open struct {
	graph  *Graph // that the target is in
	reader *Node  // the one that reads, or the one around it in that graph
	ref    reference
	way    way
}

// checkReferences reports what expressions of a graph, and of the bodies in it, read of
// nodes that do not exist or that cannot have run before the one that reads them.
// elsewhere has the tool of each node of the file.
func checkReferences(b *reporter, top *Graph, elsewhere map[string]string) {
	later := map[*Graph][]*open{}
	var graphs []*Graph // in a fixed order
	for n := range b.each(top) {
		g := n.Graph
		for _, r := range n.refs {
			target := g.visible(r.ref.Node)
			switch {
			case target == nil && n.isFound(r):
			case target == nil:
				if inner := g.scope.unit.all[r.ref.Node]; inner != nil && inner.Graph != nil && inner.Graph.top() == top {
					reportHidden(b, g, inner, r)
				} else {
					reportUnknown(b, top, g, r, elsewhere)
				}
			default:
				if b.stopped(openBytes) {
					return
				}
				if o := ask(n, target, r); o != nil {
					if later[o.graph] == nil {
						graphs = append(graphs, o.graph)
					}
					later[o.graph] = append(later[o.graph], o)
				}
			}
		}
	}
	for _, g := range graphs {
		questions := make([]*way, len(later[g]))
		for i, o := range later[g] {
			questions[i] = &o.way
		}
		g.walk.find(questions, b.meter)
		if b.stopped(0) {
			return
		}
		for _, o := range later[g] {
			reportEarly(b, o)
		}
	}
}

// ask returns the question about a reference of n to target, or nil if nothing
// can be said about it.
func ask(n, target *Node, r reference) *open {
	g, reader := target.Graph, n
	for reader.Graph != g {
		if w := reader.Graph.walk; !w.certain || reader != reader.Graph.rules && !w.reached[reader.Index] {
			return nil
		}
		reader = reader.Graph.Owner
	}
	if reader == g.rules || !g.walk.certain || g.Entry == nil || !g.walk.reached[reader.Index] {
		return nil
	}
	return &open{g, reader, r, way{from: int32(target.Index), to: int32(reader.Index)}}
}

// reportEarly reports a reference to a node that cannot have run.
func reportEarly(b *reporter, o *open) {
	target := o.graph.Nodes[o.way.from]
	var why string
	switch {
	case !o.graph.walk.reached[o.way.from]:
		why = "never runs"
	case !o.way.exists && target == o.reader:
		why = "runs only once and cannot read its own output"
	case !o.way.exists:
		why = fmt.Sprintf("cannot have run before node %q", o.reader.ID)
	default:
		return
	}
	d := o.ref.problem(diag.CodeEarlyReference, fmt.Sprintf("node %q %s: %s", target.ID, why, o.ref.effect()))
	d.Related = []diag.Related{{Pos: target.Pos, Message: "the node is here"}}
	b.report(d)
}

func reportUnknown(b *reporter, top, g *Graph, r reference, elsewhere map[string]string) {
	message := fmt.Sprintf("node %q does not exist in %s: %s", r.ref.Node, Quoted(top.Name), r.effect())
	if _, ok := elsewhere[r.ref.Node]; ok || g.scope.unit.all[r.ref.Node] != nil {
		message = fmt.Sprintf("node %q is not part of %s: %s", r.ref.Node, Quoted(top.Name), r.effect())
	}
	d := r.problem(diag.CodeUnknownReference, message)
	if d.Hint = foreignPath(g, r.ref.Node, r.ref.Steps); d.Hint != "" {
	} else if near, ok := g.nearestNode(r.ref.Node); ok && g.visible(near) != nil {
		d.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	b.report(d)
}

// checkQuotedID reports an id that JSONata cannot read as a bare name.
func checkQuotedID(b *reporter, src *config.Node, id string) {
	if IsName(id) || src.IsGenerated() {
		return
	}
	d := src.Problem(diag.CodeQuotedID, fmt.Sprintf("expressions must write node %q in back-quotes", id))
	d.Hint = "write " + readNode(id)
	if strings.Contains(id, "`") {
		d.Message = fmt.Sprintf("expressions cannot write the name of node %q", id)
		d.Hint = "use $lookup($, …)"
	}
	b.report(d)
}

// IsName reports whether JSONata's lexer takes s for one name: none of its
// operators and no white space in it, and no literal, number or keyword.
func IsName(s string) bool {
	switch s {
	case "", "true", "false", "null", "function", "λ":
		return false
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '$', c == '"', c == '\'', c == '`':
		return false
	}
	return !strings.ContainsAny(s, " \t\n\r\v.[]{}(),@#;:?+-*/%|=<>^&!~`")
}

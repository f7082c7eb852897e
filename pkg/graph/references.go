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

func (r reference) problem(code, message string) diag.Diagnostic {
	d := r.program.src.Problem(code, message)
	d.Pos, d.End = r.program.place(r.ref.Path, r.ref.Offset, r.ref.End)
	return d
}

// effect says what such a reference gives at run time.
func (r reference) effect() string {
	switch r.ref.Func {
	case "":
		return "it yields nothing"
	case "executionCount":
		return "$executionCount gives 0"
	case "nodeExecutions":
		return "$nodeExecutions gives an empty array"
	default:
		return "$" + r.ref.Func + " gives null"
	}
}

// references reports what expressions read of nodes that do not exist or that
// cannot have run before the one that reads them.
func (b *builder) references(g *Graph, s *scope, w *walk) {
	type open struct {
		reader *Node
		ref    reference
		way    way
	}
	var later []*open
	for _, n := range g.Nodes {
		for _, r := range n.refs {
			target := g.byID[r.ref.Node]
			switch {
			case target == nil && n.isFound(r):
			case target == nil:
				b.unknownReference(g, s, n, r)
			case w.certain && g.Entry != nil && w.reached[n.Index]:
				later = append(later, &open{n, r, way{from: int32(target.Index), to: int32(n.Index)}})
			}
		}
	}
	questions := make([]*way, len(later))
	for i, o := range later {
		questions[i] = &o.way
	}
	w.find(questions)
	for _, o := range later {
		target := w.nodes[o.way.from]
		var why string
		switch {
		case !w.reached[o.way.from]:
			why = "never runs"
		case !o.way.exists && target == o.reader:
			why = "runs only once and cannot read its own output"
		case !o.way.exists:
			why = fmt.Sprintf("cannot have run before node %q", o.reader.ID)
		default:
			continue
		}
		d := o.ref.problem(diag.CodeEarlyReference, fmt.Sprintf("node %q %s: %s", target.ID, why, o.ref.effect()))
		d.Related = []diag.Related{{Pos: target.Pos, Message: "the node is here"}}
		b.report(d)
	}
}

func (b *builder) unknownReference(g *Graph, s *scope, n *Node, r reference) {
	message := fmt.Sprintf("node %q does not exist in tool %q: %s", r.ref.Node, g.Name, r.effect())
	if _, ok := b.tools[r.ref.Node]; ok || s.byID[r.ref.Node] != nil {
		message = fmt.Sprintf("node %q is not part of tool %q: %s", r.ref.Node, g.Name, r.effect())
	}
	d := r.problem(diag.CodeUnknownReference, message)
	if near, ok := b.nearest(r.ref.Node, s.ids); ok && g.byID[near] != nil {
		d.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	b.report(d)
}

// quotedID reports an id that JSONata cannot read as a bare name.
func (b *builder) quotedID(src *config.Node, id string) {
	if isName(id) {
		return
	}
	d := src.Problem(diag.CodeQuotedID, fmt.Sprintf("expressions can read node %q only in back-quotes", id))
	d.Hint = "write " + readNode(id)
	if strings.Contains(id, "`") {
		d.Message = fmt.Sprintf("expressions cannot write the name of node %q", id)
		d.Hint = "use $lookup($, …)"
	}
	b.report(d)
}

// isName reports whether JSONata's lexer takes s for one name: none of its
// operators and no white space in it, and no literal, number or keyword.
func isName(s string) bool {
	switch s {
	case "true", "false", "null", "function", "λ":
		return false
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '$', c == '"', c == '\'', c == '`':
		return false
	}
	return !strings.ContainsAny(s, " \t\n\r\v.[]{}(),@#;:?+-*/%|=<>^&!~`")
}

package graph

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// problem gives a diagnostic that points at the node's id.
func (n *Node) problem(code, message string) diag.Diagnostic {
	return n.src.Get("id").Problem(code, message)
}

// ways reports an exit that cannot be reached, nodes that cannot be reached,
// and nodes from which the exit cannot be reached.
func (b *builder) ways(g *Graph, s *scope, w *walk) {
	if g.Entry == nil || !w.certain {
		return
	}
	if !b.file.Flat {
		for i, n := range g.Nodes {
			if !w.reached[i] && n != g.Exit && s.byID[n.ID] == n && !isEnd(n) {
				b.report(n.problem(diag.CodeUnreachable, fmt.Sprintf(
					"node %q cannot be reached from entry node %q", n.ID, g.Entry.ID)))
			}
		}
	}
	if g.Exit == nil {
		return
	}
	if !w.reached[g.Exit.Index] {
		d := g.Exit.problem(diag.CodeExitUnreachable, fmt.Sprintf(
			"exit node %q of tool %q cannot be reached from entry node %q", g.Exit.ID, g.Name, g.Entry.ID))
		d.Related = []diag.Related{{Pos: g.Entry.Pos, Message: "the walk begins here"}}
		b.report(d)
		return
	}
	for i, n := range g.Nodes {
		if w.reached[i] && !w.leads[i] {
			b.report(n.problem(diag.CodeDeadEnd, fmt.Sprintf(
				"no way leads from node %q to exit node %q", n.ID, g.Exit.ID)))
		}
	}
}

// isEnd reports whether a node is an entry or exit, of which a second one is
// reported as such.
func isEnd(n *Node) bool { return n.Kind != nil && n.Kind.Role != Inner }

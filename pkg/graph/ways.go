package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// checkEnds reports an exit that cannot be reached, nodes that cannot be reached,
// and loops from which the exit cannot be reached.
// w has the ways of a run in which no rule of the graph itself is taken.
func checkEnds(b *reporter, g *Graph, w *walk) {
	if g.Entry == nil || !g.walk.certain {
		return
	}
	switch {
	case g.Owner != nil:
		checkLoose(b, g)
	case !g.scope.flat:
		for i, n := range g.Nodes {
			if !g.walk.reached[i] && n != g.Exit && g.byID[n.ID] == n && !isEnd(n) {
				b.report(n.problem(diag.CodeUnreachable, fmt.Sprintf(
					"node %q cannot be reached from entry node %q", n.ID, g.Entry.ID)))
			}
		}
	}
	if g.Exit == nil && g.Owner == nil {
		return
	}
	if g.Exit != nil && !g.walk.reached[g.Exit.Index] && !g.walk.fails() {
		d := g.Exit.problem(diag.CodeExitUnreachable, fmt.Sprintf(
			"exit node %q of %s cannot be reached from %s", g.Exit.ID, g.what(), g.entryName()))
		d.Related = []diag.Related{{Pos: g.Entry.Pos, Message: "the run starts here"}}
		for _, l := range traps(g, w) {
			d.Related = append(d.Related, diag.Related{Pos: l.nodes[0].Pos, Message: l.name() + " has no way out"})
		}
		b.report(d)
		return
	}
	for _, l := range traps(g, w) {
		to := "the end of " + g.what()
		if g.Exit != nil {
			to = fmt.Sprintf("exit node %q", g.Exit.ID)
		}
		d := l.nodes[0].problem(diag.CodeDeadEnd, fmt.Sprintf("%s has no way out to %s", l.name(), to))
		d.Hint = "a run that enters the loop ends only at a limit; add a switch that leads out of it"
		b.report(d)
	}
}

// fails reports whether a walk can come to a node that ends it with a failure.
func (w *walk) fails() bool {
	for i, n := range w.nodes {
		if w.reached[i] && n.Kind != nil && n.Kind.Role == Stop {
			return true
		}
	}
	return false
}

// loop is a part of a graph whose nodes all lead to one another.
type loop struct {
	nodes  []*Node // in the order in which a walk can come to them
	simple bool    // each node has one way on within the loop
}

// maxNamed is how many nodes of a loop a message names.
const maxNamed = 8

// name names the loop by its nodes: `the loop "a" → "b" → "a"`.
func (l *loop) name() string {
	if len(l.nodes) == 1 {
		return fmt.Sprintf("node %q, which leads only to itself,", l.nodes[0].ID)
	}
	ids := make([]string, 0, len(l.nodes)+1)
	for _, n := range l.nodes[:min(len(l.nodes), maxNamed)] {
		ids = append(ids, strconv.Quote(n.ID))
	}
	if more := len(l.nodes) - maxNamed; more > 0 {
		ids = append(ids, fmt.Sprintf("%d more", more))
	}
	if l.simple {
		return "the loop " + strings.Join(append(ids, ids[0]), " → ")
	}
	return "the loop of nodes " + strings.Join(ids[:len(ids)-1], ", ") + " and " + ids[len(ids)-1]
}

// traps returns the loops that a walk can come into and not out of. What leads
// to them alone is not named: it has a way out once they have one.
func traps(g *Graph, w *walk) []*loop {
	var loops []*loop
	seen, listed := make([]bool, len(w.parts)), make([]bool, len(w.nodes))
	// The first node that a walk comes to is where the loop begins.
	for _, i := range w.inOrder(int32(g.Entry.Index), make([]bool, len(w.nodes))) {
		p := w.part[i]
		if seen[p] || w.leads[i] || !w.cyclic[p] || w.leaves(p) {
			continue
		}
		seen[p] = true
		l := &loop{simple: true}
		for _, k := range w.inOrder(i, listed) { // all that it leads to is in the loop
			l.nodes = append(l.nodes, w.nodes[k])
			l.simple = l.simple && len(slices.Compact(slices.Sorted(slices.Values(w.out[k])))) == 1
		}
		loops = append(loops, l)
	}
	return loops
}

// leaves reports whether an edge leads out of a part.
func (w *walk) leaves(part int32) bool {
	for _, i := range w.parts[part] {
		for _, to := range w.out[i] {
			if w.part[to] != part {
				return true
			}
		}
	}
	return false
}

// inOrder returns a node and what it leads to, nearest first, without the nodes
// that were seen before, and marks them as seen.
func (w *walk) inOrder(from int32, seen []bool) []int32 {
	seen[from] = true
	order := []int32{from}
	for k := 0; k < len(order); k++ {
		for _, to := range w.out[order[k]] {
			if !seen[to] {
				seen[to] = true
				order = append(order, to)
			}
		}
	}
	return order
}

// isEnd reports whether a node is an entry or exit, of which a second one is
// reported as such.
func isEnd(n *Node) bool { return n.Kind != nil && n.Kind.Role.isEnd() }

package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// checkRecursion reports tools that call themselves, or one another, on every way through
// them: no run of them can end but at a limit, which nothing catches. A call whose
// failures are caught counts as a way, since what it runs may fail before the limit. So
// do calls in bodies, which may have no items.
func checkRecursion(b *reporter, graphs []*Graph) {
	callers := map[*Graph][]*Graph{}
	endless := map[*Graph]bool{} // those of which no way to an end is known yet
	for _, g := range graphs {
		if g.Entry == nil {
			continue
		}
		for _, n := range g.Nodes {
			if n.Callee != nil && len(n.Bodies) == 0 {
				callers[n.Callee] = append(callers[n.Callee], g)
				endless[g] = true
			}
		}
	}
	if len(endless) == 0 {
		return
	}
	work := slices.Clone(graphs)
	for len(work) > 0 {
		g := work[len(work)-1]
		work = work[:len(work)-1]
		if !endless[g] {
			continue
		}
		if _, ends := endlessCalls(g, endless); ends {
			delete(endless, g)
			work = append(work, callers[g]...)
		}
	}
	for _, g := range graphs {
		if call, through := callsItself(g, endless); call != nil {
			message := fmt.Sprintf("every way through %s calls it again", Quoted(g.Name))
			if through != g {
				message += ", through " + Quoted(through.Name)
			}
			d := call.toolSrc.Problem(diag.CodeDeadEnd, message)
			d.Hint = "a run ends only at executionLimits.maxCallDepth; add a switch that leads past the call"
			b.report(d)
		}
	}
}

// endlessCalls returns the first calls of endless tools on the ways through the graph,
// and whether there is a way without one.
func endlessCalls(g *Graph, endless map[*Graph]bool) (calls []*Node, ends bool) {
	seen := make([]bool, len(g.Nodes))
	next := []*Node{g.Entry}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[n.Index] {
			continue
		}
		seen[n.Index] = true
		if endless[n.Callee] && len(n.Policy.Catch) == 0 && len(g.Catch) == 0 {
			calls = append(calls, n)
			continue
		}
		ends = ends || len(n.Edges) == 0 || n.broken
		for _, e := range n.Edges {
			if e.To == nil {
				ends = true
			} else {
				next = append(next, e.To)
			}
		}
	}
	return calls, ends
}

// callsItself returns the call by which an endless graph comes to itself again, and the
// graph that it runs; nil if the graph only leads to endless ones.
func callsItself(g *Graph, endless map[*Graph]bool) (call *Node, through *Graph) {
	if !endless[g] {
		return nil, nil
	}
	calls, _ := endlessCalls(g, endless)
	slices.Reverse(calls) // in the order of the file, as far as edges are
	for _, first := range calls {
		seen := map[*Graph]bool{}
		for next := []*Graph{first.Callee}; len(next) > 0; {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			if at == g {
				return first, first.Callee
			}
			if seen[at] {
				continue
			}
			seen[at] = true
			further, _ := endlessCalls(at, endless)
			for _, n := range further {
				next = append(next, n.Callee)
			}
		}
	}
	return nil, nil
}

package graph

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// walk is what is known about the paths through a graph. Its slices are indexed
// by Node.Index.
type walk struct {
	nodes   []*Node
	out     [][]int32
	reached []bool // from the entry
	leads   []bool // to the exit
	// certain is false where an edge of a reached node is not known.
	certain bool

	// Of the graph with each cycle drawn together into one part.
	part   []int32   // of a node; an edge never leads to a higher part
	cyclic []bool    // of a part: a node of it can run again
	parts  [][]int32 // the nodes of a part
}

// incoming returns for each node those with an edge to it.
func incoming(nodes []*Node) [][]int32 {
	in := make([][]int32, len(nodes))
	for i, n := range nodes {
		for k := range n.Edges {
			if to := n.Edges[k].To; to != nil {
				in[to.Index] = append(in[to.Index], int32(i))
			}
		}
	}
	return in
}

// newWalk finds the ways through a graph. With handlers, those count that the
// rules of the graph itself open, from every node: they lead through a place
// behind the nodes.
func newWalk(g *Graph, handlers bool) *walk {
	w := &walk{nodes: g.Nodes, out: make([][]int32, len(g.Nodes), len(g.Nodes)+1), certain: true}
	for i, n := range g.Nodes {
		for k := range n.Edges {
			if to := n.Edges[k].To; to != nil {
				w.out[i] = append(w.out[i], int32(to.Index))
			}
		}
	}
	if handlers {
		var to []int32
		for i := range g.Handlers {
			if n := g.Handlers[i].To; n != nil {
				to = append(to, int32(n.Index))
			}
		}
		for i := range w.out {
			w.out[i] = append(w.out[i], int32(len(g.Nodes)))
		}
		w.out = append(w.out, to)
		w.certain = !g.rules.broken
	}
	w.reached = spread(w.out, g.Entry)
	w.leads = spread(incoming(g.Nodes), g.ends()...)
	for i, n := range g.Nodes {
		w.certain = w.certain && !(w.reached[i] && n.broken)
	}
	w.findParts()
	return w
}

// spread marks what can be reached from some nodes, themselves included; nil is
// none.
func spread(edges [][]int32, from ...*Node) []bool {
	seen := make([]bool, len(edges))
	var stack []int32
	for _, n := range from {
		if n != nil {
			seen[n.Index] = true
			stack = append(stack, int32(n.Index))
		}
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, to := range edges[n] {
			if !seen[to] {
				seen[to] = true
				stack = append(stack, to)
			}
		}
	}
	return seen
}

// findParts finds the strongly connected parts (Tarjan, SIAM J. Comput. 1,
// 1972), without recursion so that long chains need no deep stack. Parts come
// out with those that others lead to first.
func (w *walk) findParts() {
	n := len(w.out)
	w.part = make([]int32, n)
	order := make([]int32, n) // of discovery, from 1
	low := make([]int32, n)
	open := make([]bool, n)
	var path []int32 // nodes whose part is not complete
	type frame struct{ node, edge int32 }
	var stack []frame
	var count int32
	enter := func(v int32) {
		count++
		order[v], low[v] = count, count
		open[v] = true
		path = append(path, v)
		stack = append(stack, frame{node: v})
	}
	for root := range int32(n) {
		if order[root] == 0 {
			enter(root)
		}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			v := f.node
			if int(f.edge) < len(w.out[v]) {
				to := w.out[v][f.edge]
				f.edge++
				if order[to] == 0 {
					enter(to)
				} else if open[to] {
					low[v] = min(low[v], order[to])
				}
				continue
			}
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				up := stack[len(stack)-1].node
				low[up] = min(low[up], low[v])
			}
			if low[v] == order[v] {
				w.closePart(v, &path, open)
			}
		}
	}
}

func (w *walk) closePart(root int32, path *[]int32, open []bool) {
	start := len(*path) - 1
	for (*path)[start] != root {
		start--
	}
	members := slices.Clone((*path)[start:])
	*path = (*path)[:start]
	cyclic := len(members) > 1 || slices.Contains(w.out[root], root)
	for _, m := range members {
		open[m] = false
		w.part[m] = int32(len(w.parts))
	}
	w.parts = append(w.parts, members)
	w.cyclic = append(w.cyclic, cyclic)
}

// way asks whether a walk can go from one node to another in one step or more.
type way struct {
	from, to int32
	exists   bool
}

// find answers questions, which it puts into another order. Sixty-four distinct
// starting points are answered in one pass over the parts between the first
// and the last that they concern, so that the cost stays near that of the
// edges; a search for each question would be quadratic. If the meter stops, not all
// are answered.
func (w *walk) find(questions []*way, meter *memory.Meter) {
	var open []*way
	for _, q := range questions {
		switch from, to := w.part[q.from], w.part[q.to]; {
		case from == to:
			q.exists = w.cyclic[from]
		case from > to:
			open = append(open, q)
		}
	}
	slices.SortStableFunc(open, func(a, b *way) int { return int(w.part[b.from]) - int(w.part[a.from]) })
	reach := make([]uint64, len(w.parts))
	for len(open) > 0 {
		last := w.part[open[0].to]
		bits, bit, batch := 0, uint64(0), 0
		marks := make([]uint64, 0, 64)
		for i, q := range open {
			if i == 0 || w.part[q.from] != w.part[open[i-1].from] {
				if bits == 64 {
					break
				}
				bit = 1 << bits
				bits++
				reach[w.part[q.from]] |= bit
			}
			marks = append(marks, bit)
			last = min(last, w.part[q.to])
			batch++
		}
		first := w.part[open[0].from]
		for p := first; p > last; p-- {
			if !meter.Hold(0) {
				return
			}
			if reach[p] == 0 {
				continue
			}
			for _, v := range w.parts[p] {
				for _, to := range w.out[v] {
					reach[w.part[to]] |= reach[p]
				}
			}
		}
		for i, q := range open[:batch] {
			q.exists = reach[w.part[q.to]]&marks[i] != 0
		}
		clear(reach) // also below last, where edges may have led
		open = open[batch:]
	}
}

package graph

import "slices"

// pair is up to two tools, each as its index plus one. For what it is used for,
// to find the owner of a node, more than two make no difference.
type pair [2]int

func (p *pair) add(tool int) bool {
	for i := range p {
		switch p[i] {
		case tool + 1:
			return false
		case 0:
			p[i] = tool + 1
			return true
		}
	}
	return false
}

func (p pair) has(tool int) bool { return p[0] == tool+1 || p[1] == tool+1 }

// findOwners returns the tool of every node: the tool that an entry or exit
// names; else a tool with the node on a path from entry to exit; else the first
// tool whose entry reaches it without crossing another's way. Where a file is
// right no two of these differ.
func (f *flatNodes) findOwners() {
	after := func(n *Node, visit func(*Node)) {
		for _, to := range targets(n) {
			visit(to)
		}
	}
	incoming := incoming(f.scope.nodes)
	before := func(n *Node, visit func(*Node)) {
		for _, i := range incoming[n.Index] {
			visit(f.scope.nodes[i])
		}
	}
	f.from = make([]pair, len(f.scope.nodes))
	f.to = make([]pair, len(f.scope.nodes))
	f.owner = make([]int, len(f.scope.nodes))
	begins := slices.Clone(f.entries)
	for tool, rules := range f.rules {
		for _, to := range targets(rules) {
			begins[tool] = append(slices.Clip(begins[tool]), to)
		}
	}
	f.spread(begins, after, func(n *Node, tool int) bool { return f.from[n.Index].add(tool) })
	f.spread(f.exits, before, func(n *Node, tool int) bool { return f.to[n.Index].add(tool) })
	settled := make([][]*Node, len(f.names))
	for i, n := range f.scope.nodes {
		f.owner[i] = f.settled(n)
		if tool := f.owner[i]; tool != noTool {
			settled[tool] = append(settled[tool], n)
		}
	}
	queued := make([]bool, len(f.scope.nodes))
	f.spread(settled, after, func(n *Node, tool int) bool {
		if f.owner[n.Index] == noTool {
			f.owner[n.Index] = tool
		}
		if queued[n.Index] || f.owner[n.Index] != tool {
			return false
		}
		queued[n.Index] = true
		return true
	})
}

// targets returns the nodes that the edges of n lead to; n may be nil.
func targets(n *Node) []*Node {
	var to []*Node
	if n != nil {
		for i := range n.Edges {
			if n.Edges[i].To != nil {
				to = append(to, n.Edges[i].To)
			}
		}
	}
	return to
}

// settled returns the tool of an entry or exit, or one on whose way from entry
// to exit the node stands; noTool if there is none.
func (f *flatNodes) settled(n *Node) int {
	if tool := f.tool(n); tool != noTool {
		return tool
	}
	for _, t := range f.from[n.Index] {
		if t > 0 && f.to[n.Index].has(t-1) {
			return t - 1
		}
	}
	return noTool
}

// spread goes from each tool's seeds along next, never through another tool's
// entry or exit, and goes on from a node if mark returns true. Each mark does
// so at most twice for a node, which keeps the cost to that of the edges.
func (f *flatNodes) spread(seeds [][]*Node, next func(*Node, func(*Node)), mark func(n *Node, tool int) bool) {
	var queue []*Node
	for tool, list := range seeds {
		visit := func(n *Node) {
			if of := f.tool(n); (of == noTool || of == tool) && mark(n, tool) {
				queue = append(queue, n)
			}
		}
		for _, n := range list {
			visit(n)
		}
		for len(queue) > 0 {
			n := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			next(n, visit)
		}
	}
}

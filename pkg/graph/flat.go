package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// flat builds the graphs of the flat layout, where one list of nodes serves all
// tools and a tool's graph is what its entry reaches.
func (b *builder) flat() []*Graph {
	s := b.scope(b.file.Nodes, "the file")
	f := &flatNodes{builder: b, scope: s, index: map[string]int{}}
	for i, t := range b.file.Tools {
		f.index[t.Name.String()] = i
		f.names = append(f.names, t.Name.String())
	}
	f.findEnds()
	f.from = f.spread(f.entries, func(n *Node, visit func(*Node)) {
		for i := range n.Edges {
			if to := n.Edges[i].To; to != nil {
				visit(to)
			}
		}
	})
	before := incoming(s.nodes)
	f.to = f.spread(f.exits, func(n *Node, visit func(*Node)) {
		for _, m := range before[n.Index] {
			visit(s.nodes[m])
		}
	})
	foreign := f.foreignEdges()
	certain := true
	taken := make([]bool, len(s.nodes))
	graphs := make([]*Graph, len(b.file.Tools))
	for i, t := range b.file.Tools {
		g := b.start(t)
		g.Entry = b.end(g, Entry, f.entries[i])
		g.Exit = b.end(g, Exit, f.exits[i])
		certain = certain && g.Entry != nil
		f.collect(g, f.entries[i], foreign, taken)
		graphs[i] = g
	}
	for i, n := range s.nodes {
		certain = certain && n.Kind != nil && (n.Kind.Role == Inner || f.tool(n) >= 0) && !(taken[i] && n.broken)
	}
	if certain {
		for i, n := range s.nodes {
			if !taken[i] && s.byID[n.ID] == n {
				b.report(n.problem(diag.CodeUnreachable, fmt.Sprintf("node %q is not reached from any entry node", n.ID)))
			}
		}
	}
	for _, g := range graphs {
		b.check(g, s)
	}
	return graphs
}

// flatNodes sorts out which node of a flat list is whose.
type flatNodes struct {
	*builder
	scope          *scope
	names          []string
	index          map[string]int // of tools, by name
	entries, exits [][]*Node      // by tool
	from, to       []pair         // by node: tools whose entry reaches it, whose exit it reaches
}

// pair is up to two tools, each as its index plus one. A node that belongs to
// more is reported for the first two.
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

// tool gives the index of the tool that an entry or exit is for, -1 for other
// nodes and unknown tools.
func (f *flatNodes) tool(n *Node) int {
	if n.Kind == nil || n.Kind.Role == Inner {
		return -1
	}
	if i, ok := f.index[n.owner]; ok {
		return i
	}
	return -1
}

func (f *flatNodes) findEnds() {
	f.entries = make([][]*Node, len(f.names))
	f.exits = make([][]*Node, len(f.names))
	for _, n := range f.scope.nodes {
		i := f.tool(n)
		switch {
		case i >= 0 && n.Kind.Role == Entry:
			f.entries[i] = append(f.entries[i], n)
		case i >= 0:
			f.exits[i] = append(f.exits[i], n)
		case n.owner != "":
			d := n.src.Get("tool").Problem(diag.CodeUnknownTool, fmt.Sprintf(
				"node %q is for tool %q, which does not exist", n.ID, n.owner))
			if near, ok := f.nearest(n.owner, f.names); ok {
				d.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			f.report(d)
		}
	}
}

// spread marks what can be reached from each tool's seeds without passing
// through another tool's entry or exit. Each node is passed through at most
// twice, so the cost is that of the edges.
func (f *flatNodes) spread(seeds [][]*Node, next func(*Node, func(*Node))) []pair {
	marks := make([]pair, len(f.scope.nodes))
	for tool, list := range seeds {
		var queue []*Node
		visit := func(n *Node) {
			if owner := f.tool(n); owner >= 0 && owner != tool {
				return
			}
			if marks[n.Index].add(tool) {
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
	return marks
}

// core reports whether a node stands on a way from a tool's entry to its exit.
func (f *flatNodes) core(n *Node, tool int) bool {
	return tool >= 0 && f.from[n.Index].has(tool) && f.to[n.Index].has(tool)
}

// coreOf gives a tool that the node is in the core of, -1 where there is none.
func (f *flatNodes) coreOf(n *Node) int {
	for _, t := range f.from[n.Index] {
		if f.core(n, t-1) {
			return t - 1
		}
	}
	return -1
}

// foreignEdges reports the edges that lead from one tool into another: to its
// entry or exit, or to a node on the way between the two.
func (f *flatNodes) foreignEdges() map[*Edge]bool {
	foreign := map[*Edge]bool{}
	for _, n := range f.scope.nodes {
		for i := range n.Edges {
			e := &n.Edges[i]
			if e.To == nil {
				continue
			}
			for _, t := range f.from[n.Index] {
				tool := t - 1
				if tool < 0 || foreign[e] {
					continue
				}
				// A node that was reached through a foreign edge is not to blame.
				home := f.coreOf(n)
				if home >= 0 && home != tool && !f.core(n, tool) {
					continue
				}
				other := f.tool(e.To)
				if other < 0 && !f.core(e.To, tool) && !f.core(n, f.coreOf(e.To)) {
					other = f.coreOf(e.To)
				}
				if other >= 0 && other != tool {
					foreign[e] = true
					d := e.src.Problem(diag.CodeForeignNode, fmt.Sprintf(
						"%q of node %q, which is part of tool %q, leads to node %q of tool %q",
						e.Field, n.ID, f.names[tool], e.Target, f.names[other]))
					d.Related = []diag.Related{{Pos: e.To.Pos, Message: "the node is here"}}
					f.report(d)
				}
			}
		}
	}
	return foreign
}

// collect gives a graph copies of the nodes that its entries reach, so that
// each graph stands alone.
func (f *flatNodes) collect(g *Graph, entries []*Node, foreign map[*Edge]bool, taken []bool) {
	copies := map[*Node]*Node{}
	var found []*Node
	visit := func(n *Node) {
		if copies[n] == nil {
			c := *n
			copies[n] = &c
			found = append(found, n)
			taken[n.Index] = true
		}
	}
	for _, n := range entries {
		visit(n)
	}
	for next := 0; next < len(found); next++ {
		for i := range found[next].Edges {
			if e := &found[next].Edges[i]; e.To != nil && !foreign[e] {
				visit(e.To)
			}
		}
	}
	if g.Exit != nil {
		visit(g.Exit)
	}
	slices.SortFunc(found, func(a, b *Node) int { return a.Index - b.Index })
	g.byID = make(map[string]*Node, len(found))
	for i, n := range found {
		c := copies[n]
		c.Index = i
		c.Edges = slices.Clone(n.Edges)
		for k := range c.Edges {
			c.Edges[k].To = copies[n.Edges[k].To]
		}
		g.Nodes = append(g.Nodes, c)
		if f.scope.byID[n.ID] == n {
			g.byID[n.ID] = c
		}
	}
	g.Entry, g.Exit = copies[g.Entry], copies[g.Exit]
}

package graph

import (
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// flatGraphs builds the graphs of the flat layout, where one list of nodes serves all
// tools and a tool's graph is what its entry reaches.
func flatGraphs(b *builder) []*Graph {
	s := b.unit("the file", true, b.file.Nodes)
	b.connect(s)
	f := newFlatNodes(b, s)
	for _, t := range b.file.Tools {
		rules := b.rules(t.Node, s, fmt.Sprintf("tool %q", t.Name.String()))
		b.connectRules(s, rules)
		f.rules = append(f.rules, rules)
	}
	f.findEnds()
	f.findOwners()
	f.foreignEdges()
	graphs := make([]*Graph, len(b.file.Tools))
	certain := true
	for i, t := range b.file.Tools {
		g := b.start(t)
		graphs[i] = g
		g.byID, g.scope = map[string]*Node{}, s
		g.handle(f.rules[i])
		if b.file.Nodes == nil {
			continue // reported already
		}
		g.Entry = b.end(g, Entry, f.entries[i])
		g.Exit = b.end(g, Exit, f.exits[i])
		certain = certain && g.Entry != nil
	}
	for i, n := range s.nodes {
		certain = certain && n.Kind != nil && (!n.Kind.Role.isEnd() || f.tool(n) >= 0) && !(f.owner[i] >= 0 && n.broken)
	}
	for i, n := range s.nodes {
		unique := s.byID[n.ID] == n
		switch owner := f.owner[i]; {
		case owner >= 0:
			g := graphs[owner]
			n.Index = len(g.Nodes)
			g.Nodes = append(g.Nodes, n)
			if unique {
				g.byID[n.ID] = n
			}
		case certain && unique:
			b.report(n.problem(diag.CodeUnreachable, fmt.Sprintf("node %q cannot be reached from any entry node", n.ID)))
		}
	}
	for _, g := range graphs {
		b.fill(g)
	}
	return graphs
}

// flatNodes assigns the nodes of a flat list to tools. Its slices are indexed
// by Node.Index, which counts all nodes of the list for now.
type flatNodes struct {
	*builder
	scope          *scope
	names          []string       // of tools
	index          map[string]int // of tools, by name
	entries, exits [][]*Node      // by tool
	rules          []*Node        // by tool: for failures; nil where it has none
	from, to       []pair         // tools whose entry reaches a node, and whose exit it reaches
	owner          []int          // the one tool whose graph has a node, or noTool
}

const noTool = -1

func newFlatNodes(b *builder, s *scope) *flatNodes {
	f := &flatNodes{builder: b, scope: s, index: map[string]int{}}
	for i, t := range b.file.Tools {
		f.index[t.Name.String()] = i
		f.names = append(f.names, t.Name.String())
	}
	f.entries = make([][]*Node, len(f.names))
	f.exits = make([][]*Node, len(f.names))
	return f
}

// tool returns the index of the tool that an entry or exit is for, noTool for
// other nodes and unknown tools.
func (f *flatNodes) tool(n *Node) int {
	if n.Kind == nil || !n.Kind.Role.isEnd() {
		return noTool
	}
	if i, ok := f.index[n.owner]; ok {
		return i
	}
	return noTool
}

func (f *flatNodes) findEnds() {
	var tools *diag.Names // once they are needed
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
			if tools == nil {
				tools = diag.NewNames(slices.Clone(f.names))
			}
			d.Hint = diag.Meant(tools.Nearest(n.owner))
			f.report(d)
		}
	}
}

// foreignEdges reports the edges that lead from one tool into another and cuts
// them off, so that each graph stands alone.
func (f *flatNodes) foreignEdges() {
	for i, n := range f.scope.nodes {
		for k := range n.Edges {
			e := &n.Edges[k]
			if f.owner[i] == noTool || e.To == nil || f.owner[e.To.Index] == f.owner[i] {
				continue
			}
			d := e.src.Problem(diag.CodeForeignNode, fmt.Sprintf(
				"%q of node %q, which is part of tool %q, leads to node %q of tool %q",
				e.Field, n.ID, f.names[f.owner[i]], e.To.ID, f.names[f.owner[e.To.Index]]))
			d.Related = []diag.Related{{Pos: e.To.Pos, Message: "the node is here"}}
			f.report(d)
			e.To, n.broken = nil, true
		}
	}
}

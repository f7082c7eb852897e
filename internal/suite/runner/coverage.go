package runner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// covered is what tests walked.
type covered struct {
	nodes map[*graph.Node]bool
	edges map[edge]bool
}

// edge is one of Node.Edges or, beyond these, one of the Handlers of its graph.
type edge struct {
	node  *graph.Node
	index int
}

func newCovered() covered { return covered{map[*graph.Node]bool{}, map[edge]bool{}} }

func (c covered) add(o covered) {
	maps.Copy(c.nodes, o.nodes)
	maps.Copy(c.edges, o.edges)
}

// Coverage is how much of the tools of the configurations the tests walked.
type Coverage struct {
	Tools []ToolCoverage
	Total
}

// Total counts nodes and edges.
type Total struct{ Nodes, NodesCovered, Edges, EdgesCovered int }

func (t *Total) add(o Total) {
	t.Nodes += o.Nodes
	t.NodesCovered += o.NodesCovered
	t.Edges += o.Edges
	t.EdgesCovered += o.EdgesCovered
}

// Percent returns how much of nodes and edges together was walked; 100 of nothing.
func (t Total) Percent() float64 {
	if t.Nodes+t.Edges == 0 {
		return 100
	}
	return 100 * float64(t.NodesCovered+t.EdgesCovered) / float64(t.Nodes+t.Edges)
}

// ToolCoverage is how much of one tool was walked.
type ToolCoverage struct {
	File, Tool string
	Total
	Missed []Missed
}

// Missed is a node or an edge that no test walked.
type Missed struct {
	Pos diag.Pos
	// What describes it, such as `node "x"` or `edge "x" → "y" (catch[0].next)`.
	What string
}

// Coverage returns the coverage of all configurations, in the order of the test files.
func (r *Report) Coverage() *Coverage {
	all := &Coverage{}
	seen := map[*config]bool{}
	for _, f := range r.Files {
		if f.config == nil || f.config.engine == nil || seen[f.config] {
			continue
		}
		seen[f.config] = true
		for _, g := range f.config.engine.Current().Set().Graphs {
			t := ToolCoverage{File: g.File, Tool: g.Name}
			t.graph(g, f.config.covered)
			slices.SortStableFunc(t.Missed, func(a, b Missed) int {
				return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
			})
			all.add(t.Total)
			all.Tools = append(all.Tools, t)
		}
	}
	return all
}

// graph adds a graph and its bodies.
func (t *ToolCoverage) graph(g *graph.Graph, c covered) {
	handled := make([]bool, len(g.Handlers))
	for _, n := range g.Nodes {
		t.Nodes++
		if c.nodes[n] {
			t.NodesCovered++
		} else {
			t.Missed = append(t.Missed, Missed{n.Pos, fmt.Sprintf("node %q", n.ID)})
		}
		for i := range n.Edges {
			t.edge(&n.Edges[i], n.ID, c.edges[edge{n, i}])
		}
		for i := range handled {
			handled[i] = handled[i] || c.edges[edge{n, len(n.Edges) + i}]
		}
		for _, body := range n.Bodies {
			t.graph(body, c)
		}
	}
	for i := range g.Handlers {
		t.edge(&g.Handlers[i], "any node", handled[i])
	}
}

func (t *ToolCoverage) edge(e *graph.Edge, from string, covered bool) {
	t.Edges++
	if covered {
		t.EdgesCovered++
		return
	}
	t.Missed = append(t.Missed, Missed{e.Pos(), fmt.Sprintf("edge %s → %s (%s)", from, e.Target, e.Field)})
}

package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// UnknownNodeError is returned for a node that a tool does not have, or for a member
// of a document that expressions of a node cannot read.
type UnknownNodeError struct {
	What  string   // what was looked for
	Name  string   // its name
	Where string   // where it is not
	Names []string // that there are
}

// Error names it, and the nearest of those that there are.
func (e *UnknownNodeError) Error() string {
	text := fmt.Sprintf("unknown %s %q in %s", e.What, e.Name, e.Where)
	if near, ok := diag.Nearest(e.Name, e.Names); ok {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	return text + "; expected " + diag.List(e.Names)
}

// RunNode runs one node of a tool, or of a body in it, over a document: see
// [executor.NewNodeRun]. It calls what the node calls. The run is not kept. The
// record is that of the node; it has its failure too if a rule of the graph handled
// it. The error is a *server.UnknownToolError or an *[UnknownNodeError], or that of
// the node, as of [Program.Call].
func (p *Program) RunNode(ctx context.Context, info *callinfo.Info, tool, node string, document value.Value, o CallOptions) (executor.Record, error) {
	if info == nil {
		info = &callinfo.Info{}
	}
	p.prepare(info)
	g, err := p.Graph(tool)
	if err != nil {
		return executor.Record{}, err
	}
	n, err := nodeOf(g, node)
	if err == nil {
		err = checkDocument(n, document)
	}
	if err != nil {
		return executor.Record{}, err
	}
	ctx, held, cancel := p.account(ctx)
	defer held.Close()
	defer cancel()
	if held != nil {
		document = document.Metered(held)
	}
	info.RunID = runs.NewID()
	run := executor.NewNodeRun(n, document, o.seed())
	p.masking(run.Run)
	driver := &executor.Local{Info: info, Hooks: append(p.Hooks(info, true), o.Hooks...), Log: info.Log, Ask: p.asker(info, o.Ask)}
	world := p.Port(run.Run, info)
	if control := o.control(); control != nil {
		world = control(driver, world)
	}
	err = driver.Run(ctx, run.Run, world)
	record, _ := run.Record()
	return record, p.redacted(info, executor.Interrupted(ctx, tool, err))
}

// NodeIDs returns the ids of the nodes of a tool and of the bodies in it, in the
// order of the file.
func NodeIDs(g *graph.Graph) []string {
	var ids []string
	for _, n := range nodesOf(g) {
		ids = append(ids, n.ID)
	}
	return ids
}

func nodesOf(g *graph.Graph) []*graph.Node {
	var all []*graph.Node
	for _, n := range g.Nodes {
		all = append(all, n)
		for _, body := range n.Bodies {
			all = append(all, nodesOf(body)...)
		}
	}
	return all
}

// nodeOf returns the node with this id, the first one in the order of the file.
func nodeOf(g *graph.Graph, id string) (*graph.Node, error) {
	all := nodesOf(g)
	if i := slices.IndexFunc(all, func(n *graph.Node) bool { return n.ID == id }); i >= 0 {
		return all[i], nil
	}
	return nil, &UnknownNodeError{"node", id, graph.Quoted(g.Name), NodeIDs(g)}
}

// checkDocument returns an error if a member of the document is nothing that
// expressions of the node can read.
func checkDocument(n *graph.Node, document value.Value) error {
	var names []string
	for g := n.Graph; ; g = g.Owner.Graph {
		for _, n := range g.Nodes {
			names = append(names, n.ID)
		}
		if g.Owner == nil {
			break
		}
		if spread := g.Owner.Spread; spread.Each {
			names = append(names, "$"+spread.As, "$"+spread.At)
		}
	}
	for _, m := range document.Entries() {
		if !slices.Contains(names, m.Key) {
			return &UnknownNodeError{"member", m.Key, fmt.Sprintf("the context of node %q", n.ID), names}
		}
	}
	return nil
}

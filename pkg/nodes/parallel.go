package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Parallel runs several bodies side by side. Its output is an object of their
// results by name.
var Parallel = &graph.Kind{
	Name:   "parallel",
	Doc:    "Runs branches side by side; its output is an object of their results by name",
	Decode: decodeParallel,
}

// When a parallel node is done.
const (
	waitAll   = "all"
	waitFirst = "first"
)

func decodeParallel(f *graph.Fields) graph.Step {
	spread := graph.Spread{Names: f.Branches("branches", "The branches by name: each is a list of nodes, or a map with nodes and catch")}
	const doc = "Wait for all branches, or only for the first that succeeds, which cancels the others"
	spread.First = f.Choice("wait", doc, []string{waitAll, waitFirst}, graph.Optional, graph.Default(waitAll)) == waitFirst
	f.SetSpread(spread)
	s := branches{next: f.Next()}
	f.Policy()
	return s
}

// branches is the step of a parallel node.
type branches struct{ next int }

func (s branches) Begin(_ context.Context, in *graph.Input) (graph.Action, error) {
	return graph.Action{Value: in.Previous, Edge: s.next, Do: graph.Fork}, nil
}

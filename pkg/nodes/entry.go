package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Entry is where the walk begins. Its output is the tool's arguments.
var Entry = &graph.Kind{
	Name: "entry",
	Doc:  "Where a run starts; its output is the arguments of the call",
	Role: graph.Entry,
	Decode: func(f *graph.Fields) graph.Step {
		return entry{next: f.Edge("next", "The next node")}
	},
}

type entry struct{ next int }

func (s entry) Begin(_ context.Context, in *graph.Input) (graph.Action, error) {
	return graph.Action{Value: in.Args, Edge: s.next}, nil
}

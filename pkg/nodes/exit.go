package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Exit is where the walk ends. Its output, the tool's result, is that of the
// node before it.
var Exit = &graph.Kind{
	Name:   "exit",
	Doc:    "Where the walk ends; the output of the node before it is the result of the tool",
	Role:   graph.Exit,
	Decode: func(*graph.Fields) graph.Step { return exit{} },
}

type exit struct{}

func (exit) Run(_ context.Context, in *graph.Input) (graph.Output, error) {
	return graph.Output{Value: in.Previous, Edge: graph.NoEdge}, nil
}

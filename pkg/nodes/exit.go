package nodes

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Exit is where the walk ends. Its output, the tool's result, is that of the
// node before it.
var Exit = &graph.Kind{
	Name: "exit",
	Doc:  "Where a run ends; the output of the node before it is the result of the tool",
	Role: graph.Exit,
	Decode: func(f *graph.Fields) graph.Step {
		const doc = "How to send the result: content means that it is a list of content blocks, such as images, which are sent unchanged"
		if f.Choice("output", doc, []string{modeContent}, graph.Optional) == modeContent {
			return blocksExit{}
		}
		return exit{}
	},
}

type exit struct{}

func (exit) Begin(_ context.Context, in *graph.Input) (graph.Action, error) {
	return graph.Action{Value: in.Previous, Edge: graph.NoEdge}, nil
}

// blocksExit returns a list of content blocks.
type blocksExit struct{}

// GivesBlocks reports whether the step of an exit node returns a list of
// content blocks (MCP, Tools, Tool Result), to be sent as they are.
func GivesBlocks(step graph.Step) bool {
	_, ok := step.(blocksExit)
	return ok
}

func (blocksExit) Begin(_ context.Context, in *graph.Input) (graph.Action, error) {
	list := in.Previous
	switch list.Kind() {
	case value.Undefined, value.Null:
		list = value.FromArray(nil)
	case value.Object:
		list = value.FromArray([]value.Value{list})
	case value.Array:
	default:
		return graph.Action{}, fmt.Errorf("expected a list of content blocks, found %s", graph.Describe(list))
	}
	for i, block := range list.Elems() {
		if err := graph.CheckContent(block); err != nil {
			return graph.Action{}, fmt.Errorf("content block %d: %w", i, err)
		}
	}
	return graph.Action{Value: list, Edge: graph.NoEdge}, nil
}

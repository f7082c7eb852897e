package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Roots asks the client for its roots: the folders and files that it works on (MCP
// 2025-11-25, Roots).
var Roots = &graph.Kind{
	Name: "roots",
	Doc:  "Asks the client for its roots, the folders that it works on; its output is {roots: [{uri, name}]}. MCP deprecates roots since 2026-07-28",
	Asks: graph.AskRoots,
	Decode: func(f *graph.Fields) graph.Step {
		s := roots{next: f.Next()}
		f.Timeout(askTimeout)
		f.Catch()
		return s
	},
}

// roots is the step of a roots node.
type roots struct{ next int }

// Begin returns the params of roots/list, which has none.
func (s roots) Begin(context.Context, *graph.Input) (graph.Action, error) {
	return graph.Action{Value: noArgs, Edge: s.next, Do: graph.Ask}, nil
}

// End implements graph.Ender. The answer is the result of roots/list.
func (s roots) End(_ context.Context, _ *graph.Input, answer value.Value) (graph.Output, error) {
	if refused := graph.Refused(answer); refused != nil {
		return graph.Output{}, refused
	}
	out := graph.Output{Value: value.ObjectOf("roots", answer.Get("roots")), Edge: s.next}
	return out, graph.CheckAnswer(graph.AskRoots, answer)
}

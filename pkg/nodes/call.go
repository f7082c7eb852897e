package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Call runs another tool of the file. Its output is that tool's result.
var Call = &graph.Kind{
	Name: "call",
	Doc:  "Runs another tool of this file; its output is that tool's result",
	Decode: func(f *graph.Fields) graph.Step {
		s := &invocation{callee: f.Callee("tool", "Name of the tool")}
		s.args = f.CallArgs("args", argsDoc, graph.Optional)
		f.Detachable()
		s.next = f.Next()
		f.Policy()
		return s
	},
}

// invocation is the step of a call node.
type invocation struct {
	callee *graph.Callee
	args   *graph.Template // nil: no arguments
	next   int
}

func (s *invocation) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	args, err := arguments(ctx, in, s.args)
	if err == nil {
		err = s.callee.CheckArguments(ctx, args)
	}
	return graph.Action{Value: args, Edge: s.next, Do: graph.Invoke}, err
}

// End implements graph.Ender.
func (s *invocation) End(ctx context.Context, _ *graph.Input, result value.Value) (graph.Output, error) {
	return graph.Output{Value: result, Edge: s.next}, s.callee.CheckResult(ctx, result)
}

package nodes

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// MCP calls a tool of an upstream server. Its output is taken from the reply.
var MCP = &graph.Kind{
	Name:   "mcp",
	Doc:    "Calls a tool of an upstream MCP server; its output is taken from the reply",
	Decode: decodeMCP,
}

func decodeMCP(f *graph.Fields) graph.Step {
	s := &call{}
	f.Call(
		"server", "Name of the server, as under mcpServers",
		"tool", "Name of the server's tool")
	s.args = f.CallArgs("args", "Arguments of the call; a map whose only key is expr is a JSONata expression", graph.Optional)
	mode := f.Choice("output", "What of the reply is the node's output", outputModes, graph.Optional)
	if mode == "" && f.Flat() {
		mode = modeFirstBlock
	}
	s.mode = mode
	s.next = f.Edge("next", nextDoc)
	return s
}

// call is the step of an mcp node.
type call struct {
	args *graph.Template // nil: no arguments
	mode string
	next int
}

var noArgs = value.FromEntries(nil)

func (s *call) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	args, err := s.arguments(ctx, in)
	return graph.Action{Value: args, Edge: s.next, Do: graph.CallTool}, err
}

// End implements graph.Ender.
func (s *call) End(_ context.Context, _ *graph.Input, reply value.Value) (graph.Output, error) {
	v, err := output(reply, s.mode)
	return graph.Output{Value: v, Edge: s.next}, err
}

func (s *call) arguments(ctx context.Context, in *graph.Input) (value.Value, error) {
	if s.args == nil {
		return noArgs, nil
	}
	args, err := s.args.Eval(ctx, in.Env)
	if err != nil {
		return value.Undef, err
	}
	switch args.Kind() {
	case value.Object:
		return args, nil
	case value.Undefined:
		return noArgs, nil
	}
	pos, end := s.args.Place()
	return value.Undef, &graph.PosError{Pos: pos, End: end, Err: fmt.Errorf(
		"args must be an object, but the expression gives %s", graph.Describe(args))}
}

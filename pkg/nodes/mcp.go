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
	s.args = f.CallArgs("args", argsDoc, graph.Optional)
	mode := f.Choice("output", "Which part of the reply becomes the node's output", outputModes, graph.Optional)
	if mode == "" && f.Flat() {
		mode = modeFirstBlock
	}
	s.mode = mode
	switch mode {
	case "", modeStructured:
		f.YieldsStructured()
	case modeResult:
		f.YieldsReply()
	case modeText:
		f.YieldsText()
	}
	s.next = f.Next()
	f.Policy()
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
	args, err := arguments(ctx, in, s.args)
	return graph.Action{Value: args, Edge: s.next, Do: graph.CallTool}, err
}

// End implements graph.Ender.
func (s *call) End(_ context.Context, _ *graph.Input, reply value.Value) (graph.Output, error) {
	v, err := Output(reply, s.mode)
	return graph.Output{Value: v, Edge: s.next}, err
}

const argsDoc = "Arguments of the call; a map whose only key is expr is a JSONata expression"

// arguments evaluates the arguments of a call; t may be nil.
func arguments(ctx context.Context, in *graph.Input, t *graph.Template) (value.Value, error) {
	if t == nil {
		return noArgs, nil
	}
	args, err := t.Eval(ctx, in.Env)
	if err != nil {
		return value.Undef, err
	}
	switch args.Kind() {
	case value.Object:
		return args, nil
	case value.Undefined:
		return noArgs, nil
	}
	pos, end := t.Place()
	return value.Undef, &graph.PosError{Pos: pos, End: end, Err: fmt.Errorf(
		"args must be an object, but the expression returned %s", graph.Describe(args))}
}

package nodes

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Transform evaluates a JSONata expression. Its output is the expression's
// value.
var Transform = &graph.Kind{
	Name: "transform",
	Doc:  "Evaluates a JSONata expression over what the run has produced so far",
	Decode: func(f *graph.Fields) graph.Step {
		program := f.Object("transform", "What to evaluate").
			Expr("expr", "The expression; $ is an object with the latest output of every node by its id")
		f.Yields(program)
		s := transform{program: program, functions: mayYieldFunctions(program.Source()), next: f.Next()}
		f.Catch()
		return s
	},
}

type transform struct {
	program *graph.Program
	// functions is true where the value may hold functions.
	functions bool
	next      int
}

func (s transform) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	v, err := s.program.Eval(ctx, in.Env)
	if err == nil && s.functions {
		v, err = graph.WithoutFunctions(ctx, v)
	}
	if err != nil {
		return graph.Action{}, err
	}
	return graph.Action{Value: v, Edge: s.next}, nil
}

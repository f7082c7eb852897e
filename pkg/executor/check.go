package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CheckArguments returns an error unless arguments of a call fit the inputSchema of its
// tool. They must be an object even if the schema does not require it.
func CheckArguments(ctx context.Context, g *graph.Graph, args value.Value) error {
	var err error
	if args.Kind() != value.Object {
		err = &graph.SchemaError{Problems: []graph.SchemaProblem{{Expected: "an object", Found: graph.Describe(args)}}}
	} else if err = g.Input.ValidateContext(ctx, args); err == nil {
		return nil
	}
	return Interrupted(ctx, g.Name, checkError(g.Name, graph.FailArguments, "invalid arguments", err))
}

// CheckResult returns an error unless the result of a run that is done fits the
// outputSchema of its tool.
func CheckResult(ctx context.Context, r *Run) error {
	g := r.graph
	if g.Output == nil {
		return nil
	}
	err := g.Output.ValidateContext(ctx, r.Result())
	if err == nil {
		return nil
	}
	failed := checkError(g.Name, graph.FailResult, "the result does not fit its outputSchema", err)
	var wrong *graph.SchemaError
	if errors.As(err, &wrong) {
		return &rejectedError{graph.FailResult, fmt.Errorf("%w: %s", failed, r.ResultAdvice())}
	}
	return failed
}

// PresentResult returns the result of a graph as clients get it; see
// [graph.Graph.Result]. uri is what a client asked for if the graph is a resource.
func PresentResult(g *graph.Graph, result, args value.Value, uri string) (value.Value, error) {
	if g.Offer == nil {
		return result, nil
	}
	out, err := g.Result(result, args, uri)
	if err != nil {
		return value.Undef, checkError(g.Name, graph.FailResult, "", err)
	}
	return out, nil
}

// Interrupted returns err, or if there was too little memory for the call of ctx, an
// *[InterruptedError]: what came of the call then means nothing.
func Interrupted(ctx context.Context, tool string, err error) error {
	short := memory.AccountOf(ctx).Err()
	if short == nil || errors.As(err, new(*InterruptedError)) {
		return err
	}
	return &InterruptedError{Tool: tool, Err: short}
}

// checkError is returned if a check found a problem or was cancelled.
func checkError(tool, name, wrong string, err error) error {
	var found *graph.SchemaError
	var failure *graph.Failure
	switch {
	case errors.As(err, &failure):
		return &rejectedError{failure.Name, err}
	case !errors.As(err, &found):
		name, wrong = graph.FailCancelled, "stopped while it was checked"
	}
	return &rejectedError{name, fmt.Errorf("%s: %s: %w", graph.Quoted(tool), wrong, err)}
}

// rejectedError is an error of a check, with the name that the failure has.
type rejectedError struct {
	name string
	error
}

// Unwrap returns the error beneath.
func (e *rejectedError) Unwrap() error { return e.error }

// FailureName returns the name of the failure.
func (e *rejectedError) FailureName() string { return e.name }

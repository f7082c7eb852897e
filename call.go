package mcpgraph

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Result is what one call gave.
type Result struct {
	// Value is the tool's result, null where its last expression yielded
	// nothing. It is undefined where the call failed.
	Value value.Value
	// History has one record for each node execution, in order.
	History []executor.Record

	run *executor.Run
}

// JSON returns the value as compact JSON, keys in their order.
func (r *Result) JSON() []byte { return r.Value.Append(nil) }

// Call runs the tool with this name. Arguments are anything that encodes to a
// JSON object, a [value.Value] as it is; nil means none. Where the walk began,
// the Result is there even if it failed, with the history so far.
//
// The error is a *server.UnknownToolError, or that of arguments or a result which
// do not fit the tool's schema (it wraps a *graph.SchemaError), or of a node (an
// *executor.NodeError, which wraps an *executor.LimitError, an *upstream.Error or
// the cause with which ctx ended, where it was one of these), or an
// *executor.InterruptedError where there is too little memory (see [WithMemory]).
//
// The run is kept among those of [Engine.Runs], which it enters as it ends. It
// runs on the graph that it found, whatever Reload does meanwhile.
func (e *Engine) Call(ctx context.Context, tool string, args any, opts ...CallOption) (*Result, error) {
	p := e.use()
	defer p.release()
	r, err := p.call(ctx, tool, args, opts...)
	if r != nil {
		r.History = r.run.History()
	}
	return r, err
}

func (p *program) call(ctx context.Context, tool string, args any, opts ...CallOption) (*Result, error) {
	g, err := p.graph(tool)
	if err != nil {
		return nil, err
	}
	var o callOptions
	for _, opt := range opts {
		opt(&o)
	}
	in, err := value.FromAny(args)
	if err != nil {
		return nil, fmt.Errorf("tool %q: the arguments are not JSON: %w", tool, err)
	}
	if in.IsNull() || in.IsUndefined() {
		in = value.FromEntries(nil)
	}
	if memory.AccountOf(ctx) == nil {
		held := p.opts.memory.Account("")
		defer held.Close()
		var cancel func()
		ctx, cancel = memory.WithAccount(ctx, held)
		defer cancel()
		if held != nil {
			in = in.Metered(held)
		}
	}
	if err := checkArguments(ctx, g, in); err != nil {
		return nil, interrupted(ctx, tool, checkError(tool, "invalid arguments", err))
	}
	ctx = p.noting(ctx)
	began := time.Now()
	driver := &executor.Local{Hooks: append(slices.Clip(p.hooks), o.hooks...), Log: p.opts.log}
	run := executor.NewRun(g, in, rand.Uint64())
	id := runs.NewID()
	if r := server.RequestOf(ctx); r != nil {
		r.SetRun(id)
	}
	err = driver.Run(ctx, run, port{p.upstreams.caller, callerOf(ctx)})
	result := &Result{run: run}
	if err == nil {
		result.Value, err = checked(ctx, run.Result(), g)
	}
	if err = interrupted(ctx, tool, err); err != nil {
		result.Value = value.Undef
	}
	p.keep(ctx, id, run, began, err)
	return result, p.redacted(ctx, err)
}

// interrupted gives err, or where there was too little memory for a call, that:
// what came of it then means nothing.
func interrupted(ctx context.Context, tool string, err error) error {
	short := memory.AccountOf(ctx).Err()
	var already *executor.InterruptedError
	if short == nil || errors.As(err, &already) {
		return err
	}
	return &executor.InterruptedError{Tool: tool, Err: short}
}

// checked gives the result of a run if it fits the tool's outputSchema.
func checked(ctx context.Context, result value.Value, g *graph.Graph) (value.Value, error) {
	if g.Output != nil {
		if err := g.Output.ValidateContext(ctx, result); err != nil {
			return value.Undef, checkError(g.Name, "the result does not fit its outputSchema", err)
		}
	}
	return result, nil
}

// checkError says that a check found something wrong, or was given up.
func checkError(tool, wrong string, err error) error {
	var found *graph.SchemaError
	if !errors.As(err, &found) {
		wrong = "stopped while it was checked"
	}
	return fmt.Errorf("tool %q: %s: %w", tool, wrong, err)
}

// checkArguments holds arguments to the tool's schema, and to being an object,
// which the schema need not say.
func checkArguments(ctx context.Context, g *graph.Graph, args value.Value) error {
	if args.Kind() != value.Object {
		return &graph.SchemaError{Problems: []graph.SchemaProblem{{Expected: "an object", Found: graph.Describe(args)}}}
	}
	return g.Input.ValidateContext(ctx, args)
}

package debug

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of an evaluation that a person asks for.
const (
	EvalTimeout = 2 * time.Second
	EvalBytes   = 1 << 20 // of the JSON of what it yields
)

// evalTimeout is EvalTimeout, or less in tests.
var evalTimeout = EvalTimeout

var (
	errEvalTime = fmt.Errorf("the evaluation took longer than %s", EvalTimeout)
	errEvalSize = fmt.Errorf("the value has more than %d KiB of JSON: evaluate a part of it", EvalBytes>>10)
)

// At returns what the expressions of an execution saw, by the index of a record of it.
func (in *inspector) At(record int) (executor.Scope, error) {
	if scope, ok := in.run.ScopeAt(record); ok {
		return scope, nil
	}
	return executor.Scope{}, fmt.Errorf("there is no record %d (any more)", record)
}

// Frame returns what the next execution sees in a walk that is under way, which is
// named as in [executor.Record.Frame].
func (in *inspector) Frame(id string) (executor.Scope, error) {
	if scope, ok := in.run.FrameScope(id); ok {
		return scope, nil
	}
	return executor.Scope{}, fmt.Errorf("the walk %q is not under way", id)
}

// Document returns the document of a scope, without secrets: under the id of each node
// its latest output.
func (in *inspector) Document(at executor.Scope) value.Value { return in.env.value(at.Document()) }

// Variables returns the variables of a scope, without secrets, by name without the
// dollar sign.
func (in *inspector) Variables(at executor.Scope) []value.Entry {
	vars := at.Variables()
	list := make([]value.Entry, len(vars))
	for i, v := range vars {
		list[i] = value.Entry{Key: v.Key, Value: in.env.value(v.Value)}
	}
	return list
}

// Eval evaluates a JSONata expression in a scope. It changes nothing in the run. The
// value has no secrets; it is undefined if the expression yields nothing. Time
// ([EvalTimeout]) and the size of the value ([EvalBytes]) are bounded. The error is an
// *expr.Error where it is about the expression.
func (in *inspector) Eval(ctx context.Context, at executor.Scope, expression string) (value.Value, error) {
	v, err := in.env.Eval(ctx, at, expression)
	if err != nil {
		return value.Undef, err
	}
	return v, nil
}

// Eval is [Session.Eval] for any run.
func (e *Environment) Eval(ctx context.Context, at executor.Scope, expression string) (value.Value, error) {
	var names []string
	for _, v := range at.Variables() {
		names = append(names, v.Key)
	}
	p, err := expr.CompileJSONata(expression, jsonata.WithFunctions(e.Functions...), jsonata.WithVariables(names...))
	if err != nil {
		return value.Undef, err
	}
	v, err := e.eval(ctx, at, p)
	if err != nil {
		return value.Undef, err
	}
	if v = e.value(v); v.LongerThan(EvalBytes) {
		return value.Undef, errEvalSize
	}
	if v.IsUndefined() {
		return v, nil
	}
	return value.ParseLazy(v.JSON()) // nothing of the run stays alive with it, and functions are gone
}

// eval evaluates a program in a scope.
func (e *Environment) eval(ctx context.Context, at executor.Scope, p *expr.Program) (value.Value, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, evalTimeout, errEvalTime)
	defer cancel()
	if e.Account != nil {
		var release func()
		ctx, release = e.Account(ctx)
		defer release()
	}
	env := expr.Env{History: at, Now: e.now, Vars: at.Variables()}
	if e.Processor != nil {
		if env.Processor = e.Processor(); env.Processor != nil {
			defer env.Processor.Release()
		}
	}
	v, err := p.Eval(ctx, &env)
	if err != nil && errors.Is(context.Cause(ctx), errEvalTime) {
		err = errEvalTime
	}
	return v, err
}

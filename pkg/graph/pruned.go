package graph

import (
	"context"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// WithoutFunctions returns v as JSON has it, because only JSON leaves a node:
// an object loses members that are functions, an array has null in their place
// (JSON.stringify, ECMA-262, 25.5.2). The error is the cause of ctx, which also
// ends the look at a value that holds others very many times over.
func WithoutFunctions(ctx context.Context, v value.Value) (value.Value, error) {
	p := pruner{ctx: ctx}
	v, _ = p.prune(v)
	return v, p.err
}

type pruner struct {
	ctx   context.Context
	steps int
	err   error
}

// going counts one container and reports whether the run is still on.
func (p *pruner) going() bool {
	if p.steps++; p.steps%1024 == 0 && p.err == nil {
		p.err = context.Cause(p.ctx)
	}
	return p.err == nil
}

// prune returns v without functions and whether that differs from v.
func (p *pruner) prune(v value.Value) (value.Value, bool) {
	switch v.Kind() {
	case value.Func:
		return value.Undef, true
	case value.Array:
		return p.array(v)
	case value.Object:
		return p.object(v)
	}
	return v, false
}

func (p *pruner) array(v value.Value) (value.Value, bool) {
	if !p.going() {
		return v, false
	}
	var changed []value.Value
	for i, e := range v.Elems() {
		pruned, differs := p.prune(e)
		if !differs {
			continue
		}
		if changed == nil {
			changed = slices.Clone(v.Elems())
		}
		if pruned.IsUndefined() {
			pruned = value.NullValue
		}
		changed[i] = pruned
	}
	if changed == nil {
		return v, false
	}
	return value.FromArray(changed), true
}

func (p *pruner) object(v value.Value) (value.Value, bool) {
	if !p.going() {
		return v, false
	}
	var changed []value.Entry
	for i, e := range v.Entries() {
		pruned, differs := p.prune(e.Value)
		if !differs {
			continue
		}
		if changed == nil {
			changed = slices.Clone(v.Entries())
		}
		changed[i].Value = pruned
	}
	if changed == nil {
		return v, false
	}
	return value.FromEntries(slices.DeleteFunc(changed, func(e value.Entry) bool {
		return e.Value.IsUndefined()
	})), true
}

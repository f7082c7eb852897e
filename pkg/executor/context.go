package executor

import (
	"context"
	"sync/atomic"
)

// runContext is the context of a drive: that of the caller, which ends with the
// run, too. What can end it, and the timer for that, are made when somebody first
// waits for its end; the steps of most short runs never do.
type runContext struct {
	context.Context // of the caller
	driving         *driving
	polls           atomic.Int32
	own             atomic.Pointer[cancellable]
}

// cancellable is a context and what ends it.
type cancellable struct {
	context.Context
	cancel context.CancelCauseFunc
}

// freePolls is how often Err can be asked before that counts as waiting.
const freePolls = 16

// Done implements context.Context.
func (c *runContext) Done() <-chan struct{} { return c.make().Done() }

// Err implements context.Context.
func (c *runContext) Err() error {
	if c.own.Load() == nil && c.polls.Add(1) <= freePolls {
		return c.Context.Err()
	}
	return c.make().Err()
}

// Value implements context.Context. It finds what the package context asks for,
// too: the cause.
func (c *runContext) Value(key any) any {
	if own := c.own.Load(); own != nil {
		return own.Value(key)
	}
	return c.Context.Value(key)
}

// cancel ends the context for a cause.
func (c *runContext) cancel(cause error) { c.make().cancel(cause) }

// free releases what the context holds.
func (c *runContext) free() {
	if own := c.own.Load(); own != nil {
		own.cancel(nil)
	}
}

// awaited reports whether somebody may wait for the end.
func (c *runContext) awaited() bool { return c.own.Load() != nil }

func (c *runContext) make() *cancellable {
	if own := c.own.Load(); own != nil {
		return own
	}
	ctx, cancel := context.WithCancelCause(c.Context)
	own := &cancellable{ctx, cancel}
	if !c.own.CompareAndSwap(nil, own) {
		cancel(nil)
		return c.own.Load()
	}
	c.driving.arm()
	return own
}

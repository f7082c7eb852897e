package graph

import (
	"context"
	"runtime"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Checking a value takes up to a microsecond for each of its bytes, and the
// library cannot be cancelled. So values over longCheck bytes are checked
// beside their call, which then need not wait for the end of it; and at most
// one per processor runs at the same time, including those that no call waits
// for any more.
const longCheck = 16 << 10

var longChecks = make(chan struct{}, runtime.GOMAXPROCS(0))

// ValidateContext is as Validate, but returns with the cause of ctx when ctx is
// done, and with a *memory.Error where the account of ctx has no room for what
// the check takes.
//
// The check of a value over 16 KiB goes on after that, because it cannot be
// stopped. At most one of them runs for each processor (GOMAXPROCS at the start of
// the process), those that no call waits for included; others wait for their turn, until
// their ctx is done. A check keeps its value until it ends, also after the account of
// its call is closed.
func (s *Schema) ValidateContext(ctx context.Context, v value.Value) error {
	if ctx.Done() == nil || !v.LongerThan(longCheck) {
		return s.validate(ctx, v)
	}
	select {
	case longChecks <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	type outcome struct {
		err      error
		panicked any
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			<-longChecks
			ended <- o
		}()
		o.err = s.validate(ctx, v)
	}()
	select {
	case o := <-ended:
		if o.panicked != nil {
			panic(o.panicked) // as if it had been checked here
		}
		return o.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package executor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestGraceCountsFromTheStop stops a run that has waited for long: calls that take a
// moment to end are waited for.
func TestGraceCountsFromTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		call := func(ctx context.Context, _ value.Value) (value.Value, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended.Store(true)
			return value.Undef, context.Cause(ctx)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errStopped) })
		r := newRun(mapOf(t, 1, oneCall, graph.Spread{}, graph.Policy{}, false))
		if err := (&executor.Local{}).Run(ctx, r, world{call}); !errors.Is(err, errStopped) {
			t.Errorf("the error is %v", err)
		}
		if !ended.Load() {
			t.Error("the run ended before its call")
		}
	})
}

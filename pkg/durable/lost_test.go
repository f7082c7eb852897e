package durable

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// simulatedLosing is simulated with so many calls at the beginning whose workers are
// lost.
func simulatedLosing(t testing.TB, source *testSource, lost int) *executor.Run {
	t.Helper()
	return simulated(t, source, &request{Tool: "t", Seed: 7}, func(env *testsuite.TestWorkflowEnvironment) {
		var made atomic.Int64
		c := &calls{source: source, log: slog.New(slog.DiscardHandler), beat: time.Second}
		env.RegisterActivityWithOptions(func(ctx context.Context, in *callRequest) (*callReply, error) {
			// The first call of a retried node is not another one of the same attempt.
			switch n := int(made.Add(1)); {
			case n <= lost && n%2 == 0:
				return nil, temporal.NewCanceledError() // it could give no signs of life
			case n <= lost:
				return nil, temporal.NewNonRetryableApplicationError("lost", stopping, nil)
			}
			return c.call(ctx, in)
		}, activity.RegisterOptions{Name: ActivityType, DisableAlreadyRegisteredCheck: true})
	})
}

// continued returns the input of the workflow that goes on with this one, if it does.
func continued(t testing.TB, env *testsuite.TestWorkflowEnvironment) (*request, bool) {
	t.Helper()
	err := env.GetWorkflowError()
	var again *workflow.ContinueAsNewError
	if !errors.As(err, &again) {
		if err != nil {
			t.Fatal(err)
		}
		return nil, false
	}
	in := &request{}
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, in); err != nil {
		t.Fatal(err)
	}
	return in, true
}

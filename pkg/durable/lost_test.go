package durable

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// simulatedLosing is simulated with so many calls at the beginning whose workers are
// lost.
func simulatedLosing(t testing.TB, source *testSource, lost int) *executor.Run {
	t.Helper()
	return simulated(t, source, &request{Tool: "t", Seed: 7}, func(env *testsuite.TestWorkflowEnvironment) {
		var made atomic.Int64
		c := &calls{source: source, log: slog.New(slog.DiscardHandler), beat: time.Second, mark: (*Client)(nil).mark}
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

// TestCallsThatHaveNotBegunAreMadeByAnotherWorker loses workers of a tool that may not be
// repeated, with and without the mark of a call that begins.
func TestCallsThatHaveNotBegunAreMadeByAnotherWorker(t *testing.T) {
	t.Parallel()
	marked, unmarked := temporal.NewHeartbeatTimeoutError(said{Call: "x"}), temporal.NewHeartbeatTimeoutError()
	untold := temporal.NewNonRetryableApplicationError("away", notBegun, nil)
	for name, test := range map[string]struct {
		losses  []error
		failure string // empty: the call is made
	}{
		"before it began":             {[]error{unmarked}, ""},
		"Temporal could not be told":  {[]error{untold, untold}, ""},
		"after it began":              {[]error{marked}, graph.FailUnknown},
		"before and after it began":   {[]error{unmarked, marked}, graph.FailUnknown},
		"by a time limit of the call": {[]error{temporal.NewTimeoutError(enums.TIMEOUT_TYPE_START_TO_CLOSE, nil)}, graph.FailUnknown},
		"before it began, always":     {slices.Repeat([]error{unmarked}, maxLost+1), graph.FailConnect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, k := newSource(t, oneTool(oneCall)), &keys{}
			source.call = noting(k)
			run := simulated(t, source, &request{Tool: "t", Seed: 7}, func(env *testsuite.TestWorkflowEnvironment) {
				var taken atomic.Int64
				c := &calls{source: source, log: slog.New(slog.DiscardHandler), beat: time.Second, mark: (*Client)(nil).mark}
				env.RegisterActivityWithOptions(func(ctx context.Context, in *callRequest) (*callReply, error) {
					if n := int(taken.Add(1)); n <= len(test.losses) {
						return nil, test.losses[n-1]
					}
					return c.call(ctx, in)
				}, activity.RegisterOptions{Name: ActivityType, DisableAlreadyRegisteredCheck: true})
			})
			if test.failure == "" {
				if len(k.list) != 1 || run.Err() != nil {
					t.Errorf("%d calls were made: %v", len(k.list), run.Err())
				}
			} else if err := run.Err(); len(k.list) != 0 || err == nil || executor.FailureOf(err).Name != test.failure {
				t.Errorf("%d calls were made: %v", len(k.list), err)
			}
		})
	}
}

// TestACallIsNotMadeIfTemporalCannotBeTold shows that the mark comes before the call.
func TestACallIsNotMadeIfTemporalCannotBeTold(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(oneCall))
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		t.Error("the tool was called")
		return text("well"), nil
	}
	c := &calls{source: source, log: slog.New(slog.DiscardHandler), beat: time.Second, mark: func(context.Context, said) error { return errors.New("away") }}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(c.call, activity.RegisterOptions{Name: ActivityType})
	_, err := env.ExecuteActivity(ActivityType, &callRequest{Run: "r", Node: "n", Server: "up", Tool: "do", Args: []byte(`{}`), MaxValue: MaxValue})
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != notBegun {
		t.Error(err)
	}
}

// TestOnAServerALostWorkerMayNotHaveBegun lets a worker take a call and be silent, before
// and after the mark.
func TestOnAServerALostWorkerMayNotHaveBegun(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]bool{"before the call": false, "after the call began": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dialed(t, nil)
			source, k := unique(newSource(t, oneTool(oneCall))), &keys{}
			source.call = noting(k)
			queue := c.queue(source.Digest())
			w := worker.New(c.temporal, queue, worker.Options{})
			registerWorkflow(w, source, WorkerOptions{})
			made := &calls{source: source, client: c, log: slog.New(slog.DiscardHandler), beat: beatEvery, mark: c.mark}
			var taken atomic.Int64
			w.RegisterActivityWithOptions(func(ctx context.Context, in *callRequest) (*callReply, error) {
				if taken.Add(1) > 1 {
					return made.call(ctx, in)
				}
				if begins {
					if err := made.mark(ctx, said{Call: "x"}); err != nil {
						t.Error(err)
					}
				}
				<-ctx.Done() // its worker is silent
				return nil, ctx.Err()
			}, activity.RegisterOptions{Name: ActivityType})
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
			id := started(t, c, source, "{}", func(s *launch) { s.Heartbeat = 2 * time.Second })
			out, err := c.resultOf(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{false: 1, true: 0}[begins]; len(k.list) != want {
				t.Errorf("the tool was called %d times, want %d: %+v", len(k.list), want, out)
			}
			replayed(t, c, source, historyOf(t, c, id))
		})
	}
}

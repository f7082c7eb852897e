package durable

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// away is a Temporal that cannot be reached until a time. After that each run has ended,
// but for the requests to end one.
type away struct {
	client.Client
	until  time.Time
	begun  bool // there are runs
	errors []error

	ended, asked atomic.Int64 // requests that ended a run, and all
}

// down returns why a request did not come to it, in the way that the SDK tells it.
func (a *away) down() error {
	n := int(a.asked.Add(1))
	if time.Now().Before(a.until) {
		return a.errors[n%len(a.errors)]
	}
	return nil
}

func (a *away) GetWorkflow(context.Context, string, string) client.WorkflowRun { return awayRun{a: a} }

func (a *away) QueryWorkflow(ctx context.Context, _, _, _ string, _ ...any) (converter.EncodedValue, error) {
	if err := a.down(); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (a *away) ExecuteWorkflow(ctx context.Context, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (a *away) CancelWorkflow(context.Context, string, string) error {
	switch err := a.down(); {
	case err != nil:
		return err
	case !a.begun:
		return serviceerror.NewNotFound("no such run")
	}
	a.ended.Add(1)
	return nil
}

type awayRun struct {
	client.WorkflowRun
	a *away
}

func (r awayRun) Get(_ context.Context, into any) error {
	if err := r.a.down(); err != nil {
		return err
	}
	into.(*outcome).Result = json.RawMessage(`"well"`)
	return nil
}

func newAway(d time.Duration) (*Client, *away) {
	a := &away{until: time.Now().Add(d), begun: true, errors: []error{
		serviceerror.NewUnavailable("connection refused"), serviceerror.NewDeadlineExceeded("late"), context.DeadlineExceeded,
	}}
	return &Client{temporal: a}, a
}

func TestARunIsWaitedForWhileTemporalIsAway(t *testing.T) {
	t.Parallel()
	for _, watch := range []*watch{nil, {}} {
		synctest.Test(t, func(t *testing.T) {
			c, a := newAway(10 * time.Minute)
			run := executor.NewRun(newSource(t, oneTool(oneCall)).graphs[0], value.FromEntries(nil), 1)
			began := time.Now()
			out, err := c.followed(t.Context(), "id", run, watch)
			if took := time.Since(began); err != nil || out.Value.JSON() != `"well"` || took > 10*time.Minute+20*time.Second {
				t.Errorf("%v, %v after %s", out, err, took)
			}
			if a.asked.Load() > 1000 {
				t.Errorf("%d requests were made", a.asked.Load())
			}
			// Nobody waits longer than its caller.
			c, _ = newAway(time.Hour)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := c.followed(ctx, "id", run, watch); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a wait that was given up: %v", err)
			}
		})
	}
}

func TestARunWhoseStartWasGivenUpIsEndedWhenTemporalIsBack(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c, a := newAway(time.Minute)
			a.begun = begun
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := c.start(ctx, launch{ID: "id"}); !errors.Is(err, runs.ErrUnavailable) {
				t.Error(err)
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if n := c.undoing.count.Load(); begun && a.ended.Load() != 1 || !begun && a.ended.Load() != 0 || n != 0 {
				t.Errorf("%d requests ended the run, %d go on", a.ended.Load(), n)
			}
			// It ends some time, and there is a bound.
			c, a = newAway(time.Hour)
			c.undoing.count.Store(maxUndoing - 1)
			for range 3 {
				c.undo(t.Context(), "id")
			}
			if n := c.undoing.count.Load(); n != maxUndoing {
				t.Errorf("%d go on", n)
			}
			time.Sleep(undoFor + time.Minute)
			if n := c.undoing.count.Load(); n != maxUndoing-1 || a.ended.Load() != 0 {
				t.Errorf("%d go on", n)
			}
		})
	}
}

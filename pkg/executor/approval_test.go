package executor_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// approvals drives a run and answers every question with an action.
func approvals(t *testing.T, r *executor.Run, action string, call func() error) (asked []string, calls int, err error) {
	t.Helper()
	var made atomic.Int64
	var mu sync.Mutex
	l := executor.Local{Ask: func(_ context.Context, _ *executor.Run, q executor.Question) (value.Value, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q.Value.Get("message").Str())
		return value.FromEntries([]value.Entry{{Key: "action", Value: value.FromString(action)}}), nil
	}}
	err = l.Run(context.Background(), r, world{func(_ context.Context, args value.Value) (value.Value, error) {
		made.Add(1)
		return args, call()
	}})
	return asked, int(made.Load()), err
}

func TestCallIsMadeOnceItIsApproved(t *testing.T) {
	ok := func() error { return nil }
	needs := func(once bool) *graph.Graph {
		g := mapOf(t, 5, `{id: one, type: work, expr: "$item", next: end}`, graph.Spread{}, graph.Policy{}, false)
		g.Node("each").Bodies[0].Node("one").Approval = &graph.Approval{Once: once}
		return g
	}
	for _, test := range []struct {
		name         string
		once         bool
		action       string
		asked, calls int
		failure      string
	}{
		{"each call", false, "accept", 5, 5, ""},
		{"once", true, "accept", 1, 5, ""},
		{"refused", true, "decline", 1, 0, "the person chose to decline the call of tool"},
		{"closed", true, "cancel", 1, 0, "the person chose to cancel the call of tool"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(needs(test.once))
				asked, calls, err := approvals(t, r, test.action, ok)
				if len(asked) != test.asked || calls != test.calls {
					t.Errorf("asked %d times (%q), called %d times", len(asked), asked, calls)
				}
				if test.failure == "" && err != nil || test.failure != "" && (err == nil || !strings.Contains(err.Error(), test.failure)) {
					t.Errorf("ended with %v", err)
				}
				if err != nil && executor.FailureOf(err).Name != graph.FailDeclined {
					t.Errorf("the failure is %q", executor.FailureOf(err).Name)
				}
			})
		})
	}
}

func TestRetryOfAnApprovedCallDoesNotAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := calls(t, graph.Policy{Retry: []graph.RetryRule{{Errors: []string{"all"}, MaxAttempts: 3, InitialDelay: time.Second, MaxDelay: time.Second, Backoff: 1}}}, graph.Policy{})
		g.Node("one").Approval = &graph.Approval{}
		failures := 2
		asked, calls, err := approvals(t, newRun(g), "accept", func() error {
			if failures--; failures >= 0 {
				return errors.New("down")
			}
			return nil
		})
		if err != nil || len(asked) != 1 || calls != 4 || !strings.Contains(asked[0], `with "one"?`) {
			t.Errorf("asked %q, called %d times, %v", asked, calls, err)
		}
	})
}

func TestUnansweredApprovalEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := calls(t, graph.Policy{}, graph.Policy{})
		g.Node("one").Approval = &graph.Approval{}
		l := executor.Local{Ask: func(ctx context.Context, _ *executor.Run, _ executor.Question) (value.Value, error) {
			<-ctx.Done()
			return value.Undef, ctx.Err()
		}}
		began := time.Now()
		err := l.Run(context.Background(), newRun(g), patient)
		if err == nil || !strings.Contains(err.Error(), "nobody approved the call of tool") || time.Since(began) != 10*time.Minute {
			t.Errorf("ended after %v with %v", time.Since(began), err)
		}
	})
}

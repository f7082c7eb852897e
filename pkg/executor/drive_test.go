package executor_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// calls is a graph of two nodes in a row that call a tool, each within its time.
func calls(t testing.TB, one, two graph.Policy) *graph.Graph {
	return compile(t, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: one}
      - {id: one, type: work, expr: "'one'", next: two}
      - {id: two, type: work, expr: "'two'", next: exit}
      - {id: exit, type: exit}
`, map[string]setup{"one": {policy: one}, "two": {policy: two}})
}

// branches is a fork of an ask node and a work node.
func branches(t testing.TB, ask graph.Policy) *graph.Graph {
	return compile(t, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: both}
      - {id: both, type: fork, expr: "1", next: exit}
      - {id: exit, type: exit}
  - name: left
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: begin, type: entry, next: question}
      - {id: question, type: ask, expr: "'who?'", next: end}
      - {id: end, type: exit}
  - name: right
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: begin, type: entry, next: labour}
      - {id: labour, type: work, expr: "'work'", next: end}
      - {id: end, type: exit}
`, map[string]setup{
		"both":     {bodies: []string{"right", "left"}, spread: &graph.Spread{Names: []string{"right", "left"}}},
		"question": {policy: ask},
	})
}

func TestTimeThatEndsAfterATaskIsSettledFailsNothing(t *testing.T) {
	r := newRun(calls(t, graph.Policy{Timeout: time.Second}, graph.Policy{}))
	r.Begin(genesis)
	for _, id := range []string{"entry", "one", "two", "exit"} {
		task, ok := r.Take()
		if !ok || task.Node().ID != id {
			t.Fatalf("expected a task of %s, got %v", id, ok)
		}
		o := executor.Outcome{Output: graph.Output{Value: value.FromString(id)}, End: genesis}
		if id == "exit" {
			o.Output.Edge = graph.NoEdge
		}
		if rec, err := r.Settle(context.Background(), task, o); err != nil || rec.Err != nil {
			t.Fatalf("node %s: %v, %v", id, err, rec.Err)
		}
		if id == "one" {
			r.Advance(genesis.Add(2 * time.Second)) // while hooks are told
		}
		if _, err := r.Settle(context.Background(), task, o); err == nil {
			t.Errorf("the task of %s is settled twice", id)
		}
		r.Release(task)
	}
	if r.Result().JSON() != `"exit"` {
		t.Errorf("the run ended with %v", r.Err())
	}
}

func TestRetryOfACancelledRunDoesNotWait(t *testing.T) {
	retry := []graph.RetryRule{{MaxAttempts: 5, InitialDelay: time.Hour, MaxDelay: time.Hour}}
	r := newRun(calls(t, graph.Policy{Retry: retry}, graph.Policy{}))
	r.Begin(genesis)
	entry, _ := r.Take()
	_, _ = r.Settle(context.Background(), entry, executor.Outcome{End: genesis})
	r.Release(entry)
	task, _ := r.Take()
	rec, err := r.Settle(context.Background(), task, executor.Outcome{Err: &graph.Failure{Name: "broken"}, End: genesis})
	if err != nil || rec.Event != executor.Retried {
		t.Fatalf("%v, event %s", err, rec.Event)
	}
	r.Stop(context.Canceled)
	r.Release(task)
	drive(t, r, 1, genesis).finish()
	if end := last(r); !end.Equal(genesis) {
		t.Errorf("the run ended after %v", end.Sub(genesis))
	}
}

// lateTimers is a port whose clock stands. Its timers cannot be stopped.
type lateTimers struct {
	world
	timers []func()
}

func (p *lateTimers) Now() time.Time { return genesis }

func (p *lateTimers) AfterFunc(_ time.Duration, f func()) func() bool {
	p.timers = append(p.timers, f)
	return func() bool { return false }
}

func TestTimerThatWasReplacedDoesNotEndWhatTheNextOneIsFor(t *testing.T) {
	g := calls(t, graph.Policy{Timeout: time.Second}, graph.Policy{Timeout: 100 * time.Second})
	port := &lateTimers{}
	port.call = func(ctx context.Context, args value.Value) (value.Value, error) {
		if args.Str() == "two" {
			port.timers[len(port.timers)-2]() // that of node one
		}
		return args, ctx.Err()
	}
	r := newRun(g)
	if err := (&executor.Local{}).Run(context.Background(), r, port); err != nil {
		t.Error(err)
	}
}

func TestQuestionIsAskedWhileOthersWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		began := time.Now()
		l := executor.Local{Ask: func(ctx context.Context, _ *executor.Run, _ executor.Question) (value.Value, error) {
			if asked.Add(1) == 1 {
				if time.Since(began) != 0 {
					t.Errorf("asked after %v", time.Since(began))
				}
				<-ctx.Done()
				time.Sleep(time.Second) // and the next attempt asks
				return value.Undef, ctx.Err()
			}
			return value.FromString("me"), nil
		}}
		r := newRun(branches(t, graph.Policy{Timeout: 2 * time.Second, Retry: []graph.RetryRule{{MaxAttempts: 2}}}))
		err := l.Run(context.Background(), r, world{func(context.Context, value.Value) (value.Value, error) {
			time.Sleep(4 * time.Second)
			return value.FromString("done"), nil
		}})
		if err != nil || textOf(r.Result()) != `{"right":"done","left":"me"}` || time.Since(began) != 4*time.Second {
			t.Errorf("%v, %s after %v", err, textOf(r.Result()), time.Since(began))
		}
	})
}

func TestGateOfADecidedForkIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(mapOf(t, 3, oneCall, graph.Spread{}, graph.Policy{}, true))
		l := executor.Local{Gate: func(ctx context.Context, _ *executor.Run, t executor.Task) error { return ctx.Err() }}
		err := l.Run(context.Background(), r, world{func(ctx context.Context, args value.Value) (value.Value, error) {
			if args.JSON() == "2" {
				return value.Undef, &graph.Failure{Name: "broken", Message: "no two"}
			}
			<-ctx.Done()
			return value.Undef, ctx.Err()
		}})
		if err != nil || r.Result().Get("error").Get("name").Str() != "broken" {
			t.Errorf("%v, %s", err, textOf(r.Result()))
		}
	})
}

func TestQueueThatNeverEmptiesDoesNotGrow(t *testing.T) {
	var nodes strings.Builder
	nodes.WriteString(`{id: one, type: sleep, expr: "1000", next: n0}`)
	for i := range 300 {
		fmt.Fprintf(&nodes, "\n      - {id: n%d, type: transform, transform: {expr: '1'}, next: n%d}", i, i+1)
	}
	nodes.WriteString("\n      - {id: n300, type: transform, transform: {expr: '1'}, next: end}")
	r := newRun(mapOf(t, 3, nodes.String(), graph.Spread{}, graph.Policy{}, false))
	drive(t, r, 1, genesis).finish()
	if r.Err() != nil || r.Queued() > 16 {
		t.Errorf("%v; the queue has room for %d", r.Err(), r.Queued())
	}
}

func TestQuestionWithoutATimeoutIsAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := executor.Local{Ask: func(context.Context, *executor.Run, executor.Question) (value.Value, error) {
			if time.Since(began) != 0 {
				t.Errorf("asked after %v", time.Since(began))
			}
			return value.FromString("me"), nil
		}}
		r := newRun(branches(t, graph.Policy{}))
		if err := l.Run(context.Background(), r, world{func(context.Context, value.Value) (value.Value, error) {
			time.Sleep(time.Minute)
			return value.FromString("done"), nil
		}}); err != nil {
			t.Error(err)
		}
	})
}

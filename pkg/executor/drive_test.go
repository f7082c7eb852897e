package executor_test

import (
	"context"
	"errors"
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
      - {id: question, type: person, expr: "'who?'", next: end}
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
			r.Advance(genesis.Add(2 * time.Second)) // while hooks are called
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

// patient is a tool whose calls last until they are cancelled.
var patient = world{func(ctx context.Context, _ value.Value) (value.Value, error) {
	<-ctx.Done()
	return value.Undef, ctx.Err()
}}

func TestStopEndsARunThatWaits(t *testing.T) {
	people := executor.Local{Ask: func(ctx context.Context, _ *executor.Run, _ executor.Question) (value.Value, error) {
		<-ctx.Done()
		return value.Undef, ctx.Err()
	}}
	for name, g := range map[string]*graph.Graph{
		"a call":                calls(t, graph.Policy{}, graph.Policy{}),
		"a call in a body":      mapOf(t, 3, oneCall, graph.Spread{}, graph.Policy{}, true),
		"a call with a timeout": calls(t, graph.Policy{Timeout: time.Hour}, graph.Policy{}),
		"a sleep":               mapOf(t, 3, `{id: one, type: sleep, expr: "36e5", next: end}`, graph.Spread{}, graph.Policy{}, true),
		"a delay":               calls(t, graph.Policy{Timeout: time.Second, Retry: []graph.RetryRule{{MaxAttempts: 2, InitialDelay: time.Hour, MaxDelay: time.Hour}}}, graph.Policy{}),
		"a person":              mapOf(t, 3, `{id: one, type: person, expr: "$item", next: end}`, graph.Spread{}, graph.Policy{}, true),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				enough := errors.New("enough")
				r, began := newRun(g), time.Now()
				time.AfterFunc(time.Minute, func() { r.Stop(enough) })
				err := people.Run(context.Background(), r, patient)
				if took := time.Since(began); !errors.Is(err, enough) || took != time.Minute {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

func TestAnswerFromOutsideIsTakenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, began := newRun(branches(t, graph.Policy{})), time.Now()
		time.AfterFunc(time.Second, func() {
			if err := r.Answer(r.Questions()[0].ID, value.FromString("me"), nil, time.Now()); err != nil {
				t.Error(err)
			}
		})
		answered := time.Duration(0)
		l := executor.Local{
			Ask: func(ctx context.Context, _ *executor.Run, _ executor.Question) (value.Value, error) {
				<-ctx.Done()
				return value.Undef, ctx.Err()
			},
			Hooks: []executor.Hooks{{NodeDone: func(_ context.Context, _ *executor.Run, rec executor.Record) {
				if rec.Node == "question" {
					answered = time.Since(began)
				}
			}}},
		}
		err := l.Run(context.Background(), r, world{func(context.Context, value.Value) (value.Value, error) {
			time.Sleep(time.Minute)
			return value.FromString("done"), nil
		}})
		if err != nil || textOf(r.Result()) != `{"right":"done","left":"me"}` || answered != time.Second {
			t.Errorf("%v, %s; the answer was taken after %v", err, textOf(r.Result()), answered)
		}
	})
}

func TestQuestionEndsWithItsTimeThoughTheRunStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := branches(t, graph.Policy{Timeout: time.Minute})
		r, began := newRun(g), time.Now()
		work := world{func(context.Context, value.Value) (value.Value, error) { return value.FromString("done"), nil }}
		var parked executor.Local
		if err := parked.Run(context.Background(), r, work); !errors.Is(err, executor.ErrParked) {
			t.Fatalf("expected the run to be parked, got %v", err)
		}
		again, err := executor.Replay(g, r.Args(), r.Seed(), r.Records(0))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		for name, r := range map[string]*executor.Run{"the run": r, "its replay": again} {
			open := r.Questions()
			if len(open) != 1 || !open[0].Until.Equal(began.Add(time.Minute)) {
				t.Fatalf("%s: questions %+v", name, open)
			}
			if at, ok := r.Wake(); !ok || !at.Equal(open[0].Until) {
				t.Errorf("%s: the next timerEvent is %v, %v", name, at, ok)
			}
			if err := parked.Run(context.Background(), r, work); err == nil || !strings.Contains(err.Error(), "not done after 60000 ms") {
				t.Errorf("%s ended with %v", name, err)
			}
		}
	})
}

package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// world is a port by the clock of the process, whose calls are those of virtual.
type world struct {
	call func(ctx context.Context, args value.Value) (value.Value, error)
}

func (world) Now() time.Time { return time.Now() }

func (world) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

func (world) Processor() expr.Processor { return nil }

func (w world) CallTool(ctx context.Context, _ *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
	reply, err := w.call(ctx, args)
	return graph.ToolResult{Reply: reply, Attempts: 1}, err
}

type taskKey struct{}

// watch puts the task into the context of a call, and counts.
type watch struct {
	started, done, runs atomic.Int64
	attempts            sync.Map // by id of a task
}

func (w *watch) hooks() executor.Hooks {
	return executor.Hooks{
		RunStart: func(ctx context.Context, _ *executor.Run) (context.Context, error) {
			w.runs.Add(1)
			return ctx, nil
		},
		RunDone: func(context.Context, *executor.Run, error) { w.runs.Add(-1) },
		NodeStart: func(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
			w.started.Add(1)
			return context.WithValue(ctx, taskKey{}, t), nil
		},
		NodeDone: func(context.Context, *executor.Run, executor.Record) { w.done.Add(1) },
	}
}

// gate notes the attempts of tasks.
func (w *watch) gate(_ context.Context, _ *executor.Run, t executor.Task) error {
	w.attempts.Store(t.ID(), t.Attempt())
	return nil
}

// simulated answers as virtual does, after a while.
func (w *watch) simulated(seed uint64) func(context.Context, value.Value) (value.Value, error) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 5))
	return func(ctx context.Context, _ value.Value) (value.Value, error) {
		t := ctx.Value(taskKey{}).(executor.Task)
		try, _ := w.attempts.Load(t.ID())
		c := call{id: t.ID(), try: try.(int)}
		if c.outcome() == hangs {
			<-ctx.Done()
			return value.Undef, errors.New("hung")
		}
		mu.Lock()
		latency := time.Duration(random.Int64N(int64(longest)))
		mu.Unlock()
		select {
		case <-time.After(latency):
		case <-ctx.Done():
			return value.Undef, ctx.Err()
		}
		if c.outcome() == breaks {
			return value.Undef, &graph.Failure{Name: "broken", Code: "503", Message: fmt.Sprint("it broke ", c.try)}
		}
		return value.FromString(fmt.Sprint(c.id, " ", c.try)), nil
	}
}

func TestLocalRunsAreThoseOfAnyDriver(t *testing.T) {
	for seed := range uint64(60) {
		g := generate(t, seed, false)
		want := newRun(g)
		drive(t, want, seed, genesis).finish()
		synctest.Test(t, func(t *testing.T) {
			var w watch
			l := executor.Local{Hooks: []executor.Hooks{w.hooks()}, Gate: w.gate, Ask: func(ctx context.Context, _ *executor.Run, q executor.Question) (value.Value, error) {
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
				}
				return answerTo(q), nil
			}}
			r := newRun(g)
			err := l.Run(context.Background(), r, world{w.simulated(seed)})
			if (err == nil) != (want.Err() == nil) || story(r) != story(want) {
				t.Fatalf("graph %d: %v, %s", seed, err, difference(strings.Split(story(r), "\n"), strings.Split(story(want), "\n")))
			}
			if w.started.Load() != w.done.Load() || w.runs.Load() != 0 || w.started.Load() == 0 {
				t.Errorf("graph %d: hooks of %d executions were started, of %d done", seed, w.started.Load(), w.done.Load())
			}
		})
	}
}

func TestLocalRunsOfAnyKindEndWithTheirHooks(t *testing.T) {
	for seed := range uint64(60) {
		g := generate(t, seed, true)
		synctest.Test(t, func(t *testing.T) {
			var w watch
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if seed%3 == 0 {
				time.AfterFunc(time.Duration(seed)*time.Millisecond, cancel)
			}
			l := executor.Local{Hooks: []executor.Hooks{w.hooks()}, Gate: w.gate}
			r, call := newRun(g), w.simulated(seed)
			err := l.Run(ctx, r, world{call})
			for n := 0; errors.Is(err, executor.ErrParked); n++ {
				time.Sleep(time.Hour)
				if len(r.Questions()) == 0 {
					t.Fatalf("graph %d is parked without a question: %s\n%s", seed, r.Dump(), strings.Join(log(r), "\n"))
				}
				q := r.Questions()[0]
				if err := r.Answer(q.ID, value.FromString(q.ID), nil, time.Now()); err != nil {
					t.Fatal(err)
				}
				err = l.Run(ctx, r, world{call})
			}
			if !r.Done() || w.started.Load() != w.done.Load() || w.runs.Load() != 0 {
				t.Errorf("graph %d: done %v, %v; %d executions started, %d done", seed, r.Done(), err, w.started.Load(), w.done.Load())
			}
			replay(t, g, log(r))
		})
	}
}

// mapOf is a graph that maps over items with one node.
func mapOf(t testing.TB, items int, node string, spread graph.Spread, policy graph.Policy, catches bool) *graph.Graph {
	spread.Each, spread.As, spread.At = true, "item", "at"
	catch := ""
	if catches {
		catch = ", catch: exit"
	}
	return compile(t, fmt.Sprintf(`
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: each}
      - {id: each, type: fork, expr: "[1..%d]", next: exit%s}
      - {id: exit, type: exit}
  - name: body
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: begin, type: entry, next: one}
      - %s
      - {id: end, type: exit}
`, items, catch, node), map[string]setup{"each": {bodies: []string{"body"}, spread: &spread, policy: policy, catches: catches}})
}

const (
	oneCall      = `{id: one, type: work, expr: "$item", next: end}`
	oneTransform = `{id: one, type: transform, transform: {expr: "$item * 2"}, next: end}`
)

func TestBodiesCallSideBySideWithinTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		g := mapOf(t, 100, oneCall, graph.Spread{Limit: 10}, graph.Policy{}, false)
		r, began := newRun(g), time.Now()
		err := (&executor.Local{}).Run(context.Background(), r, world{func(_ context.Context, args value.Value) (value.Value, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(100 * time.Millisecond)
			now.Add(-1)
			return args, nil
		}})
		if err != nil || r.Result().Len() != 100 || r.Result().Elems()[99].JSON() != "100" {
			t.Fatalf("%v, %s", err, textOf(r.Result()))
		}
		if most.Load() != 10 || time.Since(began) != time.Second {
			t.Errorf("%d calls at the same time, %v in all", most.Load(), time.Since(began))
		}
	})
}

func TestFailureInABodyCancelsWhatRunsBesideIt(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var cancelled atomic.Int64
			g := mapOf(t, 50, oneCall, graph.Spread{}, graph.Policy{}, true)
			r, began := newRun(g), time.Now()
			err := (&executor.Local{}).Run(context.Background(), r, world{func(ctx context.Context, args value.Value) (value.Value, error) {
				if args.JSON() == "7" {
					time.Sleep(time.Second)
					return value.Undef, &graph.Failure{Name: "broken", Message: "no seven"}
				}
				<-ctx.Done()
				cancelled.Add(1)
				if deaf {
					time.Sleep(time.Hour)
				}
				return value.Undef, ctx.Err()
			}})
			want := map[bool]time.Duration{false: time.Second, true: 3 * time.Second}[deaf]
			if took := time.Since(began); err != nil || took != want || cancelled.Load() != 49 {
				t.Errorf("deaf %v: %v after %v, %d cancelled", deaf, err, took, cancelled.Load())
			}
			if e := r.Result().Get("error"); e.Get("name").Str() != "broken" || e.Get("path").Str() != "each[6].one" || e.Get("message").Str() != "no seven" {
				t.Errorf("the failure is %s", textOf(r.Result()))
			}
			time.Sleep(2 * time.Hour) // what is deaf brings its answer
			if again := replay(t, g, log(r)); textOf(again.Result()) != textOf(r.Result()) {
				t.Errorf("replayed: %s", textOf(again.Result()))
			}
		})
	}
}

func TestTimeLimitEndsARunWithBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := mapOf(t, 20, oneCall, graph.Spread{}, graph.Policy{}, true)
		g.Limits.MaxExecutionTime = time.Second
		var w watch
		r, began := newRun(g), time.Now()
		err := (&executor.Local{Hooks: []executor.Hooks{w.hooks()}}).Run(context.Background(), r, world{func(ctx context.Context, _ value.Value) (value.Value, error) {
			<-ctx.Done()
			return value.Undef, ctx.Err()
		}})
		var limit *executor.LimitError
		if !errors.As(err, &limit) || time.Since(began) != time.Second || !strings.Contains(err.Error(), `failed in node "each" (fork)`) {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if w.started.Load() != w.done.Load() {
			t.Errorf("%d executions started, %d done", w.started.Load(), w.done.Load())
		}
	})
}

func TestRunIsParkedWhileOnlyAPersonIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := mapOf(t, 3, `{id: one, type: person, expr: "$item", next: end}`, graph.Spread{}, graph.Policy{Timeout: time.Second}, false)
		r := newRun(g)
		l, w := &executor.Local{}, world{}
		for want := 3; want > 0; want-- {
			if err := l.Run(context.Background(), r, w); !errors.Is(err, executor.ErrParked) || len(r.Questions()) != want {
				t.Fatalf("%v with %d questions", err, len(r.Questions()))
			}
			time.Sleep(24 * time.Hour) // neither the limit of the run nor that of the node counts it
			q := r.Questions()[0]
			r = replay(t, g, log(r)) // a process that ends meanwhile changes nothing
			if err := r.Answer(q.ID, value.FromString("yes to "+q.Path), nil, time.Now()); err != nil {
				t.Fatal(err)
			}
			if err := r.Answer(q.ID, value.NullValue, nil, time.Now()); !errors.Is(err, executor.ErrStale) {
				t.Errorf("a question is answered twice: %v", err)
			}
		}
		if err := l.Run(context.Background(), r, w); err != nil || r.Result().JSON() != `["yes to each[0].one","yes to each[1].one","yes to each[2].one"]` {
			t.Errorf("%v, %s", err, textOf(r.Result()))
		}
	})
}

func TestResultsOfManyBodiesOutliveTheirRecords(t *testing.T) {
	g := mapOf(t, 30_000, oneTransform, graph.Spread{Limit: 10}, graph.Policy{}, false)
	g.Limits.MaxNodeExecutions = 10
	r := newRun(g)
	var half []string
	l := &executor.Local{Hooks: []executor.Hooks{{NodeDone: func(_ context.Context, r *executor.Run, rec executor.Record) {
		if rec.Path == "each[20000]" && rec.Node == "one" {
			half = log(r)
		}
	}}}}
	if err := l.Run(context.Background(), r, world{}); err != nil || r.Result().Len() != 30_000 || r.Result().Elems()[29_999].JSON() != "60000" {
		t.Fatalf("%v, %d results", err, r.Result().Len())
	}
	if n := len(log(r)); n > 13_000 {
		t.Errorf("%d records are kept", n)
	}
	again := replay(t, g, half)
	if err := l.Run(context.Background(), again, world{}); err != nil || textOf(again.Result()) != textOf(r.Result()) {
		t.Errorf("gone on in the middle: %v", err)
	}
}

func TestPanicInABodyEndsTheRun(t *testing.T) {
	g := mapOf(t, 5, oneCall, graph.Spread{}, graph.Policy{Retry: []graph.RetryRule{{Errors: []string{"all"}, MaxAttempts: 9}}}, true)
	r := newRun(g)
	err := (&executor.Local{}).Run(context.Background(), r, world{func(context.Context, value.Value) (value.Value, error) { panic("boom") }})
	var p *executor.PanicError
	if !errors.As(err, &p) || !r.Done() {
		t.Errorf("got %v", err)
	}
}

// BenchmarkReplay shows what a record of a map costs whose bodies are all under
// way; it must not grow with their number.
func BenchmarkReplay(b *testing.B) {
	for _, items := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			g := mapOf(b, items, `{id: one, type: sleep, expr: "1000 + $at", next: end}`, graph.Spread{}, graph.Policy{}, false)
			r := newRun(g)
			d := drive(b, r, 1, genesis)
			for r.Begin(genesis); r.Ready(); {
				task, _ := r.Take()
				d.perform(task)
			}
			records := slices.Collect(r.Records(0))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := executor.Replay(g, r.Args(), r.Seed(), slices.Values(records)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(records)), "ns/record")
		})
	}
}

func BenchmarkMap(b *testing.B) {
	for _, items := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			g := mapOf(b, items, oneTransform, graph.Spread{Limit: 10}, graph.Policy{}, false)
			b.ReportAllocs()
			for b.Loop() {
				if err := (&executor.Local{}).Run(context.Background(), newRun(g), world{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*items), "ns/item")
		})
	}
}

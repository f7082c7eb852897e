package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// stepFunc is a step made of a function.
type stepFunc func(context.Context, *graph.Input) (graph.Action, error)

func (f stepFunc) Begin(ctx context.Context, in *graph.Input) (graph.Action, error) {
	return f(ctx, in)
}

// withStep returns a graph of entry, the step, and exit.
func withStep(t testing.TB, limits string, step stepFunc) *graph.Graph {
	t.Helper()
	g := build(t, limits+chain(1)).Graphs[0]
	g.Node("n0").Step = step
	return g
}

// chain returns a configuration with n transform nodes in a row.
func chain(n int) string {
	var b strings.Builder
	b.WriteString(`
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: n0}
`)
	for i := range n {
		next := fmt.Sprintf("n%d", i+1)
		if i == n-1 {
			next = "exit"
		}
		fmt.Fprintf(&b, "      - {id: n%d, type: transform, transform: {expr: \"%d\"}, next: %s}\n", i, i, next)
	}
	b.WriteString("      - {id: exit, type: exit}\n")
	return b.String()
}

func run(ctx context.Context, t testing.TB, g *graph.Graph, hooks ...executor.Hooks) (*executor.Run, error) {
	r := executor.NewRun(g, value.FromEntries(nil), 1)
	return r, (&executor.Local{Hooks: hooks}).Run(ctx, r, &script{t: t})
}

func TestPanicInAStepIsAnErrorOfItsNodeAndLogged(t *testing.T) {
	g := withStep(t, "", func(context.Context, *graph.Input) (graph.Action, error) { panic("boom") })
	var log strings.Builder
	r := executor.NewRun(g, value.FromEntries(nil), 1)
	e := &executor.Local{Log: slog.New(slog.NewTextHandler(&log, nil))}
	err := e.Run(context.Background(), r, &script{t: t})
	var failed *executor.NodeError
	if !errors.As(err, &failed) || failed.Node != "n0" || !strings.Contains(err.Error(), "internal error: boom") {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(log.String(), "node=n0 panic=boom") || !strings.Contains(log.String(), "executor_test.go") {
		t.Errorf("the log is %s", log.String())
	}
	if h := r.History(); len(h) != 2 || h[1].Err == nil || !r.Done() || !r.Result().IsUndefined() {
		t.Errorf("history %v", h)
	}
	if _, err := run(context.Background(), t, g); !errors.As(err, &failed) {
		t.Errorf("without a log: %v", err)
	}
}

func TestEdgeThatTheNodeDidNotDeclareIsRefused(t *testing.T) {
	for _, edge := range []int{-2, graph.NoEdge, 1, 99} {
		g := withStep(t, "", func(context.Context, *graph.Input) (graph.Action, error) {
			return graph.Action{Value: value.True, Edge: edge}, nil
		})
		if _, err := run(context.Background(), t, g); err == nil || !strings.Contains(err.Error(), `node "n0" (transform)`) {
			t.Errorf("edge %d: got %v", edge, err)
		}
	}
}

func TestErrorOfANodeNamesToolNodeTypeCallPlaceAndCause(t *testing.T) {
	g := build(t, `
version: "1.0"
server: {name: test, version: "1"}
mcpServers: {files: {command: npx}}
tools:
  - name: lister
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: list}
      - {id: list, type: mcp, server: files, tool: list_directory, args: {path: {expr: $.entry.at}}, next: exit}
      - {id: exit, type: exit}
`).Graphs[0]
	at := strings.Repeat("long/", 100)
	r := executor.NewRun(g, value.FromEntries([]value.Entry{{Key: "at", Value: value.FromString(at)}}), 1)
	err := (&executor.Local{}).Run(context.Background(), r, &script{t: t, calls: []string{
		"files list_directory " + `{"path":"` + at + `"}` + " => error: the process exited\nits last lines on stderr:\n  | out of cheese",
	}})
	for _, want := range []string{"lister", `"list"`, "mcp", "files", "list_directory", "test.yaml:11:9", `arguments {"path":"long/long/`, "/l … (cut)", "the process exited", "out of cheese"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	var failed *executor.NodeError
	if !errors.As(err, &failed) {
		t.Fatalf("got %T", err)
	}
	if d := failed.Diagnostic(); d.File != "test.yaml" || d.Pos.Line != 11 || !strings.Contains(d.Message, "the process exited") {
		t.Errorf("diagnostic %+v", d)
	}
}

func TestTimeLimitEndsAStepThatIsUnderWay(t *testing.T) {
	g := withStep(t, "executionLimits: {maxExecutionTimeMs: 20}", func(ctx context.Context, _ *graph.Input) (graph.Action, error) {
		<-ctx.Done()
		return graph.Action{}, fmt.Errorf("interrupted: %w", ctx.Err())
	})
	_, err := run(context.Background(), t, g)
	var limit *executor.LimitError
	if !errors.As(err, &limit) || limit.MaxTime != 20*time.Millisecond || limit.Elapsed < limit.MaxTime {
		t.Fatalf("got %v", err)
	}
	if want := "Execution limit exceeded: maximum execution time (20ms) reached. Elapsed time: 20ms"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want it to contain %q", err, want)
	}
}

// clock is a port whose time passes by a step each time it is read.
type clock struct {
	script
	now  time.Time
	step time.Duration
}

func (c *clock) Now() time.Time { c.now = c.now.Add(c.step); return c.now }

func TestTimeLimitIsCheckedBeforeEachNode(t *testing.T) {
	g := build(t, "executionLimits: {maxExecutionTimeMs: 60000}"+chain(100)).Graphs[0]
	r := executor.NewRun(g, value.FromEntries(nil), 1)
	err := (&executor.Local{}).Run(context.Background(), r, &clock{script: script{t: t}, now: time.Unix(0, 0), step: time.Second})
	if want := "Execution limit exceeded: maximum execution time (60000ms) reached. Elapsed time: 60000ms"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want it to contain %q", err, want)
	}
	if r.Len() != 59 {
		t.Errorf("%d nodes ran", r.Len())
	}
}

func TestLimitOfExecutionsHasItsExactMessage(t *testing.T) {
	g := build(t, "executionLimits: {maxNodeExecutions: 10}"+chain(9)).Graphs[0]
	_, err := run(context.Background(), t, g)
	var limit *executor.LimitError
	if !errors.As(err, &limit) || limit.Error() != "Execution limit exceeded: maximum node executions (10) reached. Current execution count: 10" {
		t.Errorf("got %v", err)
	}
	g = build(t, "executionLimits: {maxNodeExecutions: 11}"+chain(9)).Graphs[0]
	if _, err := run(context.Background(), t, g); err != nil {
		t.Errorf("eleven steps with a limit of eleven: %v", err)
	}
}

func TestCancelledRunEndsWithTheCauseOfItsContext(t *testing.T) {
	cause := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(context.Background())
	g := withStep(t, "", func(ctx context.Context, _ *graph.Input) (graph.Action, error) {
		cancel(cause)
		<-ctx.Done()
		return graph.Action{}, errors.New("something else")
	})
	if _, err := run(ctx, t, g); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	r, err := run(ctx, t, g)
	if !errors.Is(err, cause) || r.Len() != 0 {
		t.Errorf("a run with a cancelled context: %v after %d nodes", err, r.Len())
	}
}

type key string

func TestHooksAreCalledInOrderAndReverseOrder(t *testing.T) {
	var calls []string
	hook := func(name string) executor.Hooks {
		return executor.Hooks{
			RunStart: func(ctx context.Context, _ *executor.Run) (context.Context, error) {
				calls = append(calls, name+" run")
				return context.WithValue(ctx, key(name), name), nil
			},
			RunDone: func(ctx context.Context, _ *executor.Run, err error) {
				calls = append(calls, fmt.Sprintf("%s ran %v %v", name, err, ctx.Value(key(name))))
			},
			NodeStart: func(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
				calls = append(calls, fmt.Sprintf("%s %s %d", name, t.Node().ID, t.Execution()))
				return context.WithValue(ctx, key("node"), t.Node().ID), nil
			},
			NodeDone: func(ctx context.Context, _ *executor.Run, rec executor.Record) {
				calls = append(calls, fmt.Sprintf("%s done %s %v", name, rec.Node, ctx.Value(key("node"))))
			},
		}
	}
	g := build(t, chain(1)).Graphs[0]
	seen := ""
	g.Node("n0").Step = stepFunc(func(ctx context.Context, _ *graph.Input) (graph.Action, error) {
		seen = fmt.Sprintln(ctx.Value(key("a")), ctx.Value(key("b")), ctx.Value(key("node")))
		return graph.Action{}, nil
	})
	if _, err := run(context.Background(), t, g, hook("a"), executor.Hooks{}, hook("b")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a run", "b run",
		"a entry 0", "b entry 0", "b done entry entry", "a done entry entry",
		"a n0 1", "b n0 1", "b done n0 n0", "a done n0 n0",
		"a exit 2", "b exit 2", "b done exit exit", "a done exit exit",
		"b ran <nil> b", "a ran <nil> a",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got %q\nwant %q", calls, want)
	}
	if seen != "a b n0\n" {
		t.Errorf("the step saw %q", seen)
	}
}

func TestHookThatRefusesStillLetsTheOthersFinish(t *testing.T) {
	refusal := errors.New("not today")
	var done []string
	watch := executor.Hooks{
		RunDone: func(_ context.Context, _ *executor.Run, err error) {
			done = append(done, fmt.Sprint("run ", err != nil))
		},
		NodeDone: func(_ context.Context, _ *executor.Run, rec executor.Record) {
			done = append(done, fmt.Sprint(rec.Node, " ", rec.Err != nil))
		},
	}
	never := executor.Hooks{
		RunDone:  func(context.Context, *executor.Run, error) { done = append(done, "never") },
		NodeDone: func(context.Context, *executor.Run, executor.Record) { done = append(done, "never") },
	}
	atRun, atNode := never, executor.Hooks{}
	atRun.RunStart = func(ctx context.Context, _ *executor.Run) (context.Context, error) { return nil, refusal }
	atNode.NodeStart = func(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
		if t.Node().ID == "n0" {
			return nil, refusal
		}
		return ctx, nil
	}
	g := build(t, chain(1)).Graphs[0]
	if _, err := run(context.Background(), t, g, watch, atRun); err != refusal || !slices.Equal(done, []string{"run true"}) {
		t.Errorf("at the run: %v, %q", err, done)
	}
	done = nil
	r, err := run(context.Background(), t, g, watch, atNode)
	var failed *executor.NodeError
	if !errors.As(err, &failed) || !errors.Is(err, refusal) || failed.Node != "n0" || r.Len() != 2 {
		t.Errorf("at a node: %v", err)
	}
	if want := []string{"entry false", "n0 true", "run true"}; !slices.Equal(done, want) {
		t.Errorf("done hooks: %q, want %q", done, want)
	}
}

func TestContextAtIsWhatTheExecutionSaw(t *testing.T) {
	g := build(t, chain(3)).Graphs[0]
	r, err := run(context.Background(), t, g)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{}`,
		`{"entry":{}}`,
		`{"n0":0,"entry":{}}`,
		`{"n1":1,"n0":0,"entry":{}}`,
		`{"n2":2,"n1":1,"n0":0,"entry":{}}`,
		`{"exit":2,"n2":2,"n1":1,"n0":0,"entry":{}}`,
		`{"exit":2,"n2":2,"n1":1,"n0":0,"entry":{}}`,
	} {
		if got := r.ContextAt(i).JSON(); got != want {
			t.Errorf("ContextAt(%d) = %s, want %s", i, got, want)
		}
	}
	if got := r.ContextAt(-1).JSON(); got != "{}" {
		t.Errorf("ContextAt(-1) = %s", got)
	}
}

func TestContextAtTellsExecutionsOfOneNodeApart(t *testing.T) {
	g := loop(t, 50)
	r, err := run(context.Background(), t, g)
	if err != nil {
		t.Fatal(err)
	}
	var last value.Value
	for i, rec := range r.History() {
		got := r.ContextAt(i).Get("step")
		if !value.Equal(got, last) {
			t.Fatalf("ContextAt(%d).step = %s, want %s", i, show(got), show(last))
		}
		if rec.Node == "step" {
			last = rec.Output
		}
	}
}

// loop returns a graph that goes round n times.
func loop(t testing.TB, n int) *graph.Graph {
	t.Helper()
	return build(t, fmt.Sprintf(`
version: "1.0"
server: {name: test, version: "1"}
executionLimits: {maxNodeExecutions: %d}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: step}
      - id: step
        type: transform
        transform: {expr: '$executionCount("step")'}
        next: read
      - id: read
        type: transform
        transform: {expr: "$previousNode(2)"}
        next: old
      - id: old
        type: transform
        transform: {expr: '$nodeExecution("step", -1)'}
        next: again
      - id: again
        type: switch
        conditions: [{rule: {"<": [{var: step}, %d]}, next: step}]
        next: exit
      - {id: exit, type: exit}
`, 4*n+2, n-1)).Graphs[0]
}

func TestOneGraphServesManyRunsAtOnce(t *testing.T) {
	g := loop(t, 20)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			r := executor.NewRun(g, value.FromEntries(nil), 1)
			if err := (&executor.Local{}).Run(context.Background(), r, &script{t: t}); err != nil || r.Len() != 20*4+2 {
				t.Errorf("%d executions, error %v", r.Len(), err)
			}
		})
	}
	wg.Wait()
}

func TestRunCanBeReadWhileItGoesOn(t *testing.T) {
	g := loop(t, 200)
	r := executor.NewRun(g, value.FromEntries(nil), 1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				r.ContextAt(r.Len() / 2).JSON()
				_ = r.History()
				_ = r.Done()
			}
		}
	})
	if err := (&executor.Local{}).Run(context.Background(), r, &script{t: t}); err != nil {
		t.Error(err)
	}
	close(stop)
	wg.Wait()
}

func TestRunCanBeDrivenByHand(t *testing.T) {
	g := build(t, chain(1)).Graphs[0]
	r := executor.NewRun(g, value.FromEntries(nil), 1)
	r.Begin(time.Unix(1, 0))
	for i, want := range []string{"entry", "n0", "exit"} {
		task, ok := r.Take()
		if !ok || task.Node().ID != want || task.Execution() != i || task.Attempt() != 1 || task.Path() != want {
			t.Fatalf("Take gives %v, %v", task, ok)
		}
		if _, ok := r.Take(); ok {
			t.Fatal("one task was given twice")
		}
		edge := 0
		if task.Node() == g.Exit {
			edge = graph.NoEdge
		}
		out := executor.Outcome{Output: graph.Output{Value: value.FromString(want), Edge: edge}, End: time.Unix(int64(i+2), 0)}
		rec, err := r.Settle(context.Background(), task, out)
		if err != nil || rec.Event != executor.Done || rec.Node != want || rec.Index != i || !rec.Start.Equal(time.Unix(int64(i+1), 0)) || !rec.End.Equal(out.End) {
			t.Fatalf("Settle gives %+v, %v", rec, err)
		}
		r.Release(task)
		if _, err := r.Settle(context.Background(), task, out); !errors.Is(err, executor.ErrStale) {
			t.Errorf("a task is settled twice: %v", err)
		}
	}
	if got := r.Result().JSON(); !r.Done() || got != `"exit"` {
		t.Errorf("done %v, result %s", r.Done(), got)
	}
	if task, ok := r.Take(); ok {
		t.Errorf("Take goes on after the end, with %v", task)
	}
}

// endless never ends by itself: the only ways out are the bounds.
const endless = `($f := function($n) { $f($n + 1) }; $f(0))`

func TestEndlessExpressionEndsAtTheTimeLimit(t *testing.T) {
	source := strings.Replace(chain(1), `{expr: "0"}`, "{expr: '"+endless+"'}", 1)
	g := build(t, "executionLimits: {maxExecutionTimeMs: 30}"+source).Graphs[0]
	_, err := run(context.Background(), t, g)
	var limit *executor.LimitError
	if !errors.As(err, &limit) || limit.MaxTime != 30*time.Millisecond {
		t.Errorf("got %v", err)
	}
}

func TestCancellationEndsAnExpressionThatIsUnderWay(t *testing.T) {
	source := strings.Replace(chain(1), `{expr: "0"}`, "{expr: '"+endless+"'}", 1)
	g := build(t, source).Graphs[0]
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := run(ctx, t, g); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// replies is a port that answers every call alike.
type replies struct {
	script
	reply value.Value
}

func (r *replies) CallTool(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	return graph.ToolResult{Reply: r.reply, Attempts: 3, FromCache: true}, nil
}

const passOn = `
version: "1.0"
server: {name: test, version: "1"}
mcpServers: {s: {command: none}}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: read}
      - {id: read, type: mcp, server: s, tool: read, next: pass}
      - {id: pass, type: transform, transform: {expr: $.read}, next: exit}
      - {id: exit, type: exit}
`

func TestFiveMegabytesTravelThroughMCPAndTransform(t *testing.T) {
	text := strings.Repeat("mcpgraph ", 5<<20/9)
	g := build(t, passOn).Graphs[0]
	for _, want := range []value.Value{
		value.FromString(text),
		value.FromArray([]value.Value{value.FromString(text), value.FromNumberText("12345678901234567890")}),
	} {
		content := want.Str()
		if want.Kind() == value.Array {
			content = want.JSON()
		}
		block := value.FromEntries([]value.Entry{
			{Key: "type", Value: value.FromString("text")}, {Key: "text", Value: value.FromString(content)},
		})
		reply := value.FromEntries([]value.Entry{{Key: "content", Value: value.FromArray([]value.Value{block})}})
		r := executor.NewRun(g, value.FromEntries(nil), 1)
		if err := (&executor.Local{}).Run(context.Background(), r, &replies{script{t: t}, reply}); err != nil {
			t.Fatal(err)
		}
		if got := r.Result().JSON(); got != want.JSON() {
			t.Errorf("%d bytes went in, %d came out", len(want.JSON()), len(got))
		}
		if rec := r.History()[1]; rec.Attempts != 3 || !rec.FromCache {
			t.Errorf("the record does not say how the call went: %+v", rec)
		}
	}
}

func TestCostOfATurnDoesNotGrowWithTheHistory(t *testing.T) {
	cost := func(turns int) float64 {
		g, port := loop(t, turns), &script{}
		return testing.AllocsPerRun(1, func() {
			if err := (&executor.Local{}).Run(context.Background(), executor.NewRun(g, value.FromEntries(nil), 1), port); err != nil {
				t.Error(err)
			}
		}) / float64(turns)
	}
	if few, many := cost(100), cost(10_000); many > 1.02*few {
		t.Errorf("%.2f allocations a turn in 100 turns, %.2f in 10,000", few, many)
	}
}

func TestLogOfARuleNamesToolAndNode(t *testing.T) {
	g := build(t, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: pick}
      - {id: pick, type: switch, conditions: [{rule: {log: {var: entry.a}}, next: exit}], next: exit}
      - {id: exit, type: exit}
`).Graphs[0]
	var out strings.Builder
	args, _ := value.Parse(`{"a":{"b":1}}`)
	e := &executor.Local{Log: slog.New(slog.NewTextHandler(&out, nil))}
	if err := e.Run(context.Background(), executor.NewRun(g, args, 1), &script{t: t}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tool=t", "node=pick", `{\"b\":1}`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in %s", want, out.String())
		}
	}
}

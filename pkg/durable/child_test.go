package durable

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// twoTools is a file with a tool of these nodes, which begin at "a", and a tool "inner"
// of others.
func twoTools(nodes, inner string) string {
	return strings.TrimRight(oneTool(nodes), "\n") + `
  - name: inner
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
` + inner + `
      - {id: exit, type: exit}
`
}

const detachedCall = `      - {id: a, type: call, tool: inner, args: {n: 1}, detached: true, next: exit}`

func TestChildrenCountTheirOwnTime(t *testing.T) {
	t.Parallel()
	// Each call takes 200 seconds, and a run may take 300.
	source := newSource(t, twoTools(`      - {id: a, type: map, items: [1, 2, 3], maxConcurrency: 1, nodes: [{id: one, type: call, tool: inner, detached: true}], next: exit}`,
		`      - {id: a, type: wait, ms: 200000, next: exit}`))
	if run := simulated(t, source, &request{Tool: "t", Seed: 7}, nil); run.Err() != nil {
		t.Error(run.Err())
	}
	source = newSource(t, twoTools(detachedCall, `      - {id: a, type: wait, ms: 400000, next: exit}`))
	if run := simulated(t, source, &request{Tool: "t", Seed: 7}, nil); run.Err() == nil || executor.FailureOf(run.Err()).Name != graph.FailLimit {
		t.Errorf("a child that takes too long ends with %v", run.Err())
	}
}

func TestTimeoutsOfDetachedCallsCountAllTime(t *testing.T) {
	t.Parallel()
	source := newSource(t, twoTools(`      - {id: a, type: call, tool: inner, detached: true, timeoutMs: 5000, retry: {maxAttempts: 2, initialDelayMs: 10}, catch: {errors: [timeout], next: b}, next: exit}
      - {id: b, type: transform, transform: {expr: '$.a.error.message'}, next: exit}`,
		`      - {id: a, type: ask, message: "Well?", next: exit}`))
	run := simulated(t, source, &request{Tool: "t", Seed: 7}, nil)
	if got := run.Result().JSON(); got != `"not done after 5000 ms (timeoutMs)"` {
		t.Errorf("%s, %v", got, run.Err())
	}
}

func TestChildrenTakeTheLimitsThatAreLeft(t *testing.T) {
	t.Parallel()
	limited := func(total, items int) string {
		return strings.Replace(twoTools(`      - {id: a, type: map, items: {expr: "[1..$.entry.items]"}, nodes: [{id: one, type: call, tool: inner, detached: true}], next: exit}`,
			`      - {id: a, type: transform, transform: {expr: "1"}, next: exit}`),
			"tools:", "executionLimits: {maxTotalExecutions: "+value.FromInt(int64(total)).JSON()+"}\ntools:", 1)
	}
	for _, test := range []struct {
		name         string
		total, items int
		fails        bool
	}{
		// Two executions and, for each item, one and three of its child.
		{"enough", 200, 10, false},
		{"too few for all", 40, 10, true},
		{"too few for one", 7, 2, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			source := newSource(t, limited(test.total, test.items))
			run := simulated(t, source, &request{Tool: "t", Seed: 7, Args: []byte(`{"items": ` + value.FromInt(int64(test.items)).JSON() + `}`)}, nil)
			failed := run.Err() != nil && executor.FailureOf(run.Err()).Name == graph.FailLimit
			if failed != test.fails {
				t.Errorf("the run ended with %v", run.Err())
			}
		})
	}
}

func TestBranchesWithManyChildrenShareWhatIsLeft(t *testing.T) {
	t.Parallel()
	source := newSource(t, twoTools(`      - {id: a, type: parallel, branches: {slow: [{id: one, type: call, tool: inner, detached: true}], fast: [{id: each, type: map, items: {expr: "[1..600]"}, maxConcurrency: 600, nodes: [{id: part, type: call, tool: inner, detached: true}]}]}, next: exit}`,
		`      - {id: a, type: wait, ms: 1000, next: exit}`))
	var under, most atomic.Int64
	_, err := simulate(t, source, &request{Tool: "t", Seed: 7}, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) {
			most.Store(max(most.Load(), under.Add(1)))
		})
		env.SetOnChildWorkflowCompletedListener(func(*workflow.Info, converter.EncodedValue, error) { under.Add(-1) })
	})
	if err != nil || most.Load() > maxChildren || most.Load() < 400 {
		t.Errorf("%d at the same time, %v", most.Load(), err)
	}
}

func TestRecursionIsBoundedAcrossChildren(t *testing.T) {
	t.Parallel()
	// Each run has four children: 4 to the 16 in all.
	source := newSource(t, strings.Replace(oneTool(`      - {id: a, type: map, items: [1, 2, 3, 4], nodes: [{id: one, type: call, tool: t, detached: true}], next: exit}`),
		"tools:", "executionLimits: {maxTotalExecutions: 300}\ntools:", 1))
	var runs atomic.Int64
	run := simulated(t, source, &request{Tool: "t", Seed: 7}, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) { runs.Add(1) })
	})
	if run.Err() == nil || executor.FailureOf(run.Err()).Name != graph.FailLimit || runs.Load() > 300 {
		t.Errorf("%d runs, %v", runs.Load(), run.Err())
	}
}

func TestCallsOfChildrenHaveKeysAndCallers(t *testing.T) {
	t.Parallel()
	source, k := newSource(t, twoTools(`      - {id: a, type: call, tool: inner, detached: true, retry: {maxAttempts: 2, initialDelayMs: 10}, next: b}
      - {id: b, type: call, tool: inner, detached: true, next: exit}`, oneCall)), &keys{}
	var ids []string
	source.call = func(_ context.Context, info *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
		n := k.add(info)
		if ids = append(ids, info.RunID); info.Caller != "anna" || info.Header.Get("X-A") != "1" {
			t.Errorf("the call carries %+v", info)
		}
		if n == 1 {
			return graph.ToolResult{Attempts: 1}, &graph.Failure{Name: graph.FailBusy, Message: "later"}
		}
		return text("done"), nil
	}
	run := simulated(t, source, &request{Tool: "t", Seed: 7, Caller: &caller{Name: "anna", Header: http.Header{"X-A": {"1"}}}}, nil)
	if run.Err() != nil || len(k.list) != 3 || k.list[0] != k.list[1] || k.list[1] == k.list[2] {
		t.Errorf("the keys are %q, %v", k.list, run.Err())
	}
	if ids[0] == ids[1] || ids[1] == ids[2] {
		t.Errorf("the runs are %q", ids)
	}
}

func TestARunContinuesAsANewWorkflowWhileChildrenRun(t *testing.T) {
	t.Parallel()
	source := newSource(t, twoTools(`      - {id: a, type: parallel, branches: {slow: [{id: one, type: call, tool: inner, detached: true}], fast: [{id: c, type: mcp, server: up, tool: do, args: {n: 1}}]}, next: exit}`,
		`      - {id: a, type: wait, ms: 100000, next: b}
      - {id: b, type: transform, transform: {expr: "'slow'"}, next: exit}`))
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text("fast"), nil
	}
	for name, end := range map[string]*childEnd{
		`{"slow":"late","fast":"fast"}`: {Outcome: &outcome{Result: []byte(`"late"`), Executions: 4}},
		"unknown":                       {Outcome: &outcome{}, Why: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := environment(t, source)
			env.SetContinueAsNewSuggested(true)
			register(env, source, nil, WorkerOptions{Log: slog.New(slog.DiscardHandler)})
			env.ExecuteWorkflow(WorkflowType, &request{Tool: "t", Seed: 7})
			next, ok := continued(t, env)
			for child := ""; ok; {
				env = environment(t, source)
				env.SetContinueAsNewSuggested(true)
				register(env, source, nil, WorkerOptions{Log: slog.New(slog.DiscardHandler)})
				env.RegisterActivityWithOptions(func(_ context.Context, id string) (*childEnd, error) {
					if child != "" && id != child || len(next.Shares) != 1 || next.Shares[id] < 1000 {
						t.Errorf("child %s of %v", id, next.Shares)
					}
					child = id
					return end, nil
				}, activity.RegisterOptions{Name: resultType, DisableAlreadyRegisteredCheck: true})
				env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) { t.Error("the child began again") })
				env.ExecuteWorkflow(WorkflowType, next)
				if env.GetWorkflowError() != nil && !strings.Contains(env.GetWorkflowError().Error(), "continue as new") {
					break
				}
				if next, ok = continued(t, env); ok && child != "" && next.Spent < 4 {
					t.Errorf("%d executions were counted", next.Spent)
				}
			}
			out := &outcome{}
			if err := env.GetWorkflowError(); err != nil {
				out = outcomeOf(t, err)
			} else if err := env.GetWorkflowResult(out); err != nil {
				t.Fatal(err)
			}
			read, err := out.read()
			if err != nil {
				t.Fatal(err)
			}
			if got := read.Value.JSON(); read.Failure == nil && got != name || read.Failure != nil && read.Failure.Name != name {
				t.Errorf("%s, %v", got, read.Failure)
			}
		})
	}
}

func TestChildrenAreInTheTraceOfTheirParents(t *testing.T) {
	t.Parallel()
	source := newSource(t, twoTools(detachedCall, oneCall))
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text("done"), nil
	}
	spans := newCollected()
	process := spans.process(t)
	process.watched(source)
	simulatedBy(t, source, &request{Tool: "t", Seed: 7, Trace: []byte(clientTrace)}, WorkerOptions{Telemetry: process}, nil)
	got := spans.tree(clientSpan)
	if !regexp.MustCompile(`(?m)^  internal call a .*\n    internal invoke_workflow inner .*\n(      .*\n){4}`).MatchString(got) {
		t.Errorf("the spans are\n%s", got)
	}
}

// childOf waits until a run has a child, and returns its id.
func childOf(t *testing.T, c *Client, id string) string {
	t.Helper()
	d := described(t, c, id, func(d *runs.State) bool {
		if len(d.Children) == 0 {
			return false
		}
		s, err := c.summarize(t.Context(), d.Children[0].ID)
		return err == nil && s.Parent == id && s.Tool == d.Children[0].Tool
	})
	return d.Children[0].ID
}

func TestOnAServerChildrenAskThroughTheirParents(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, twoTools(detachedCall, `      - {id: a, type: call, tool: deep, detached: true, next: exit}`)+`
  - name: deep
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: each}
      - {id: each, type: map, items: [1, 2], nodes: [{id: q, type: ask, message: "Well?", schema: {type: object, properties: {x: {type: string}}}}], next: exit}
      - {id: exit, type: exit}
`))
	working(t, c, source)
	id := started(t, c, source, "{}", nil)
	d := described(t, c, id, func(d *runs.State) bool { return len(d.Questions) == 2 })
	if q := d.Questions[1]; q.Path != "a>a>each[1].q" || d.Status != runs.Waiting {
		t.Errorf("it asks at %s, waiting %t", q.Path, d.Status == runs.Waiting)
	}
	listed(t, c, id, true) // Temporal itself knows that of the innermost child alone
	// A client that follows the run knows them, too.
	run := executor.NewRun(source.graphs[0], value.FromEntries(nil), 7)
	asked := map[string]bool{}
	out, err := c.followed(t.Context(), id, run, &watch{Changed: func() bool {
		for _, q := range run.Questions() {
			asked[q.ID] = true
		}
		return len(asked) < 2 || !run.Parked()
	}})
	if err != nil || out != nil || !run.Parked() {
		t.Fatalf("%v, %v, parked %t", out, err, run.Parked())
	}
	for _, q := range d.Questions {
		if !asked[q.ID] {
			t.Errorf("the client does not know %q of %v", q.ID, asked)
		}
		answered(t, c, id, q.ID)
	}
	if out, err = c.followed(t.Context(), id, run, &watch{}); err != nil || out.Failure != nil || run.Err() != nil || !run.Done() {
		t.Errorf("%+v, %v, %v", out, err, run.Err())
	}
	replayed(t, c, source, historyOf(t, c, id))
}

func TestOnAServerCancellationReachesChildren(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string]string{
		"of the run":        detachedCall,
		"by timeout":        `      - {id: a, type: call, tool: inner, detached: true, timeoutMs: 3000, next: exit}`,
		"by another branch": `      - {id: a, type: parallel, wait: first, branches: {one: [{id: b, type: call, tool: inner, detached: true}], two: [{id: c, type: wait, ms: 2000}]}, next: exit}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dialed(t, nil)
			source := unique(newSource(t, twoTools(nodes, `      - {id: a, type: wait, ms: 200000, next: exit}`)))
			working(t, c, source)
			id := started(t, c, source, "{}", nil)
			inner := childOf(t, c, id)
			if name == "of the run" {
				if err := c.cancel(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			run, _ := followed(t, c, source, id, "{}")
			if (run.Err() == nil) != (name == "by another branch") {
				t.Error(run.Err())
			}
			out, err := c.resultOf(t.Context(), inner)
			if err != nil || out.Failure == nil || out.Failure.Name != graph.FailCancelled {
				t.Errorf("the child ended with %+v, %v", out, err)
			}
			replayed(t, c, source, historyOf(t, c, id))
			replayed(t, c, source, historyOf(t, c, inner))
		})
	}
}

func TestOnAServerAChildThatSomebodyEndsIsAFailureToCatch(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, twoTools(`      - {id: a, type: call, tool: inner, detached: true, catch: {errors: [unknown], next: b}, next: exit}
      - {id: b, type: transform, transform: {expr: '$.a.error.message'}, next: exit}`, `      - {id: a, type: wait, ms: 200000, next: exit}`)))
	working(t, c, source)
	for what, end := range map[string]func(string) error{
		"cancelled":  func(id string) error { return c.cancel(t.Context(), id) },
		"terminated": func(id string) error { return c.temporal.TerminateWorkflow(t.Context(), id, "", "") },
	} {
		id := started(t, c, source, "{}", nil)
		if err := end(childOf(t, c, id)); err != nil {
			t.Fatal(err)
		}
		if run, _ := followed(t, c, source, id, "{}"); !strings.Contains(run.Result().Str(), "was "+what+" by itself") {
			t.Errorf("%s: %s, %v", what, run.Result().JSON(), run.Err())
		}
		replayed(t, c, source, historyOf(t, c, id))
	}
}

func TestOnAServerTheEndOfARunIsAnActivity(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, twoTools(oneCall, `      - {id: a, type: ask, message: "Well?", next: exit}`)))
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text("done"), nil
	}
	working(t, c, source)
	a := &calls{client: c}
	ended := started(t, c, source, "{}", nil)
	followed(t, c, source, ended, "{}")
	if end, err := a.result(t.Context(), ended); err != nil || end.Why != "" || string(end.Outcome.Result) != `"done"` || end.Outcome.Executions != 3 {
		t.Errorf("%+v, %v", end, err)
	}
	asks := started(t, c, source, "{}", func(s *launch) { s.Tool = "inner" })
	a.waits.Store(maxWaits)
	if _, err := a.result(t.Context(), asks); err == nil || !strings.Contains(err.Error(), "under way") || a.waits.Load() != maxWaits {
		t.Error(err)
	}
	if err := c.cancel(t.Context(), asks); err != nil {
		t.Fatal(err)
	}
	if _, err := c.resultOf(t.Context(), asks); err != nil {
		t.Fatal(err)
	}
	if end, err := a.result(t.Context(), asks); err != nil || end.Why != "cancelled" {
		t.Errorf("%+v, %v", end, err)
	}
	if end, err := a.result(t.Context(), newID(t)); err != nil || end.Why != "deleted" {
		t.Errorf("%+v, %v", end, err)
	}
	if err := c.answer(t.Context(), ended, "4.0:1", value.NullValue, nil); !errors.Is(err, runs.ErrNotAsked) && !errors.Is(err, runs.ErrNotFound) {
		t.Error(err)
	}
}

func TestOnAServerChildrenAreSealed(t *testing.T) {
	t.Parallel()
	const secret = "the-secret-value"
	c := dialed(t, func(o *Options) { o.Key = []byte("0123456789abcdef0123") })
	source := unique(newSource(t, twoTools(strings.Replace(detachedCall, "n: 1", `n: {expr: "$.entry.text"}`, 1), oneCall)))
	source.call = func(_ context.Context, info *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
		if info.Header.Get("X-Token") != secret || info.Caller != "anna" {
			return graph.ToolResult{}, errors.New("it lacks what the caller sent")
		}
		return text(secret), nil
	}
	working(t, c, source)
	args := `{"text": "` + secret + `"}`
	id := started(t, c, source, args, func(s *launch) {
		s.Info = &callinfo.Info{Caller: "anna", Header: http.Header{"X-Token": {secret}}}
		s.Forwarded = func(name string) bool { return name == "X-Token" }
	})
	run, _ := followed(t, c, source, id, args)
	if run.Result().Str() != secret {
		t.Fatal(run.Err())
	}
	child := ""
	for rec := range run.Records(0) {
		child += rec.Run
	}
	for _, one := range []string{id, child} {
		if h := historyOf(t, c, one).String(); strings.Contains(h, secret) || strings.Contains(h, "anna") || strings.Contains(h, "inner") {
			t.Errorf("the history of %s has what is sealed", one)
		}
	}
	if s, err := c.summarize(t.Context(), child); err != nil || s.Tool != "inner" || s.Caller != "anna" || s.Parent != id {
		t.Errorf("%+v, %v", s, err)
	}
}

// carriedOn starts a run that waits for a child, and the workflow that goes on with it. It
// returns the ids of that workflow and of the child.
func carriedOn(t *testing.T, c *Client, source *testSource) (id, child string) {
	t.Helper()
	before := started(t, c, source, "{}", nil)
	child = childOf(t, c, before)
	records, _, _, err := c.records(t.Context(), before, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.temporal.TerminateWorkflow(t.Context(), before, "", ""); err != nil {
		t.Fatal(err)
	}
	id = newID(t)
	if _, err := c.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: c.queue(source.digest)}, WorkflowType, &request{
		Tool: "t", Digest: source.digest, Args: []byte("{}"), Seed: 7, Records: records, Spent: 2, Shares: map[string]int{child: 100}, Began: time.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	return id, child
}

// endsSoon fails the test if a run does not end within seconds.
func endsSoon(t *testing.T, c *Client, source *testSource, id, want string) {
	t.Helper()
	began := time.Now()
	out, err := c.resultOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); out.Value.JSON() != want || took > 4*time.Second {
		t.Errorf("%s, %v after %s", out.Value.JSON(), out.Err(), took)
	}
	replayed(t, c, source, historyOf(t, c, id))
}

// TestOnAServerTheEndOfACarriedChildIsKnownAtOnce lets a child end when Temporal would have
// asked for that once in a while.
func TestOnAServerTheEndOfACarriedChildIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, twoTools(detachedCall, oneCall)))
	goOn := make(chan struct{})
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		<-goOn
		return text("done"), nil
	}
	working(t, c, source)
	id, _ := carriedOn(t, c, source)
	time.Sleep(8 * time.Second) // requests with growing pauses would be made after 7 and 15 seconds
	close(goOn)
	endsSoon(t, c, source, id, `"done"`)
}

// TestOnAServerAnotherWorkerWaitsForACarriedChild stops the worker that waits.
func TestOnAServerAnotherWorkerWaitsForACarriedChild(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, twoTools(detachedCall, `      - {id: a, type: ask, message: "Well?", next: exit}`)))
	stop := working(t, c, source)
	id, child := carriedOn(t, c, source)
	asks := described(t, c, child, func(d *runs.State) bool { return len(d.Questions) == 1 }).Questions[0].ID
	time.Sleep(4 * time.Second) // it waits by now
	stop()
	working(t, c, source)
	yes, _ := value.Parse(`{"action":"accept","content":{}}`)
	if err := c.answer(t.Context(), child, asks, yes, nil); err != nil {
		t.Fatal(err)
	}
	endsSoon(t, c, source, id, `{}`)
}

package executor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const detachedFile = `
version: "1.0"
server: {name: test, version: "1"}
executionLimits: {maxTotalExecutions: 101}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
      - {id: a, type: call, tool: inner, args: {n: 1}, detached: true, timeoutMs: 60000, catch: {next: b}, next: exit}
      - {id: b, type: map, items: [1, 2, 3], nodes: [{id: one, type: call, tool: inner, args: {n: 2}, detached: true}], next: exit}
      - {id: exit, type: exit}
  - name: inner
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: ask, message: "Well?", next: double}
      - {id: double, type: transform, transform: {expr: $.entry.n * 2}, next: exit}
      - {id: exit, type: exit}
`

// detachAll does what is ready in a run, and returns the tasks of detached calls.
func detachAll(t *testing.T, run *executor.Run, now time.Time) (tasks []executor.Task, shares []executor.Share) {
	t.Helper()
	run.Begin(now)
	for {
		task, ok := run.Take()
		if !ok {
			return tasks, shares
		}
		var o executor.Outcome
		if task.Concludes() {
			o.Output, o.Err = task.Conclude(context.Background())
		} else if a, err := task.Begin(context.Background()); err != nil {
			o.Err = err
		} else if a.Do == graph.Invoke {
			share, err := run.Detach(task, a, "run-"+task.Instance(), 500, now)
			if err != nil {
				t.Fatal(err)
			}
			tasks, shares = append(tasks, task), append(shares, share)
			continue
		} else if a.Do != graph.Yield {
			if err := run.Open(task, a, now); err != nil {
				t.Fatal(err)
			}
			continue
		} else {
			o.Output = graph.Output{Value: a.Value, Edge: a.Edge}
		}
		o.End = now
		if _, err := run.Settle(context.Background(), task, o); err != nil {
			t.Fatal(err)
		}
		run.Release(task)
	}
}

func TestDetachedCallsWaitForRunsOfTheirOwn(t *testing.T) {
	t.Parallel()
	g, now := build(t, detachedFile).Graphs[0], time.Unix(1000, 0)
	run := executor.NewRun(g, value.FromEntries(nil), 7)
	tasks, shares := detachAll(t, run, now)
	if len(tasks) != 1 || shares[0] != (executor.Share{Depth: 2, Executions: 87}) || run.Parked() {
		t.Fatalf("%v, parked %t", shares, run.Parked())
	}
	// A client that follows the run may know what its child asks.
	child := executor.NewRun(g.Nodes[1].Callee, value.FromEntries(nil), 8)
	detachAll(t, child, now)
	run.Attach(run.Detached()[0].Frame, child)
	questions := run.Questions()
	if !run.Parked() || len(questions) != 1 || questions[0].ID != "1.0:1" || questions[0].Path != "a>ask" {
		t.Errorf("parked %t, %+v", run.Parked(), questions)
	}
	if inner, ok := executor.CutID("1.0", questions[0].ID); !ok || inner != ":1" {
		t.Errorf("the child has the question %q", inner)
	}
	// Its time does not count, that of the node does.
	if at, ok := run.Wake(); !ok || at.Sub(now) != time.Minute {
		t.Errorf("it wakes at %v", at)
	}
	run.Advance(now.Add(time.Minute))
	if cut := run.Cut(); !slices.Contains(cut, tasks[0]) {
		t.Errorf("the child is not cancelled: %v", cut)
	}
	if err := run.Join(tasks[0], value.NullValue, nil, 4, now); !errors.Is(err, executor.ErrStale) {
		t.Errorf("a late result gives %v", err)
	}
	// Nobody knows yet how many executions it had. The others share what is left.
	tasks, shares = detachAll(t, run, now)
	if len(tasks) != 3 || shares[0].Executions != 2 || run.Spent() != 2+87 {
		t.Fatalf("%v, %d spent", shares, run.Spent())
	}
	run.Refund(80)
	if run.Spent() != 9 {
		t.Errorf("%d spent", run.Spent())
	}
	for i, task := range tasks {
		if err := run.Join(task, value.FromInt(int64(i)), nil, 2, now); err != nil {
			t.Fatal(err)
		}
	}
	detachAll(t, run, now)
	if got := run.Result().JSON(); got != "[0,1,2]" || run.Spent() != 9+3+3*2+2 {
		t.Errorf("%s, %d spent, %v", got, run.Spent(), run.Err())
	}
}

func TestARunInAnotherIsConfined(t *testing.T) {
	t.Parallel()
	g := build(t, strings.Replace(detachedFile, "detached: true, timeoutMs", "timeoutMs", 1)).Graphs[0]
	for want, share := range map[string]executor.Share{
		"maximum total executions (2) reached":       {Depth: 2, Executions: 2},
		"maximum depth of called tools (16) reached": {Depth: 16, Executions: 50},
	} {
		run := executor.NewRun(g, value.FromEntries(nil), 7)
		run.Confine(share)
		if err := (&executor.Local{}).Run(context.Background(), run, world{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", share, err)
		}
	}
}

func TestALocalDriverGoesOnWithDetachedCalls(t *testing.T) {
	t.Parallel()
	g, now := build(t, strings.Replace(detachedFile, "type: ask, message: \"Well?\"", "type: wait, ms: 1", 1)).Graphs[0], time.Now()
	run := executor.NewRun(g, value.FromEntries(nil), 7)
	detachAll(t, run, now)
	again, err := executor.Replay(g, value.FromEntries(nil), 7, run.Records(0))
	if err != nil {
		t.Fatal(err)
	}
	if d := again.Detached(); len(d) != 1 || d[0].Run != "run-:1" {
		t.Errorf("%+v", d)
	}
	if err := (&executor.Local{}).Run(context.Background(), again, world{}); err != nil || again.Result().JSON() != "2" {
		t.Errorf("%s, %v", again.Result().JSON(), err)
	}
}

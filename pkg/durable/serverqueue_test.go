package durable

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// twoServers is a file that calls a server "own" and then "up".
const twoServers = `      - {id: a, type: mcp, server: "own one", tool: do, args: {n: 1}, next: b}
      - {id: b, type: mcp, server: up, tool: do, args: {n: 2}, next: exit}`

func newTwoServers(t testing.TB, wait time.Duration) *testSource {
	source := newSource(t, strings.Replace(oneTool(twoServers), "mcpServers: {", `mcpServers: {"own one": {command: own}, `, 1))
	source.own = map[string]time.Duration{"own one": wait}
	return source
}

func TestCallsOfServersWithTheirOwnWorkersHaveATaskQueue(t *testing.T) {
	t.Parallel()
	source := newTwoServers(t, time.Minute)
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text("done"), nil
	}
	var queues []string
	run := simulated(t, source, &request{Tool: "t", Seed: 7}, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			queues = append(queues, info.TaskQueue)
		})
	})
	if run.Err() != nil || len(queues) != 2 || queues[0] != queues[1]+"/own%20one" {
		t.Errorf("the queues are %q, %v", queues, run.Err())
	}
}

func TestOnAServerOnlyItsWorkersCallAServer(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newTwoServers(t, time.Minute))
	var mu sync.Mutex
	var calls []string
	as := func(name string) *testSource {
		s := *source
		s.call = func(_ context.Context, _ *callinfo.Info, server, _ string, _ value.Value) (graph.ToolResult, error) {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, name+" calls "+server)
			return text("done"), nil
		}
		return &s
	}
	working(t, c, as("general"))
	id := started(t, c, source, "{}", nil)
	// Nobody serves it: the run says so, and waits.
	d := described(t, c, id, func(d *runs.State) bool { return len(d.Calls) == 1 && d.Calls[0].Unserved })
	if call := d.Calls[0]; call.Server != "own one" || call.Worker != "" || !call.Began.IsZero() || call.Scheduled.IsZero() {
		t.Errorf("%+v", call)
	}
	w := c.NewWorker(as("own"), WorkerOptions{Servers: []string{"own one"}, Log: slog.New(slog.DiscardHandler), Grace: time.Second})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	for range 3 {
		if run, _ := followed(t, c, source, id, "{}"); run.Err() != nil {
			t.Fatal(run.Err())
		}
		replayed(t, c, source, historyOf(t, c, id))
		id = started(t, c, source, "{}", nil)
	}
	followed(t, c, source, id, "{}")
	if got := strings.Join(calls, ", "); got != strings.TrimSuffix(strings.Repeat("own calls own one, general calls up, ", 4), ", ") {
		t.Error(got)
	}
}

func TestOnAServerACallThatNoWorkerTakesFails(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newTwoServers(t, time.Second))
	working(t, c, source)
	id := started(t, c, source, "{}", nil)
	run, _ := followed(t, c, source, id, "{}")
	if run.Err() == nil || executor.FailureOf(run.Err()).Name != graph.FailConnect || !strings.Contains(run.Err().Error(), `no worker of server "own one" took the call in 1s`) {
		t.Error(run.Err())
	}
	replayed(t, c, source, historyOf(t, c, id))
}

package durable

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// requests counts the requests of a client to Temporal by their names, and has its
// pollers by their types.
type requests struct {
	mu      *sync.Mutex
	count   map[string]int64
	pollers map[string]float64
	tags    map[string]string
}

func (r requests) WithTags(tags map[string]string) client.MetricsHandler {
	all := maps.Clone(tags)
	for k, v := range r.tags {
		if _, ok := all[k]; !ok {
			all[k] = v
		}
	}
	r.tags = all
	return r
}

func (r requests) Counter(name string) client.MetricsCounter {
	if name != "temporal_request" {
		return client.MetricsNopHandler.Counter(name)
	}
	return counterFunc(func(n int64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.count[r.tags["operation"]] += n
	})
}

func (r requests) Gauge(name string) client.MetricsGauge {
	if name != "temporal_num_pollers" {
		return client.MetricsNopHandler.Gauge(name)
	}
	return gaugeFunc(func(n float64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pollers[r.tags["poller_type"]] = n
	})
}

func (r requests) Timer(name string) client.MetricsTimer { return client.MetricsNopHandler.Timer(name) }

type counterFunc func(int64)

func (f counterFunc) Inc(n int64) { f(n) }

type gaugeFunc func(float64)

func (f gaugeFunc) Update(n float64) { f(n) }

// counting is dialed with a client whose requests are counted.
func counting(t testing.TB) (*Client, requests) {
	t.Helper()
	o := dialed(t, nil).options
	co, err := o.client()
	if err != nil {
		t.Fatal(err)
	}
	r := requests{mu: &sync.Mutex{}, count: map[string]int64{}, pollers: map[string]float64{}}
	co.MetricsHandler = r
	opened, err := client.DialContext(t.Context(), co)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	return &Client{temporal: opened, options: o, data: co.DataConverter}, r
}

// TestOnAServerARunMakesNoNeedlessRequests counts the requests of a run with four calls in
// a row, of which each takes a step before it and one after the last.
func TestOnAServerARunMakesNoNeedlessRequests(t *testing.T) {
	t.Parallel()
	source := unique(newSource(t, oneTool(chain(4, `type: mcp, server: up, tool: do, args: {text: "some words"}`))))
	source.call = answering
	starts, ofClient := counting(t)
	works, ofWorker := counting(t)
	working(t, works, source)
	done(t, starts, source)
	ofClient.mu.Lock()
	defer ofClient.mu.Unlock()
	ofWorker.mu.Lock()
	defer ofWorker.mu.Unlock()
	for name, want := range map[string]int64{"StartWorkflowExecution": 1, "DescribeWorkflowExecution": 0, "QueryWorkflow": 0, "CountWorkflowExecutions": 0} {
		if got := ofClient.count[name]; got != want {
			t.Errorf("the client makes %d requests %s, want %d", got, name, want)
		}
	}
	for name, want := range map[string]int64{"RespondWorkflowTaskCompleted": 5, "RespondActivityTaskCompleted": 4, "RecordActivityTaskHeartbeat": 4} {
		// A busy machine may take a second for a call, or do a step twice.
		if got := ofWorker.count[name]; got < want || got > want+2 {
			t.Errorf("the worker makes %d requests %s, want %d", got, name, want)
		}
	}
}

// TestOnAServerAWorkerPollsAllPartitions shows that a worker has so many requests for work
// open that each of the 4 partitions of a task queue has one.
func TestOnAServerAWorkerPollsAllPartitions(t *testing.T) {
	t.Parallel()
	source := unique(newSource(t, oneTool(oneCall)))
	source.call = answering
	c, r := counting(t)
	working(t, c, source)
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		r.mu.Lock()
		have := maps.Clone(r.pollers)
		r.mu.Unlock()
		if have["activity_task"] >= 8 && have["workflow_task"] >= 4 && have["workflow_sticky_task"] >= 4 {
			return
		}
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the pollers are %v", have)
		}
	}
}

// TestAShortCallGivesNoSignOfLife shows that a call which ends within a second makes no
// request for that. The environment of the SDK passes one in 30 seconds on.
func TestAShortCallGivesNoSignOfLife(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		takes time.Duration
		want  int
	}{{0, 0}, {900 * time.Millisecond, 0}, {1500 * time.Millisecond, 1}} {
		synctest.Test(t, func(t *testing.T) {
			source := newSource(t, oneTool(oneCall))
			source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
				time.Sleep(c.takes)
				return text("well"), nil
			}
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(quiet{})
			env := suite.NewTestActivityEnvironment()
			var beats atomic.Int64
			env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats.Add(1) })
			made := &calls{source: source, log: slog.New(slog.DiscardHandler), beat: beatEvery, mark: (*Client)(nil).mark}
			env.RegisterActivityWithOptions(made.call, activity.RegisterOptions{Name: ActivityType})
			if _, err := env.ExecuteActivity(ActivityType, &callRequest{Run: "r", Node: "n", Server: "up", Tool: "do", Args: []byte(`{}`), MaxValue: MaxValue}); err != nil {
				t.Error(err)
			}
			if got := int(beats.Load()); got != c.want {
				t.Errorf("a call of %s gave %d signs of life, want %d", c.takes, got, c.want)
			}
		})
	}
}

func TestWhatWasBegunIsKnownOnceAndBounded(t *testing.T) {
	t.Parallel()
	var b began
	if got := b.take("one"); got != "" {
		t.Errorf("an unknown run has %q", got)
	}
	b.add("one", "w")
	if first, second := b.take("one"), b.take("one"); first != "w" || second != "" {
		t.Errorf("it is %q, then %q", first, second)
	}
	for i := range 3 * maxBegan {
		b.add(fmt.Sprint(i), "w")
		if len(b.of) > maxBegan {
			t.Fatalf("%d are kept", len(b.of))
		}
	}
}

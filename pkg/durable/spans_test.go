package durable

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// clientTrace is the span of a client, clientSpan its id.
const (
	clientSpan  = "00f067aa0ba902b7"
	clientTrace = `{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-` + clientSpan + `-01"}`
)

// collected has the spans of all workers of a test.
type collected struct{ *tracetest.SpanRecorder }

// observing is a process that reports its spans.
type observing struct{ *telemetry.Recorder }

func (o observing) Observe(info *callinfo.Info, run *executor.Run, began time.Time) Observer {
	return o.DurableRun(info, run, began)
}

func (observing) DescribeError(ctx context.Context, err error) (string, string) {
	return telemetry.DescribeError(ctx, err)
}

// process returns a process that reports to c.
func (c collected) process(t testing.TB) observing {
	t.Helper()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(c), sdktrace.WithIDGenerator(telemetry.IDs{}))
	all, err := telemetry.New(telemetry.Options{Tracers: tracers})
	if err != nil {
		t.Fatal(err)
	}
	return observing{all.Recorder(telemetry.Subject{
		Tool:   func(string) bool { return true },
		Server: func(string) telemetry.Endpoint { return telemetry.Endpoint{} },
		Redact: func(_ *callinfo.Info, text string) string { return text },
	})}
}

// watched makes the calls of a source spans, and notes with which traceparents they were
// sent.
func (o observing) watched(s *testSource) (sent func() []string) {
	call := s.call
	var mu sync.Mutex
	var list []string
	next := o.Caller(callerFunc(func(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
		mu.Lock()
		for _, e := range info.Trace {
			list = append(list, e.Value.Str())
		}
		mu.Unlock()
		return call(ctx, info, server, tool, args)
	}))
	s.call = func(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
		return next.CallTool(o.Continued(ctx, info), info, server, tool, args)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

type callerFunc func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error)

func (f callerFunc) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	return f(ctx, info, server, tool, args)
}

func newCollected() collected { return collected{tracetest.NewSpanRecorder()} }

// tree returns the spans beneath the one with an id as text, without their times and ids.
func (c collected) tree(parent string) string {
	below := map[string][]sdktrace.ReadOnlySpan{}
	for _, s := range c.Ended() {
		at := s.Parent().SpanID().String()
		below[at] = append(below[at], s)
	}
	var walk func(parent, indent string) string
	walk = func(parent, indent string) string {
		var list []string
		for _, s := range below[parent] {
			text := fmt.Sprintf("%s%s %s %s\n", indent, s.SpanKind(), s.Name(), attributesOf(s.Attributes()))
			if s.Status().Code != 0 {
				text += fmt.Sprintf("%s! %s %s\n", indent, s.Status().Code, s.Status().Description)
			}
			for _, e := range s.Events() {
				text += fmt.Sprintf("%s! %s %s\n", indent, e.Name, attributesOf(e.Attributes))
			}
			list = append(list, text+walk(s.SpanContext().SpanID().String(), indent+"  "))
		}
		slices.Sort(list)
		return strings.Join(list, "")
	}
	return walk(parent, "")
}

func attributesOf(list []attribute.KeyValue) string {
	var text []string
	for _, a := range list {
		if a.Key != "mcpgraph.run.id" {
			text = append(text, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
		}
	}
	slices.Sort(text)
	return strings.Join(text, " ")
}

// whole fails the test unless each span was made once, with a parent that was made.
func (c collected) whole(t testing.TB) {
	t.Helper()
	made := map[string]int{clientSpan: 1}
	for _, s := range c.Ended() {
		made[s.SpanContext().SpanID().String()]++
	}
	for _, s := range c.Ended() {
		if n := made[s.SpanContext().SpanID().String()]; n > 1 {
			t.Errorf("span %q was made %d times", s.Name(), n)
		}
		if p := s.Parent().SpanID(); p.IsValid() && made[p.String()] == 0 {
			t.Errorf("the parent of span %q (%s) was not made", s.Name(), attributesOf(s.Attributes()))
		}
		if s.EndTime().Before(s.StartTime()) {
			t.Errorf("span %q ends before it begins", s.Name())
		}
	}
}

func localTree(t testing.TB, source *testSource, args value.Value, seed uint64) string {
	t.Helper()
	spans := newCollected()
	process := spans.process(t)
	process.watched(source)
	// A process that drives a run itself gets the client's span with its context.
	info := &callinfo.Info{RunID: "r", CallID: "x", Trace: traced(t)}
	ctx := process.Continued(context.Background(), info)
	info.CallID = ""
	run := executor.NewRun(source.graphs[0], args, seed)
	driver := &executor.Local{Info: info, Hooks: []executor.Hooks{process.Hooks(info)}}
	_ = driver.Run(ctx, run, localPort{source})
	return spans.tree(clientSpan)
}

func TestSpansAreThoseOfLocalRuns(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t) {
		if strings.HasPrefix(f.name, "call_detached") {
			continue // see TestChildrenAreInTheTraceOfTheirParents
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			source := newSource(t, f.config)
			args, err := value.Parse(f.args)
			if err != nil {
				t.Fatal(err)
			}
			source.call = scripted(t, f.replies)
			want := localTree(t, source, args, 7)

			source.call = scripted(t, f.replies)
			spans := newCollected()
			process := spans.process(t)
			sent := process.watched(source)
			in := &request{Tool: source.graphs[0].Name, Digest: source.digest, Args: raw(args), Seed: 7, Trace: []byte(clientTrace)}
			simulatedBy(t, source, in, WorkerOptions{Telemetry: process}, nil)
			spans.whole(t)
			if got := spans.tree(clientSpan); got != want {
				t.Errorf("the spans are\n%s\nlocally they are\n%s", got, want)
			}
			for _, one := range sent() {
				if !slices.ContainsFunc(spans.Ended(), func(s sdktrace.ReadOnlySpan) bool {
					return s.SpanKind() == trace.SpanKindClient && strings.Contains(one, s.SpanContext().SpanID().String())
				}) {
					t.Errorf("a call was sent with %s, which is no span of kind CLIENT", one)
				}
			}
		})
	}
}

const busy = `      - {id: a, type: map, items: [1, 2, 3], maxConcurrency: 1, nodes: [{id: c, type: mcp, server: up, tool: do, args: {n: {expr: $item}}, retry: [{maxAttempts: 3, intervalMs: 1000}]}], next: b}
      - {id: b, type: wait, ms: 3600000, next: exit}`

// failing answers calls of the tool do, each second one with a failure.
func failing() func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	var made atomic.Int64
	return func(_ context.Context, _ *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
		if made.Add(1)%2 == 1 {
			return graph.ToolResult{Attempts: 1}, &graph.Failure{Name: graph.FailClosed, Message: "closed"}
		}
		return text(args.Get("n").JSON()), nil
	}
}

func TestSpansOfAContinuedRunAreMadeOnce(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(strings.Replace(busy, "3600000", "1", 1)))
	source.call = failing()
	want := localTree(t, source, value.FromEntries(nil), 7)
	spans, steps := newCollected(), 0
	source.call = failing()
	spans.process(t).watched(source)
	for in, more := (&request{Tool: "t", Seed: 7, Trace: []byte(clientTrace)}), true; more; steps++ {
		env := environment(t, source)
		env.SetContinueAsNewSuggested(true)
		register(env, source, nil, WorkerOptions{Log: slog.New(slog.DiscardHandler), Telemetry: spans.process(t)})
		env.ExecuteWorkflow(WorkflowType, in)
		in, more = continued(t, env)
	}
	spans.whole(t)
	if got := spans.tree(clientSpan); got != want || steps < 3 || !strings.Contains(got, "! retry ") {
		t.Errorf("after %d workflows the spans are\n%s\nlocally they are\n%s", steps, got, want)
	}
}

func TestACallWhoseWorkerWasLostHasASpan(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(oneCall))
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text("well"), nil
	}
	source.repeat = func(string) bool { return true }
	spans := newCollected()
	process := spans.process(t)
	process.watched(source)
	in := &request{Tool: "t", Seed: 7, Trace: []byte(clientTrace)}
	simulatedBy(t, source, in, WorkerOptions{Telemetry: process}, func(env *testsuite.TestWorkflowEnvironment) {
		var made atomic.Int64
		c := &calls{source: source, log: slog.New(slog.DiscardHandler), beat: time.Second, mark: (*Client)(nil).mark, telemetry: process}
		env.RegisterActivityWithOptions(func(ctx context.Context, in *callRequest) (*callReply, error) {
			if made.Add(1) == 1 {
				return nil, temporal.NewHeartbeatTimeoutError(said{})
			}
			return c.call(ctx, in)
		}, activity.RegisterOptions{Name: ActivityType, DisableAlreadyRegisteredCheck: true})
	})
	spans.whole(t)
	var errorTypes []string
	for _, s := range spans.Ended() {
		if s.SpanKind() == trace.SpanKindClient {
			errorTypes = append(errorTypes, attributesOf(slices.DeleteFunc(slices.Clone(s.Attributes()), func(a attribute.KeyValue) bool { return a.Key != "error.type" })))
		}
	}
	slices.Sort(errorTypes)
	if !slices.Equal(errorTypes, []string{"", "error.type=unknown"}) {
		t.Errorf("the calls have the error types %q", errorTypes)
	}
}

// TestOnAServerSpansOfTwoWorkersAreOneTrace stops the worker of a run while it waits, lets
// another one go on, and asks for records, which replays the run.
func TestOnAServerSpansOfTwoWorkersAreOneTrace(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, oneTool(strings.Replace(busy, "3600000", "2000", 1))))
	source.call = failing()
	want := localTree(t, source, value.FromEntries(nil), 7)
	spans := newCollected()
	source.call = failing()
	spans.process(t).watched(source)
	work := func() (stop func()) {
		w := c.NewWorker(source, WorkerOptions{Log: slog.New(slog.DiscardHandler), Grace: time.Second, Telemetry: spans.process(t)})
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		return sync.OnceFunc(w.Stop)
	}
	first := work()
	defer first()
	id := started(t, c, source, `{}`, func(s *launch) {
		s.Info = &callinfo.Info{Trace: traced(t)}
	})
	for {
		list, _, _, err := c.records(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 && strings.Contains(string(list[len(list)-1]), `"wait"`) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	first()
	second := work()
	defer second()
	run, _ := followed(t, c, source, id, `{}`)
	if run.Err() != nil {
		t.Fatal(run.Err())
	}
	second()
	third := work() // knows nothing of the run, and replays all of it
	defer third()
	if list, _, _, err := c.records(t.Context(), id, 0); err != nil || len(list) == 0 {
		t.Errorf("%d records, %v", len(list), err)
	}
	spans.whole(t)
	if got := spans.tree(clientSpan); got != want {
		t.Errorf("the spans are\n%s\nlocally they are\n%s", got, want)
	}
}

func traced(t testing.TB) []value.Entry {
	t.Helper()
	v, err := value.Parse(clientTrace)
	if err != nil {
		t.Fatal(err)
	}
	return v.Entries()
}

func TestWithoutAKeyOnlyTheTraceparentTravels(t *testing.T) {
	t.Parallel()
	info := &callinfo.Info{Trace: append(traced(t), value.Entry{Key: "tracestate", Value: value.FromString("a=1")}, value.Entry{Key: "baggage", Value: value.FromString("b=2")})}
	if got := string(traceFor(info, false)); got != strings.ReplaceAll(clientTrace, ": ", ":") {
		t.Errorf("without a key %s travels", got)
	}
	if got := string(traceFor(info, true)); !strings.Contains(got, "a=1") || !strings.Contains(got, "b=2") {
		t.Errorf("with a key %s travels", got)
	}
	info.Trace[0].Value = value.FromString("password-of-the-caller")
	if got := traceFor(info, false); got != nil {
		t.Errorf("what is no traceparent travels: %s", got)
	}
}

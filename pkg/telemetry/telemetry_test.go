package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// recorded is a Telemetry whose spans and metrics stay here.
type recorded struct {
	*telemetry.Telemetry
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
}

func record(t testing.TB, o telemetry.Options) recorded {
	t.Helper()
	r := recorded{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	o.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	o.Meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	var err error
	if r.Telemetry, err = telemetry.New(o); err != nil {
		t.Fatal(err)
	}
	return r
}

// span returns the one span with this name.
func (r recorded) span(t testing.TB, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	var names []string
	for _, s := range r.spans.Ended() {
		if s.Name() == name {
			return s
		}
		names = append(names, s.Name())
	}
	t.Fatalf("no span %q among %q", name, names)
	return nil
}

// get returns an attribute as text.
func get(s sdktrace.ReadOnlySpan, key string) string {
	for _, a := range s.Attributes() {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

var subject = telemetry.Subject{
	Tool:   func(name string) bool { return name == "known" },
	Server: func(string) telemetry.Endpoint { return telemetry.Endpoint{} },
	Redact: func(_ *callinfo.Info, text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") },
}

func TestServerSpanIsAnErrorOnlyWhereTheServerIsAtFault(t *testing.T) {
	for _, c := range []struct {
		outcome                 server.Outcome
		status, kind, errorCode string
	}{
		{server.Outcome{}, "Unset", "", ""},
		{server.Outcome{Failed: true, Message: "no"}, "Unset", "tool_error", ""},
		{server.Outcome{Code: -32602}, "Unset", "-32602", "-32602"},
		{server.Outcome{Code: -32601}, "Unset", "-32601", "-32601"},
		{server.Outcome{Code: -32700}, "Unset", "-32700", "-32700"},
		{server.Outcome{Code: -32603, Message: "it broke hunter2"}, "Error", "-32603", "-32603"},
		{server.Outcome{Code: -32000}, "Error", "-32000", "-32000"},
		{server.Outcome{Code: -32099}, "Error", "-32099", "-32099"},
		{server.Outcome{Code: -32100}, "Unset", "-32100", "-32100"},
	} {
		r := record(t, telemetry.Options{})
		_, done := r.Recorder(subject).Observe(context.Background(), &server.Request{Method: "tools/call", Tool: "known", ID: `"a\"b"`})
		done(c.outcome)
		s := r.span(t, "tools/call known")
		if s.Status().Code.String() != c.status || get(s, "error.type") != c.kind || get(s, "rpc.response.status_code") != c.errorCode {
			t.Errorf("%+v: status %s, error.type %q, code %q", c.outcome, s.Status().Code, get(s, "error.type"), get(s, "rpc.response.status_code"))
		}
		if c.outcome.Code == -32603 && s.Status().Description != "it broke [redacted]" {
			t.Errorf("the description is %q", s.Status().Description)
		}
		if s.SpanKind() != trace.SpanKindServer || get(s, "jsonrpc.request.id") != `a"b` || get(s, "gen_ai.operation.name") != "execute_tool" {
			t.Errorf("kind %s, id %s", s.SpanKind(), get(s, "jsonrpc.request.id"))
		}
	}
}

func TestSpansOfPromptsAndResources(t *testing.T) {
	for _, c := range []struct {
		method, tool, uri, span, prompt, in string
	}{
		{"prompts/get", "prompts/review", "", "prompts/get review", "review", ""},
		{"prompts/get", "prompts/made-up", "", "prompts/get", "", ""},
		{"resources/read", "resources/today", "report://hunter2", "resources/read", "", "report://[redacted]"},
		{"completion/complete", "prompts/review", "", "completion/complete", "", ""},
	} {
		r := record(t, telemetry.Options{})
		of := subject
		of.Tool = func(name string) bool { return name != "prompts/made-up" }
		_, done := r.Recorder(of).Observe(context.Background(), &server.Request{Method: c.method, Tool: c.tool, URI: c.uri, ID: "1"})
		done(server.Outcome{Code: -32603, Failed: true})
		s := r.span(t, c.span)
		if get(s, "gen_ai.prompt.name") != c.prompt || get(s, "mcp.resource.uri") != c.in || get(s, "gen_ai.tool.name")+get(s, "gen_ai.operation.name") != "" ||
			s.Status().Code.String() != "Error" || get(s, "error.type") != "-32603" {
			t.Errorf("%+v: %v", c, s.Attributes())
		}
	}
}

func TestParentIsWhatMetaSaysAndTheAmbientContextALink(t *testing.T) {
	const inMeta, inHeader = "00-11111111111111111111111111111111-1111111111111111-01", "00-22222222222222222222222222222222-2222222222222222-01"
	meta := value.FromEntries([]value.Entry{{Key: "traceparent", Value: value.FromString(inMeta)}, {Key: "progressToken", Value: value.FromInt(1)}})
	for _, c := range []struct {
		name                  string
		meta                  value.Value
		header, parent, links string
	}{
		{"neither", value.Undef, "", "0000000000000000", ""},
		{"meta", meta, "", "1111111111111111", ""},
		{"header", value.Undef, inHeader, "2222222222222222", ""},
		{"both", meta, inHeader, "1111111111111111", "2222222222222222"},
		{"the same twice", meta, inMeta, "1111111111111111", ""},
		{"broken meta", value.FromEntries([]value.Entry{{Key: "traceparent", Value: value.FromString("x")}}), inHeader, "2222222222222222", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(t, telemetry.Options{})
			q := &server.Request{Method: "tools/list", Info: callinfo.Info{Meta: c.meta}}
			if c.header != "" {
				q.Header = map[string][]string{"Traceparent": {c.header}}
			}
			_, done := r.Recorder(subject).Observe(context.Background(), q)
			done(server.Outcome{})
			s := r.span(t, "tools/list")
			var links string
			for _, l := range s.Links() {
				links += l.SpanContext.SpanID().String()
			}
			if got := s.Parent().SpanID().String(); got != c.parent || links != c.links {
				t.Errorf("parent %s, links %q", got, links)
			}
		})
	}
}

func TestMethodsOfTasksHaveTheirNames(t *testing.T) {
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		r := record(t, telemetry.Options{})
		_, done := r.Recorder(subject).Observe(context.Background(), &server.Request{Method: method})
		done(server.Outcome{})
		r.span(t, method)
	}
}

func TestNamesThatClientsMakeUpHaveNoPartInNamesAndMetrics(t *testing.T) {
	r := record(t, telemetry.Options{})
	observe := r.Recorder(subject).Observe
	for i := range 50 {
		_, done := observe(context.Background(), &server.Request{
			Method: fmt.Sprintf("m%d", i), ID: strings.Repeat("9", 1000), Protocol: fmt.Sprintf("p%d", i),
		})
		done(server.Outcome{Code: -32601})
		_, done = observe(context.Background(), &server.Request{Method: "tools/call", Tool: fmt.Sprintf("t%d", i)})
		done(server.Outcome{Code: -32602})
	}
	names := map[string]bool{}
	for _, s := range r.spans.Ended() {
		names[s.Name()] = true
		if len(get(s, "jsonrpc.request.id")) > 300 {
			t.Error("an id was not cut")
		}
	}
	if len(names) != 2 || !names["_OTHER"] || !names["tools/call"] {
		t.Errorf("names are %v", names)
	}
	if points := r.points(t)["mcp.server.operation.duration"]; len(points) != 2 {
		t.Errorf("there are %d series: %v", len(points), points)
	}
}

// points returns the attributes of the durations that were measured, by metric.
func (r recorded) points(t testing.TB) map[string][]string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	points := map[string][]string{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			h, _ := m.Data.(metricdata.Histogram[float64])
			for _, p := range h.DataPoints {
				points[m.Name] = append(points[m.Name], p.Attributes.Encoded(attribute.DefaultEncoder()))
			}
		}
	}
	return points
}

const config = `
version: "1.0"
server: {name: t, version: "1"}
executionLimits: {maxNodeExecutions: 3}
mcpServers:
  fake: {command: none, env: {TOKEN: "${TOKEN}"}}
tools:
  - name: known
    description: Calls a server
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: mcp, server: fake, tool: get, args: {expr: $.entry}, next: exit}
      - {id: exit, type: exit}
  - name: endless
    description: Goes in circles
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
      - {id: a, type: switch, conditions: [{rule: {"==": [1, 1]}, next: a}], next: exit}
      - {id: exit, type: exit}
`

type answers func(ctx context.Context) (graph.ToolResult, error)

func (f answers) CallTool(ctx context.Context, _ *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
	return f(ctx)
}

// engine loads the configuration with a server that answers so.
func engine(t testing.TB, tel *telemetry.Telemetry, f answers) *mcpgraph.Engine {
	t.Helper()
	return engineOf(t, config, mcpgraph.WithCaller(f), mcpgraph.WithTelemetry(tel),
		mcpgraph.WithGetenv(func(string) (string, bool) { return "hunter2", true }))
}

func engineOf(t testing.TB, file string, opts ...mcpgraph.Option) *mcpgraph.Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := mcpgraph.Load(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func reply(t testing.TB, text string) graph.ToolResult {
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return graph.ToolResult{Reply: v, Attempts: 2, FromCache: true}
}

func TestFailureIsOnTheNodeWhereItHappened(t *testing.T) {
	cancelled := errors.New("nobody waits")
	for _, c := range []struct {
		name   string
		answer answers
		// the error.type of the node, and the status and error.type of the call
		node, status, call string
	}{
		{"isError", func(context.Context) (graph.ToolResult, error) {
			return reply(t, `{"isError":true,"content":[{"type":"text","text":"it is hunter2"}]}`), nil
		}, "tool_error", "Unset", "tool_error"},
		{"an error of JSON-RPC", func(context.Context) (graph.ToolResult, error) {
			return graph.ToolResult{}, &upstream.Error{Server: "fake", Op: "call", Err: &upstream.RPCError{Code: -32042, Message: "hunter2"}}
		}, "-32042", "Error", "-32042"},
		{"a server that does not start", func(context.Context) (graph.ToolResult, error) {
			return graph.ToolResult{}, &upstream.Error{Server: "fake", Op: "start", Message: "no program"}
		}, "upstream_start", "Error", "upstream_start"},
		{"a server that is silent", func(context.Context) (graph.ToolResult, error) {
			return graph.ToolResult{}, &upstream.Error{Server: "fake", Op: "call", Err: context.DeadlineExceeded}
		}, "timeout", "Error", "timeout"},
		{"a caller that is gone", func(ctx context.Context) (graph.ToolResult, error) {
			cancelOf(ctx)(cancelled)
			return graph.ToolResult{}, context.Cause(ctx)
		}, "cancelled", "Error", "cancelled"},
		{"a step that panics", func(context.Context) (graph.ToolResult, error) { panic("hunter2") }, "panic", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(t, telemetry.Options{})
			e := engine(t, r.Telemetry, c.answer)
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			if _, err := e.Call(context.WithValue(ctx, cancelKey{}, cancel), "known", nil); err == nil {
				t.Fatal("no error")
			}
			for name, parent := range map[string]string{"mcp ask": c.node, "invoke_workflow known": c.node} {
				s := r.span(t, name)
				if s.Status().Code.String() != "Error" || get(s, "error.type") != parent {
					t.Errorf("%s: status %s, error.type %q", name, s.Status().Code, get(s, "error.type"))
				}
				if strings.Contains(s.Status().Description, "hunter2") {
					t.Errorf("%s: the description has a secret: %s", name, s.Status().Description)
				}
			}
			if s := r.span(t, "entry entry"); s.Status().Code.String() != "Unset" {
				t.Error("a node that did not fail is marked")
			}
			events := r.span(t, "mcp ask").Events()
			if len(events) != 1 || events[0].Name != "exception" || strings.Contains(fmt.Sprint(events[0].Attributes), "hunter2") {
				t.Errorf("events of the node: %v", events)
			}
			if c.status != "" {
				s := r.span(t, "tools/call get")
				if s.SpanKind() != trace.SpanKindClient || s.Status().Code.String() != c.status || get(s, "error.type") != c.call {
					t.Errorf("call: %s, status %s, error.type %q", s.SpanKind(), s.Status().Code, get(s, "error.type"))
				}
			}
			if len(r.spans.Started()) != len(r.spans.Ended()) {
				t.Errorf("%d spans were started, %d ended", len(r.spans.Started()), len(r.spans.Ended()))
			}
		})
	}
}

type cancelKey struct{}

func cancelOf(ctx context.Context) context.CancelCauseFunc {
	return ctx.Value(cancelKey{}).(context.CancelCauseFunc)
}

func TestSpanOfANodeSaysAttemptsCacheAndTheWayTaken(t *testing.T) {
	r := record(t, telemetry.Options{})
	e := engine(t, r.Telemetry, func(context.Context) (graph.ToolResult, error) { return reply(t, `{"structuredContent":{}}`), nil })
	if _, err := e.Call(context.Background(), "known", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mcp ask", "tools/call get"} {
		if s := r.span(t, name); get(s, "mcpgraph.call.attempts") != "2" || get(s, "mcpgraph.call.from_cache") != "true" {
			t.Errorf("%s: %v", name, s.Attributes())
		}
	}
	if got := fmt.Sprint(r.points(t)["mcp.client.operation.duration"]); got != "[gen_ai.operation.name=execute_tool,gen_ai.tool.name=get,mcp.method.name=tools/call,mcpgraph.server=fake,network.transport=pipe]" {
		t.Errorf("measured %s", got)
	}
	if _, err := e.Call(context.Background(), "endless", nil); err == nil {
		t.Fatal("an endless run ended well")
	}
	s := r.span(t, "switch a")
	if get(s, "mcpgraph.edge") != "conditions[0].next" || get(s, "mcpgraph.edge.target") != "a" || get(s, "mcpgraph.execution.index") != "1" {
		t.Errorf("switch: %v", s.Attributes())
	}
	if run := r.span(t, "invoke_workflow endless"); get(run, "error.type") != "limit_exceeded" || get(run, "mcpgraph.run.executions") != "3" {
		t.Errorf("run: %v", run.Attributes())
	}
}

func TestContentIsShownOnlyOnRequestCutAndWithoutSecrets(t *testing.T) {
	long := strings.Repeat("ä", 100)
	answer := func(context.Context) (graph.ToolResult, error) {
		return reply(t, `{"structuredContent":{"k":"hunter2","l":"`+long+`"}}`), nil
	}
	for _, content := range []bool{false, true} {
		r := record(t, telemetry.Options{Content: content, ContentLimit: 40})
		e := engine(t, r.Telemetry, answer)
		if _, err := e.Call(context.Background(), "known", map[string]any{"password": "hunter2"}); err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, s := range r.spans.Ended() {
			all += fmt.Sprint(s.Attributes())
		}
		if strings.Contains(all, "hunter2") {
			t.Errorf("content %t: a secret is in a span", content)
		}
		if strings.Contains(all, "[redacted]") != content || strings.Contains(all, "password") != content {
			t.Errorf("content %t: spans have %s", content, all)
		}
		if !content {
			continue
		}
		if got := get(r.span(t, "mcp ask"), "mcpgraph.node.output"); got != `{"k":"[redacted]","l":"`+strings.Repeat("ä", 8)+"…" {
			t.Errorf("the output is shown as %s", got)
		}
		if got := get(r.span(t, "tools/call get"), "gen_ai.tool.call.arguments"); got != `{"password":"[redacted]"}` {
			t.Errorf("the arguments are shown as %s", got)
		}
	}
}

// TestParkedRunIsNoFailure ends a call whose run goes on with another one.
func TestParkedRunIsNoFailure(t *testing.T) {
	r := record(t, telemetry.Options{})
	hooks := r.Recorder(subject).Hooks(nil)
	entry := &graph.Node{ID: "entry", Kind: &graph.Kind{Name: "entry", Role: graph.Entry}}
	run := executor.NewRun(&graph.Graph{Name: "known", Entry: entry, Nodes: []*graph.Node{entry}}, value.FromEntries(nil), 1)
	ctx, err := hooks.RunStart(context.Background(), run)
	if err != nil {
		t.Fatal(err)
	}
	hooks.RunDone(ctx, run, executor.ErrParked)
	if s := r.span(t, "invoke_workflow known"); s.Status().Code != codes.Unset || get(s, "error.type") != "" || get(s, "mcpgraph.run.parked") != "true" {
		t.Errorf("%v, %v", s.Status(), s.Attributes())
	}
}

func TestLoggerNamesTheTrace(t *testing.T) {
	r := record(t, telemetry.Options{})
	var out bytes.Buffer
	log := r.Logger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))).With("a", 1)
	ctx, done := r.Recorder(subject).Observe(context.Background(), &server.Request{Method: "ping"})
	log.InfoContext(ctx, "below the level")
	log.WarnContext(ctx, "inside")
	log.Warn("outside")
	done(server.Outcome{})
	at := r.span(t, "ping").SpanContext()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], fmt.Sprintf("msg=inside a=1 trace_id=%s span_id=%s", at.TraceID(), at.SpanID())) ||
		!strings.HasSuffix(lines[1], "msg=outside a=1") {
		t.Errorf("logged:\n%s", out.String())
	}
}

func TestNothingButUTF8IsExported(t *testing.T) {
	var exported []slog.Record
	r := record(t, telemetry.Options{Logs: keep{&exported}})
	log := r.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))).With("a\xff", "b\xff")
	log.Info("c\xff", "d", errors.New("e\xff"), slog.Group("g", "h", "i\xff"), "j", nil, "k", 1)
	if len(exported) != 1 {
		t.Fatalf("%d records were exported", len(exported))
	}
	text := exported[0].Message
	exported[0].Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	if want := "c\uFFFD a\uFFFD=b\uFFFD d=e\uFFFD g=[h=i\uFFFD] j=<nil> k=1"; text != want {
		t.Errorf("exported %q, want %q", text, want)
	}
	_, done := r.Recorder(subject).Observe(context.Background(), &server.Request{Method: "ping", Session: "s\xff", ID: `"x\xff"`})
	done(server.Outcome{Code: -32603, Message: "m\xff"})
	s := r.span(t, "ping")
	if get(s, "mcp.session.id") != "s\uFFFD" || get(s, "jsonrpc.request.id") == "" || !utf8.ValidString(get(s, "jsonrpc.request.id")) || s.Status().Description != "m\uFFFD" {
		t.Errorf("%v %q", s.Attributes(), s.Status().Description)
	}
}

// keep is a handler that keeps the records.
type keep struct{ records *[]slog.Record }

func (k keep) Enabled(context.Context, slog.Level) bool { return true }

func (k keep) Handle(_ context.Context, r slog.Record) error {
	*k.records = append(*k.records, r)
	return nil
}

func (k keep) WithAttrs(attrs []slog.Attr) slog.Handler { return keptWith{k, attrs} }

func (k keep) WithGroup(string) slog.Handler { return k }

type keptWith struct {
	keep
	attrs []slog.Attr
}

func (k keptWith) Handle(ctx context.Context, r slog.Record) error {
	whole := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	whole.AddAttrs(k.attrs...)
	r.Attrs(func(a slog.Attr) bool { whole.AddAttrs(a); return true })
	return k.keep.Handle(ctx, whole)
}

// drop is an exporter that sends nothing anywhere.
type drop struct{}

func (drop) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }

func (drop) Shutdown(context.Context) error { return nil }

// BenchmarkTelemetry measures calls of a graph of entry, mcp and exit: without
// telemetry; with spans that nobody samples; with metrics alone; with spans and
// metrics, batched as for a collector, and dropped there.
func BenchmarkTelemetry(b *testing.B) {
	answer := func(context.Context) (graph.ToolResult, error) {
		return graph.ToolResult{Reply: value.FromEntries(nil)}, nil
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	with := func(o telemetry.Options) *telemetry.Telemetry {
		tel, err := telemetry.New(o)
		if err != nil {
			b.Fatal(err)
		}
		return tel
	}
	for _, c := range []struct {
		name string
		tel  *telemetry.Telemetry
	}{
		{"off", nil},
		{"unsampled", with(telemetry.Options{Tracers: sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))})},
		{"metrics", with(telemetry.Options{Meters: meters})},
		{"all", with(telemetry.Options{Tracers: sdktrace.NewTracerProvider(sdktrace.WithBatcher(drop{})), Meters: meters})},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := engine(b, c.tel, answer)
			args := value.FromEntries(nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Call(context.Background(), "known", args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

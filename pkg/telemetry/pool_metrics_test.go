package telemetry_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// numbers returns what was counted, a line for each series that is not 0.
func (r recorded) numbers(t testing.TB) []string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(name string, points []metricdata.DataPoint[int64]) {
		for _, p := range points {
			if p.Value != 0 {
				lines = append(lines, fmt.Sprintf("%s{%s} %d", strings.TrimPrefix(name, "mcpgraph.upstream."), p.Attributes.Encoded(attribute.DefaultEncoder()), p.Value))
			}
		}
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				add(m.Name, data.DataPoints)
			case metricdata.Gauge[int64]:
				add(m.Name, data.DataPoints)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func TestStatisticsOfUpstreamServersAreMeasured(t *testing.T) {
	r := record(t, telemetry.Options{})
	now := []upstream.Stats{
		{Server: "a", State: "connected", Sessions: 2, Opened: 3, Traffic: upstream.Traffic{
			Calls: 10, Errors: 4, Retries: 5, RateLimitWaits: 6, CacheHits: 7,
			Breakers: []upstream.Breaker{{Tool: "get", State: "closed", Count: 1}, {Tool: "get", State: "open", Count: 2}},
		}},
		{Server: "b", State: "idle"},
	}
	stop := r.Watch(func() []upstream.Stats { return now })
	check := func(want ...string) {
		t.Helper()
		if got := r.numbers(t); !slices.Equal(got, want) {
			t.Errorf("measured\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check("breakers{gen_ai.tool.name=get,mcpgraph.breaker.state=closed,mcpgraph.server=a} 1",
		"breakers{gen_ai.tool.name=get,mcpgraph.breaker.state=open,mcpgraph.server=a} 2",
		"cache_hits{mcpgraph.server=a} 7", "calls{mcpgraph.server=a} 10", "errors{mcpgraph.server=a} 4",
		"opened_sessions{mcpgraph.server=a} 3", "rate_limit_waits{mcpgraph.server=a} 6", "retries{mcpgraph.server=a} 5",
		"sessions{mcpgraph.server=a} 2",
		"state{mcpgraph.server=a,mcpgraph.upstream.state=connected} 1", "state{mcpgraph.server=b,mcpgraph.upstream.state=idle} 1")

	// What was counted stays when a pool is closed, and another one goes on.
	now = []upstream.Stats{{Server: "a", State: "closed", Opened: 4, Traffic: upstream.Traffic{Calls: 11}}}
	stop()
	stop()
	check("calls{mcpgraph.server=a} 11", "opened_sessions{mcpgraph.server=a} 4")
	r.Watch(func() []upstream.Stats {
		return []upstream.Stats{{Server: "a", State: "failed", Traffic: upstream.Traffic{Calls: 1}}}
	})
	for range 2 {
		check("calls{mcpgraph.server=a} 12", "opened_sessions{mcpgraph.server=a} 4", "state{mcpgraph.server=a,mcpgraph.upstream.state=failed} 1")
	}
}

func TestSessionsWithUpstreamServersAreMeasured(t *testing.T) {
	r := record(t, telemetry.Options{})
	s := subject
	s.Server = func(string) telemetry.Endpoint {
		return telemetry.Endpoint{Transport: "tcp", Address: "tools.example", Port: 8080}
	}
	session := r.Recorder(s).UpstreamSession
	session(upstream.SessionInfo{Server: "a", Protocol: "2025-11-25"})(nil)
	session(upstream.SessionInfo{Server: "a", Protocol: "2025-11-25"})(&upstream.Error{Server: "a", Op: "session"})
	const where = "mcp.protocol.version=2025-11-25,mcpgraph.server=a,network.transport=tcp,server.address=tools.example,server.port=8080"
	got := r.points(t)["mcp.client.session.duration"]
	slices.Sort(got)
	if want := []string{"error.type=upstream_session," + where, where}; !slices.Equal(got, want) {
		t.Errorf("measured %q, want %q", got, want)
	}
}

func TestSpanOfACallSaysWhatWasSent(t *testing.T) {
	web := &mcptest.Web{}
	s := httptest.NewServer(web)
	defer s.Close()
	r := record(t, telemetry.Options{})
	file := strings.Replace(config, `{command: none, env: {TOKEN: "${TOKEN}"}}`, "{url: "+s.URL+"}", 1)
	e := engineOf(t, strings.Replace(file, "tool: get", "tool: echo", 1), mcpgraph.WithTelemetry(r.Telemetry))
	if _, err := e.Call(context.Background(), "known", nil); err != nil {
		t.Fatal(err)
	}
	arrived := web.Arrivals("tools/call")[0]
	span := r.span(t, "tools/call echo")
	if got := get(span, "mcp.session.id"); got == "" || got != arrived.Header.Get("Mcp-Session-Id") {
		t.Errorf("session %q, sent %q", got, arrived.Header.Get("Mcp-Session-Id"))
	}
	if got := get(span, "jsonrpc.request.id"); got == "" || !strings.Contains(arrived.Body, `"id":`+got+`,`) {
		t.Errorf("id %q, sent %s", got, arrived.Body)
	}
	if get(span, "mcp.protocol.version") != "2025-11-25" || get(span, "network.transport") != "tcp" || get(span, "server.address") != "127.0.0.1" {
		t.Errorf("%v", span.Attributes())
	}
	if got := r.numbers(t); !slices.Contains(got, "calls{mcpgraph.server=fake} 1") || !slices.Contains(got, "state{mcpgraph.server=fake,mcpgraph.upstream.state=connected} 1") {
		t.Errorf("measured %q", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := r.points(t)["mcp.client.session.duration"]; len(got) != 1 || strings.Contains(got[0], "error.type") {
		t.Errorf("sessions: %q", got)
	}
}

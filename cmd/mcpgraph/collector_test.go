package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	logsv1 "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracesv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	logv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	metricv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives OTLP over HTTP, protobuf encoded, as any collector does.
type collector struct {
	url string

	mu      sync.Mutex
	spans   []span
	metrics map[string][]*metricv1.Metric // by service
	logs    []*logv1.LogRecord
	proofs  map[string]string // the header Authorization, by path
}

// span is a span and the service that it came from.
type span struct {
	*tracev1.Span
	service string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string][]*metricv1.Metric{}, proofs: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		receive(t, w, r, &tracesv1.ExportTraceServiceRequest{}, c.takeTraces)
	})
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, r *http.Request) {
		receive(t, w, r, &metricsv1.ExportMetricsServiceRequest{}, c.takeMetrics)
	})
	mux.HandleFunc("POST /v1/logs", func(w http.ResponseWriter, r *http.Request) {
		receive(t, w, r, &logsv1.ExportLogsServiceRequest{}, c.takeLogs)
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.proofs[r.URL.Path] = r.Header.Get("Authorization")
		c.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

func receive[M proto.Message](t *testing.T, w http.ResponseWriter, r *http.Request, message M, take func(M)) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, message)
	}
	if err != nil {
		t.Errorf("%s: %v", r.URL.Path, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	take(message)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *collector) takeTraces(m *tracesv1.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range m.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, one := range s.Spans {
				c.spans = append(c.spans, span{one, serviceOf(r.Resource)})
			}
		}
	}
}

func (c *collector) takeMetrics(m *metricsv1.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range m.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			c.metrics[serviceOf(r.Resource)] = append(c.metrics[serviceOf(r.Resource)], s.Metrics...)
		}
	}
}

func (c *collector) takeLogs(m *logsv1.ExportLogsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range m.ResourceLogs {
		for _, s := range r.ScopeLogs {
			c.logs = append(c.logs, s.LogRecords...)
		}
	}
}

func serviceOf(r *resourcev1.Resource) string { return attribute(r.Attributes, "service.name") }

// attribute gives an attribute as text, empty where it is not there.
func attribute(attrs []*commonv1.KeyValue, key string) string {
	for _, a := range attrs {
		if a.Key != key {
			continue
		}
		switch v := a.Value.Value.(type) {
		case *commonv1.AnyValue_StringValue:
			return v.StringValue
		case *commonv1.AnyValue_IntValue:
			return fmt.Sprint(v.IntValue)
		case *commonv1.AnyValue_BoolValue:
			return fmt.Sprint(v.BoolValue)
		}
	}
	return ""
}

// count gives the last value of a counter of a service, over all its series.
func (c *collector) count(service, name string) int64 {
	var sum int64
	for _, m := range c.metrics[service] {
		if m.Name == name {
			sum = 0
			for _, p := range m.GetSum().GetDataPoints() {
				sum += p.GetAsInt()
			}
		}
	}
	return sum
}

// shown are the attributes that a tree shows.
var shown = []string{
	"gen_ai.operation.name", "network.transport", "mcpgraph.server",
	"mcpgraph.execution.index", "mcpgraph.edge", "mcpgraph.edge.target",
	"mcpgraph.call.attempts", "mcpgraph.call.from_cache", "error.type",
}

// tree shows the spans below the one with this id, as they began, each with its
// service and its attributes.
func (c *collector) tree(trace, parent string) string {
	var b strings.Builder
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		var children []span
		for _, s := range c.spans {
			if hex.EncodeToString(s.TraceId) == trace && hex.EncodeToString(s.ParentSpanId) == parent {
				children = append(children, s)
			}
		}
		slices.SortFunc(children, func(a, b span) int { return int(a.StartTimeUnixNano) - int(b.StartTimeUnixNano) })
		for _, s := range children {
			kind := strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")
			fmt.Fprintf(&b, "%s%s: %s %s", strings.Repeat("  ", depth), s.service, kind, s.Name)
			for _, key := range shown {
				if text := attribute(s.Attributes, key); text != "" {
					name := strings.TrimPrefix(strings.TrimPrefix(key, "mcpgraph."), "gen_ai.")
					fmt.Fprintf(&b, " %s=%s", name, text)
				}
			}
			if s.Status.GetCode() == tracev1.Status_STATUS_CODE_ERROR {
				b.WriteString(" ERROR")
			}
			b.WriteString("\n")
			for _, e := range s.Events {
				fmt.Fprintf(&b, "%s! %s: %s\n", strings.Repeat("  ", depth+1), e.Name, attribute(e.Attributes, "exception.message"))
			}
			walk(hex.EncodeToString(s.SpanId), depth+1)
		}
	}
	walk(parent, 0)
	return b.String()
}

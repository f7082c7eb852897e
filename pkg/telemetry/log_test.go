package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
)

func TestWhatIsLoggedDuringACallNamesItsTrace(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not now", http.StatusServiceUnavailable)
	}))
	defer s.Close()
	r := record(t, telemetry.Options{})
	var out bytes.Buffer
	log := r.Logger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	file := strings.Replace(config, `{command: none, env: {TOKEN: "${TOKEN}"}}`,
		"{url: "+s.URL+", retry: {maxAttempts: 2, initialDelayMs: 1}, circuitBreaker: {failureThreshold: 1}}", 1)
	e := engineOf(t, file, mcpgraph.WithTelemetry(r.Telemetry), mcpgraph.WithLogger(log))
	if _, err := e.Call(context.Background(), "known", nil); err == nil {
		t.Fatal("no error")
	}
	e = engineOf(t, config, mcpgraph.WithTelemetry(r.Telemetry), mcpgraph.WithLogger(log),
		mcpgraph.WithGetenv(func(string) (string, bool) { return "x", true }),
		mcpgraph.WithCaller(answers(func(context.Context) (graph.ToolResult, error) { panic("no") })))
	if _, err := e.Call(context.Background(), "known", nil); err == nil {
		t.Fatal("no error")
	}
	for _, message := range []string{"a call failed and may be tried again", "circuit breaker", "a node panicked"} {
		if !regexp.MustCompile(`msg="` + message + `" .*trace_id=[0-9a-f]{32} span_id=[0-9a-f]{16}`).MatchString(out.String()) {
			t.Errorf("%q does not name its trace in\n%s", message, out.String())
		}
	}
}

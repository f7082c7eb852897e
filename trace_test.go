package mcpgraph_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const (
	traceID     = "0af7651916cd43dd8448eb211c80319c"
	traceparent = "00-" + traceID + "-b7ad6b7169203331-01"
	tracestate  = "vendor=opaque"
	baggage     = "tenant=a"
)

// TestTheTraceOfARequestReachesTheServersThatItCalls sends requests with a trace,
// in _meta or in the headers of HTTP, through an engine to a process and to a
// server over HTTP of either era.
func TestTheTraceOfARequestReachesTheServersThatItCalls(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	members := fmt.Sprintf(`"traceparent":%q,"tracestate":%q,"baggage":%q`, traceparent, tracestate, baggage)
	requests := map[string]func(t *testing.T, engine *mcpgraph.Engine){
		"stdio": func(t *testing.T, engine *mcpgraph.Engine) {
			c := serve(t, engine)
			c.ask("initialize", initialize)
			c.ask("tools/call", `{"name":"both","_meta":{`+members+`}}`)
		},
		"HTTP, _meta before headers": func(t *testing.T, engine *mcpgraph.Engine) {
			c := serveWeb(t, engine)
			c.post(context.Background(), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"both","_meta":{`+members+`}}}`,
				append(c.session(), "traceparent", "00-11111111111111111111111111111111-2222222222222222-01")...)
		},
		"HTTP headers": func(t *testing.T, engine *mcpgraph.Engine) {
			c := serveWeb(t, engine)
			c.post(context.Background(), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"both"}}`,
				append(c.session(), "traceparent", traceparent, "tracestate", tracestate, "baggage", baggage)...)
		},
		"HTTP without sessions": func(t *testing.T, engine *mcpgraph.Engine) {
			serveWeb(t, engine).post(context.Background(), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"both",`+
				`"_meta":{`+members+`,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
				"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "both")
		},
	}
	for name, send := range requests {
		for _, traced := range []bool{false, true} {
			for _, modern := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/traced=%t,modern=%t", name, traced, modern), func(t *testing.T) {
					web := &mcptest.Web{Modern: modern}
					s := httptest.NewServer(web)
					t.Cleanup(s.Close)
					var options []mcpgraph.Option
					if traced {
						tracers := sdktrace.NewTracerProvider()
						tel, err := telemetry.New(telemetry.Options{Tracers: tracers})
						if err != nil {
							t.Fatal(err)
						}
						options = append(options, mcpgraph.WithTelemetry(tel))
					}
					engine := mustLoad(t, fmt.Sprintf(`version: "1.0"
server: {name: t, version: "1"}
mcpServers:
  process: {command: %q, env: {%s: 1}}
  web: {url: %q}
tools:
  - name: both
    description: Calls both
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
      - {id: a, type: mcp, server: process, tool: meta, next: b}
      - {id: b, type: mcp, server: web, tool: meta, next: exit}
      - {id: exit, type: exit}
`, self, fakeServer, s.URL), options...)
					send(t, engine)
					runs := engine.Runs().List("")
					if len(runs) != 1 || runs[0].Err != "" {
						t.Fatalf("the runs are %+v", runs)
					}
					run, err := runs[0].Replay()
					if err != nil {
						t.Fatal(err)
					}
					check := func(where, parent, state, bag string) {
						t.Helper()
						ok := parent == traceparent
						if traced { // the span of the call is in between
							ok = strings.HasPrefix(parent, "00-"+traceID+"-") && parent != traceparent && len(parent) == len(traceparent)
						}
						if !ok || state != tracestate || bag != baggage {
							t.Errorf("%s: traceparent %q, tracestate %q, baggage %q", where, parent, state, bag)
						}
					}
					for _, node := range []string{"a", "b"} {
						meta := value.Undef
						for _, rec := range run.History() {
							if rec.Node == node {
								meta = rec.Output
							}
						}
						check("_meta of "+node, meta.Get("traceparent").Str(), meta.Get("tracestate").Str(), meta.Get("baggage").Str())
					}
					check("headers", headerOf(web, "traceparent"), headerOf(web, "tracestate"), headerOf(web, "baggage"))
				})
			}
		}
	}
}

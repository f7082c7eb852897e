package mcpgraph_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// slowServer is a server whose calls wait until the test lets them go.
type slowServer struct{ begun, let chan struct{} }

func (s slowServer) CallTool(ctx context.Context, _ *callinfo.Info, _, _ string, args value.Value) (graph.ToolResult, error) {
	s.begun <- struct{}{}
	select {
	case <-s.let:
		b := value.NewBuilder(1)
		b.Set("structuredContent", args)
		return graph.ToolResult{Reply: b.Value(), Attempts: 1}, nil
	case <-ctx.Done():
		return graph.ToolResult{}, context.Cause(ctx)
	}
}

func TestTheFileAndOptionsLimitCallsAtTheSameTime(t *testing.T) {
	const file = `version: "1.0"
server: {name: t, version: "1", maxConcurrentCalls: 1, maxCallWaitMs: 1}
mcpServers:
  slow: {command: "true"}
tools:
  - name: slow
    description: Waits
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: n}
      - {id: n, type: mcp, server: slow, tool: x, next: exit}
      - {id: exit, type: exit}
`
	for name, tt := range map[string]struct {
		options []mcpgraph.Option
		want    string // of the second call; empty where both run
	}{
		"the file":     {nil, "the server is busy: 1 call is running"},
		"every caller": {[]mcpgraph.Option{mcpgraph.WithMaxConcurrentCalls(2), mcpgraph.WithMaxConcurrentCallsPerCaller(1)}, "this caller is at its limit: 1 call is running"},
		"any number":   {[]mcpgraph.Option{mcpgraph.WithMaxConcurrentCalls(0)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := slowServer{make(chan struct{}, 2), make(chan struct{})}
			c := serve(t, mustLoad(t, file, append(tt.options, mcpgraph.WithCaller(s))...))
			c.tell(`{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"slow"}}`)
			<-s.begun
			if tt.want == "" {
				c.tell(`{"jsonrpc":"2.0","id":"second","method":"tools/call","params":{"name":"slow"}}`)
				<-s.begun
				close(s.let)
				c.next()
			} else {
				_, answer := c.ask("tools/call", `{"name":"slow"}`)
				if text := answer.Get("result").JSON(); !strings.Contains(text, tt.want) || !strings.Contains(text, `"isError":true`) {
					t.Errorf("the second call: %s", text)
				}
				close(s.let)
			}
			if answer := c.next(); answer.Get("result").Get("isError").Bool() {
				t.Errorf("a call that ran: %s", answer.JSON())
			}
		})
	}
}

// A run that reaches its time limit fails with `limit`, whatever it waits for.
func TestTheTimeLimitOfARunIsALimit(t *testing.T) {
	t.Parallel()
	for name, start := range endlessCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.limits = "{maxExecutionTimeMs: 300}"
			engine := mustLoad(t, e.file())
			_, err := engine.Call(t.Context(), "long", nil)
			if f := executor.FailureOf(err); err == nil || f.Name != "limit" {
				t.Errorf("got %v, want a limit", err)
			}
		})
	}
}

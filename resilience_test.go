package mcpgraph_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The record of a node execution says how often its server was asked, whether
// it was asked at all, and how long that took.
func TestHistorySaysAttemptsCacheAndDuration(t *testing.T) {
	server := mcptest.NewFaulty(t)
	config := fmt.Sprintf(`
version: "1.0"
server: {name: resilient, version: "1.0.0"}
mcpServers:
  fake:
    url: %s
    retry: {maxAttempts: 3, initialDelayMs: 50, jitter: false}
    cache: {ttlMs: 3600000, tools: [read]}
tools:
  - name: look_up
    description: Looks something up
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: mcp, server: fake, tool: read, next: exit}
      - {id: exit, type: exit}
`, server.URL)
	var asked []executor.Record
	engine := mustLoad(t, config, mcpgraph.WithHooks(executor.Hooks{NodeDone: func(_ context.Context, _ *executor.Run, r executor.Record) {
		if r.Node == "ask" {
			asked = append(asked, r)
		}
	}}))
	server.Next(mcptest.Status(503), mcptest.Status(503), mcptest.Good)
	for range 2 {
		if _, err := engine.Call(context.Background(), "look_up", nil); err != nil {
			t.Fatal(err)
		}
	}
	first, second := asked[0], asked[1]
	if first.Attempts != 3 || first.FromCache || server.Calls() != 3 {
		t.Errorf("first: attempts %d, from cache %v; the server saw %d", first.Attempts, first.FromCache, server.Calls())
	}
	if took := first.End.Sub(first.Start); took < 150*time.Millisecond { // 50 and 100 of waiting
		t.Errorf("first took %v", took)
	}
	if second.Attempts != 0 || !second.FromCache {
		t.Errorf("second: attempts %d, from cache %v", second.Attempts, second.FromCache)
	}

	server.Always(mcptest.Status(503))
	failing := mustLoad(t, config, mcpgraph.WithHooks(executor.Hooks{NodeDone: func(_ context.Context, _ *executor.Run, r executor.Record) {
		if r.Node == "ask" {
			asked = append(asked, r)
		}
	}}))
	if _, err := failing.Call(context.Background(), "look_up", nil); err == nil {
		t.Fatal("no error")
	}
	if third := asked[2]; third.Attempts != 3 || third.FromCache || third.Err == nil {
		t.Errorf("third: %+v", third)
	}
}

// flaky fails every first call, and notes the keys of calls by tool.
type flaky map[string][]string

func (f flaky) CallTool(_ context.Context, info *callinfo.Info, _, tool string, _ value.Value) (graph.ToolResult, error) {
	if f[tool] = append(f[tool], info.OrNone().IdempotencyKey); len(f[tool]) == 1 {
		return graph.ToolResult{}, errors.New("not now")
	}
	reply, err := value.Parse(`{"content":[]}`)
	return graph.ToolResult{Reply: reply, Attempts: 1}, err
}

func TestCallsThatAreRepeatedCarryOneKey(t *testing.T) {
	seen := flaky{"plain": {"called before"}}
	engine := mustLoad(t, `
version: "1.0"
server: {name: resilient, version: "1.0.0"}
mcpServers: {fake: {command: "true"}}
tools:
  - name: t
    description: Calls two tools
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: again}
      - {id: again, type: mcp, server: fake, tool: repeated, retry: {initialDelayMs: 1}, next: once}
      - {id: once, type: mcp, server: fake, tool: plain, next: exit}
      - {id: exit, type: exit}
`, mcpgraph.WithCaller(seen))
	info := &callinfo.Info{Caller: "ann"}
	if _, err := engine.Call(context.Background(), "t", nil, mcpgraph.WithCallInfo(info)); err != nil {
		t.Fatal(err)
	}
	if keys := seen["repeated"]; len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("the keys of the repeated call are %q", keys)
	}
	if keys := seen["plain"]; len(keys) != 2 || keys[1] != "" || info.IdempotencyKey != "" {
		t.Errorf("a call that is not repeated has the key %q, the call of the tool %q", keys[1], info.IdempotencyKey)
	}
}

package mcpgraph_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
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

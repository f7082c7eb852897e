package telemetry_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
)

func TestSpansTellOfRetriesAndBodies(t *testing.T) {
	r := record(t, telemetry.Options{})
	calls := 0 // each but the third fails
	e := engineOf(t, `
version: "1.0"
server: {name: t, version: "1"}
mcpServers: {up: {command: x, env: {KEY: "${KEY}"}}}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    catch: {next: exit}
    nodes:
      - {id: entry, type: entry, next: each}
      - id: each
        type: map
        items: [7, 8]
        maxConcurrency: 1
        nodes:
          - {id: call, type: mcp, server: up, tool: work, retry: {initialDelayMs: 2, jitter: false}}
        next: both
      - {id: both, type: parallel, branches: {left: [{id: quiet, type: wait, ms: 1}], right: [{id: pause, type: wait, ms: 1}]}, next: stop}
      - {id: stop, type: switch, conditions: [{rule: {"==": [{var: entry.never}, 1]}, next: exit}], next: sold}
      - {id: sold, type: fail, error: outOfStock}
      - {id: exit, type: exit}
`, mcpgraph.WithCaller(answers(func(context.Context) (graph.ToolResult, error) {
		if calls++; calls%3 != 0 {
			return graph.ToolResult{Attempts: 1}, errors.New("broken by hunter2")
		}
		return reply(t, `{"content":[]}`), nil
	})), mcpgraph.WithTelemetry(r.Telemetry), mcpgraph.WithGetenv(func(string) (string, bool) { return "hunter2", true }))
	if _, err := e.Call(context.Background(), "t", nil); err == nil {
		t.Fatal("the run did not fail")
	}
	var items []string
	for _, s := range r.spans.Ended() {
		index, branch := get(s, "mcpgraph.body.index"), get(s, "mcpgraph.body.branch")
		switch s.Name() {
		case "mcp call":
			items = append(items, index)
			var told []string
			for _, event := range s.Events() {
				for _, a := range event.Attributes {
					told = append(told, event.Name+" "+string(a.Key)+"="+a.Value.String())
				}
			}
			for _, want := range []string{
				"retry mcpgraph.retry.attempt=1", "retry mcpgraph.retry.attempt=2", "retry mcpgraph.retry.delay_ms=2", "retry mcpgraph.retry.delay_ms=4",
			} {
				if !slices.Contains(told, want) {
					t.Errorf("the events are %q, want %q", told, want)
				}
			}
			if len(s.Events()) != 2 || get(s, "mcpgraph.node.tries") != "3" {
				t.Errorf("%d events, %s tries", len(s.Events()), get(s, "mcpgraph.node.tries"))
			}
			for _, text := range told {
				if strings.Contains(text, "hunter2") {
					t.Errorf("a secret is in %q", text)
				}
			}
		case "wait quiet", "wait pause":
			if want := map[string]string{"wait quiet": "left", "wait pause": "right"}[s.Name()]; branch != want || index != "" {
				t.Errorf("%s is in branch %q, item %q", s.Name(), branch, index)
			}
		default:
			if branch != "" || index != "" {
				t.Errorf("%s is in branch %q, item %q", s.Name(), branch, index)
			}
		}
		if s.Name() == "fail sold" && get(s, "error.type") != "outOfStock" {
			t.Errorf("error.type is %q", get(s, "error.type"))
		}
	}
	if !slices.Equal(items, []string{"0", "1"}) {
		t.Errorf("items are %q", items)
	}
}

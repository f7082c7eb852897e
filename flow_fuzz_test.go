package mcpgraph_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// FuzzFlow loads tools with any node n among them. What loads runs to an end within
// its limits, and leaves no goroutine behind.
func FuzzFlow(f *testing.F) {
	for _, fault := range faults {
		f.Add(fault.node+", next: exit", "next: exit")
	}
	for _, policy := range []string{
		`retry: {errors: [all, 5xx, -32001], maxAttempts: 4, initialDelayMs: 200, backoff: 2, maxDelayMs: 5000, jitter: true}`,
		`retry: [{errors: [busy], maxAttempts: 2}, {}], catch: [{errors: [toolError], when: {expr: $error.code = 404}, next: exit}, {next: n}]`,
		`timeoutMs: 5, catch: {next: exit}`,
	} {
		f.Add(`type: mcp, server: up, tool: wrong, next: exit, `+policy, "next: exit")
		f.Add(`type: map, items: [1, 2], as: a, at: b, maxConcurrency: 0, tolerateFailures: 50%, body: {nodes: [{id: m, type: mcp, server: up, tool: hang}, {id: k, type: wait, ms: 1}], catch: {next: k}}, next: exit, `+policy, "errors: [all], next: n")
	}
	f.Fuzz(func(t *testing.T, node, catch string) {
		source := faultFile("executionLimits: {maxNodeExecutions: 20, maxTotalExecutions: 200, maxExecutionTimeMs: 5000}",
			"    catch: {"+catch+"}\n    nodes: [{id: entry, type: entry, next: n}, {id: n, "+node+"}, {id: exit, type: exit}]\n", faultHelpers)
		synctest.Test(t, func(t *testing.T) {
			e, err := mcpgraph.LoadBytes("fuzz.yaml", []byte(source), mcpgraph.WithCaller(&faultyTools{}),
				mcpgraph.WithGetenv(func(string) (string, bool) { return "", false }))
			if err != nil {
				return
			}
			defer func() { time.Sleep(2 * time.Minute) }()
			defer e.Close()
			for _, tool := range e.Tools() {
				began := time.Now()
				_, _ = e.Call(context.Background(), tool.Name, map[string]any{}, mcpgraph.WithAsk(func(context.Context, executor.Question) (value.Value, error) {
					return value.Parse(`{"action":"accept","content":{}}`)
				}))
				if took := time.Since(began); took > time.Minute+10*time.Second {
					t.Errorf("%s took %v", tool.Name, took)
				}
			}
		})
	})
}

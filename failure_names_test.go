package mcpgraph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// caughtFile has a tool for each kind of node, whose failure is its result. %s is
// where the settings of the server go on.
const caughtFile = `version: "1.0"
server: {name: failing, version: "1"}
mcpServers:
  up: {url: %q%s}
tools:
  - name: call
    description: Calls the server
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: node}
      - {id: node, type: mcp, server: up, tool: write%s, catch: {next: exit}, next: exit}
      - {id: exit, type: exit}
  - name: compute
    description: Computes
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: node}
      - {id: node, type: transform, transform: {expr: '1 + "x"'}, catch: {next: exit}, next: exit}
      - {id: exit, type: exit}
  - name: rule
    description: Decides
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: each}
      - id: each
        type: map
        items: {expr: "[1]"}
        nodes:
          - {id: node, type: switch, conditions: [{rule: false, next: never}]}
          - {id: never, type: transform, transform: {expr: "1"}}
        catch: {next: exit}
        next: exit
      - {id: exit, type: exit}
`

// TestFailuresHaveTheirNames shows what rules of a graph know of each failure.
func TestFailuresHaveTheirNames(t *testing.T) {
	for _, test := range []struct {
		what           string
		fault          mcptest.Fault
		settings, node string
		before         int    // calls that came first
		want           string // name and code
	}{
		{what: "isError", fault: mcptest.ToolError, want: "toolError "},
		{what: "no connection", want: "connect "},
		{what: "reset", fault: mcptest.Reset, want: "closed "},
		{what: "no answer", fault: mcptest.Hang, settings: ", timeoutMs: 50", want: "timeout "},
		{what: "no answer in all", fault: mcptest.Hang, settings: ", maxCallTimeMs: 50", want: "timeout "},
		{what: "no answer to the node", fault: mcptest.Hang, node: ", timeoutMs: 50", want: "timeout "},
		{what: "not JSON", fault: mcptest.Garbage, want: "malformed "},
		{what: "401", fault: mcptest.Status(401), want: "unauthorized 401"},
		{what: "403", fault: mcptest.Status(403), want: "unauthorized 403"},
		{what: "503", fault: mcptest.Status(503), want: "protocol 503"},
		{what: "404", fault: mcptest.Status(404), want: "protocol 404"},
		{what: "an error of JSON-RPC", fault: mcptest.ErrorCode(-32001), want: "protocol -32001"},
		{what: "open circuit", fault: mcptest.Status(503), settings: ", circuitBreaker: {failureThreshold: 1}", before: 1, want: "busy "},
		{what: "no turn", fault: mcptest.Good, settings: ", rateLimit: {limit: 1, periodMs: 600000}", before: 1, want: "busy "},
		{what: "no structure", fault: mcptest.Good, node: ", output: structured", want: "output "},
		{what: "compute", fault: mcptest.Good, want: "expression T2002"},
		{what: "rule", fault: mcptest.Good, want: "noRoute "},
	} {
		t.Run(test.what, func(t *testing.T) {
			server := mcptest.NewFaulty(t)
			engine := mustLoad(t, fmt.Sprintf(caughtFile, server.URL, test.settings, test.node))
			if test.fault == nil {
				server.Refuse()
			} else {
				server.Always(test.fault)
			}
			tool := test.what
			if tool != "compute" && tool != "rule" {
				tool = "call"
			}
			for range test.before {
				_, _ = engine.Call(context.Background(), tool, nil)
			}
			result, err := engine.Call(context.Background(), tool, nil)
			if err != nil {
				t.Fatal(err)
			}
			failure := result.Value.Get("error")
			code := strings.Trim(failure.Get("code").JSON(), `"`)
			if code == "undefined" || code == "null" {
				code = ""
			}
			if got := failure.Get("name").Str() + " " + code; got != test.want {
				t.Errorf("got %q, want %q: %s", got, test.want, failure.JSON())
			}
		})
	}
}

func TestRetryOfANodeHeedsTheServer(t *testing.T) {
	for _, test := range []struct {
		fault mcptest.Fault
		calls int
	}{
		{mcptest.Status(503), 3},
		{mcptest.Status(503, "Retry-After", "3600"), 1}, // longer than the rule allows
		{mcptest.Status(400), 1},
	} {
		server := mcptest.NewFaulty(t)
		engine := mustLoad(t, fmt.Sprintf(caughtFile, server.URL, "", ", retry: {errors: [5xx], maxAttempts: 3, initialDelayMs: 1}"))
		server.Always(test.fault)
		if _, err := engine.Call(context.Background(), "call", nil); err != nil {
			t.Fatal(err)
		}
		if server.Calls() != test.calls {
			t.Errorf("the server was called %d times, want %d", server.Calls(), test.calls)
		}
	}
}

// The text of a tool that failed reaches the client once, however long it is.
func TestTheTextOfAFailedToolIsSentOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é", 500_000)
	file := overHTTP(t, &mcptest.Web{}, "", fmt.Sprintf(`fail {text: %q}`, text))
	c := serve(t, mustLoad(t, file))
	c.ask("initialize", initialize)
	_, answer := c.ask("tools/call", `{"name":"one","arguments":{}}`)
	result := answer.Get("result")
	if whole := result.Get("content").Elems()[0].Get("text").Str(); !strings.Contains(whole, text) {
		t.Errorf("the text has %d bytes", len(whole))
	}
	failed := result.Get("_meta").Get("mcpgraph/error")
	if message := failed.Get("message").Str(); message != text[:16<<10] {
		t.Errorf("the message has %d bytes", len(message))
	}
	if n := failed.TextSize(); n > 64<<10 {
		t.Errorf("the failure has %d bytes", n)
	}
}

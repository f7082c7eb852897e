package mcpgraph_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const steps = `version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: either
    description: Takes one of two ways, of which one is longer
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: how}
      - {id: how, type: switch, conditions: [{rule: {var: entry.long}, next: a}], next: b}
      - {id: a, type: transform, transform: {expr: '1'}, next: b}
      - {id: b, type: transform, transform: {expr: '$.entry.fail ? $error("it fails") : 2'}, next: exit}
      - {id: exit, type: exit}
  - name: again
    description: Goes round
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: count}
      - {id: count, type: transform, transform: {expr: '$executionCount("count") + 1'}, next: enough}
      - {id: enough, type: switch, conditions: [{rule: {"<": [{var: count}, 3]}, next: count}], next: exit}
      - {id: exit, type: exit}
`

// said returns the parameters of notifications, one a line.
func said(notifications []value.Value) string {
	var lines []string
	for _, n := range notifications {
		lines = append(lines, strings.TrimPrefix(n.Get("params").JSON(), `{"progressToken":7,`))
	}
	return strings.Join(lines, "\n")
}

func TestTheClientHearsOfNodesAsTheyFinish(t *testing.T) {
	// Over stdio no progress comes with the answer.
	c := serve(t, mustLoad(t, steps, mcpgraph.WithHooks(executor.Hooks{NodeDone: func(_ context.Context, _ *executor.Run, rec executor.Record) {
		if rec.Kind == "exit" || rec.Err != nil {
			time.Sleep(300 * time.Millisecond)
		}
	}})))
	c.ask("initialize", initialize)
	for _, tt := range []struct{ call, want string }{
		{`"either","arguments":{"long":true}`, `"progress":1,"message":"node \"entry\" (entry)"}
"progress":2,"total":5,"message":"node \"how\" (switch)"}
"progress":3,"total":5,"message":"node \"a\" (transform)"}
"progress":4,"total":5,"message":"node \"b\" (transform)"}
"progress":5,"total":5,"message":"node \"exit\" (exit)"}`},
		{`"either","arguments":{"fail":true}`, `"progress":1,"message":"node \"entry\" (entry)"}
"progress":2,"total":4,"message":"node \"how\" (switch)"}
"progress":3,"message":"node \"b\" (transform) failed"}`},
		{`"again"`, `"progress":1,"message":"node \"entry\" (entry)"}
"progress":2,"message":"node \"count\" (transform)"}
"progress":3,"message":"node \"enough\" (switch)"}
"progress":4,"message":"node \"count\" (transform)"}
"progress":5,"message":"node \"enough\" (switch)"}
"progress":6,"message":"node \"count\" (transform)"}
"progress":7,"total":8,"message":"node \"enough\" (switch)"}
"progress":8,"total":8,"message":"node \"exit\" (exit)"}`},
	} {
		before, _ := c.ask("tools/call", `{"name":`+tt.call+`,"_meta":{"progressToken":7}}`)
		if got := said(before); got != tt.want {
			t.Errorf("%s: heard\n%s\nwant\n%s", tt.call, got, tt.want)
		}
		if before, _ = c.ask("tools/call", `{"name":`+tt.call+`}`); len(before) > 0 {
			t.Errorf("%s: heard unasked\n%s", tt.call, said(before))
		}
	}
}

func TestTheClientGetsLogMessagesAboutNodesOfTheLevelThatItAskedFor(t *testing.T) {
	c := serve(t, mustLoad(t, steps))
	c.ask("initialize", initialize)
	for level, want := range map[string][]string{
		"debug": {"debug entry entry 0", "debug how switch 1", "error b transform 2"},
		"info":  {"error b transform 2"},
		"alert": nil,
	} {
		c.ask("logging/setLevel", `{"level":"`+level+`"}`)
		before, _ := c.ask("tools/call", `{"name":"either","arguments":{"fail":true}}`)
		if len(before) != len(want) {
			t.Errorf("%s: got\n%s", level, said(before))
			continue
		}
		for i, n := range before {
			p := n.Get("params")
			data := p.Get("data")
			got := p.Get("level").Str() + " " + data.Get("node").Str() + " " + data.Get("type").Str() + " " + data.Get("execution").JSON()
			failed := strings.Contains(data.Get("error").Str(), "it fails")
			if got != want[i] || failed != (data.Get("node").Str() == "b") || p.Get("logger").Str() != "mcpgraph" || data.Get("tool").Str() != "either" || !data.Has("milliseconds") {
				t.Errorf("%s: got %s, want %s", level, n.JSON(), want[i])
			}
		}
	}
}

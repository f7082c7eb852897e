package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const oneNode = `
version: "1.0"
server: {name: test, version: "1"}
mcpServers: {files: {command: x}}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: list}
      - {id: list, type: mcp, server: files, tool: list, args: {path: {expr: $.entry.path}}, catch: {errors: [busy], next: calm}, next: how}
      - id: how
        type: switch
        conditions: [{rule: {'>': [{var: list.n}, 2]}, next: each}, {next: calm}]
      - {id: calm, type: transform, transform: {expr: '{"p": $previousNode(), "n": $executionCount("list")}'}, next: exit}
      - id: each
        type: map
        items: {expr: $.list.files}
        as: file
        next: both
        nodes:
          - {id: info, type: transform, transform: {expr: '[$file, $index, $.list.n, $previousNode()]'}, next: inner}
          - id: inner
            type: map
            items: {expr: $file.parts}
            as: part
            at: at
            nodes: [{id: deep, type: transform, transform: {expr: '$file.name & $part & $at & $.info'}}]
      - id: both
        type: parallel
        branches:
          a: [{id: inA, type: transform, transform: {expr: $.how}}]
          b: [{id: inB, type: fail, error: bad, message: {expr: $.list.why}}]
        next: pause
      - {id: pause, type: wait, ms: 2000, next: sub}
      - {id: sub, type: call, tool: other, args: {x: 1}, next: again}
      - {id: again, type: mcp, server: files, tool: get, retry: {maxAttempts: 3, initialDelayMs: 1000, backoff: 2, jitter: false}, timeoutMs: 60000, next: exit}
      - {id: exit, type: exit}
  - name: other
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`

func TestOneNodeRunsOverAGivenDocument(t *testing.T) {
	g := build(t, oneNode).Graphs[0]
	node := func(id string) *graph.Node {
		for _, of := range []*graph.Graph{
			g, g.Node("each").Bodies[0], g.Node("each").Bodies[0].Node("inner").Bodies[0],
			g.Node("both").Bodies[0], g.Node("both").Bodies[1],
		} {
			if n := of.Node(id); n != nil {
				return n
			}
		}
		t.Fatal(id)
		return nil
	}
	const reply, twice = `{"content":[{"type":"text","text":"x"}]}`, `failure: {"name":"busy","message":"later"}`
	for _, c := range []struct {
		node, document string
		calls          []string
		output, next   string
		failed         string // name of the failure
		path           string
		waits          time.Duration
	}{
		{"entry", `{"entry":{"path":"/a"}}`, nil, `{"path":"/a"}`, "list", "", "entry", 0},
		{"list", `{"entry":{"path":"/a"}}`, []string{`files list {"path":"/a"} => ` + reply}, `"x"`, "how", "", "list", 0},
		{"list", `{}`, []string{`files list {} => ` + twice}, ``, "calm", "busy", "list", 0},
		{"list", `{}`, []string{`files list {} => error: no`}, ``, "", "protocol", "list", 0},
		{"how", `{"list":{"n":3}}`, nil, `"each"`, "each", "", "how", 0},
		{"how", `{"list":{"n":2}}`, nil, `"calm"`, "calm", "", "how", 0},
		{"calm", `{"entry":{},"list":7}`, nil, `{"p":7,"n":1}`, "exit", "", "calm", 0},
		{"calm", `{"list":7,"entry":{}}`, nil, `{"p":{},"n":1}`, "exit", "", "calm", 0},
		{"info", `{"list":{"n":3},"$file":"f","$index":4}`, nil, `["f",4,3,"f"]`, "inner", "", "each[0].info", 0},
		{"deep", `{"$file":{"name":"f"},"$part":"p","$at":1,"info":[2]}`, nil, `"fp1[2]"`, "", "", "each[0].inner[0].deep", 0},
		{"each", `{"list":{"n":1,"files":[{"name":"a","parts":["x","y"]},{"name":"b"}]}}`, nil,
			`[["ax0[{\"name\":\"a\",\"parts\":[\"x\",\"y\"]},0,1,{\"name\":\"a\",\"parts\":[\"x\",\"y\"]}]","ay1[{\"name\":\"a\",\"parts\":[\"x\",\"y\"]},0,1,{\"name\":\"a\",\"parts\":[\"x\",\"y\"]}]"],[]]`,
			"both", "", "each", 0},
		{"inA", `{"how":"each"}`, nil, `"each"`, "", "", "both.a.inA", 0},
		{"inB", `{"list":{"why":"so"}}`, nil, ``, "", "bad", "both.b.inB", 0},
		{"both", `{"how":"each","list":{"why":"so"}}`, nil, ``, "", "bad", "both", 0},
		{"pause", `{"both":{"a":1}}`, nil, `{"a":1}`, "sub", "", "pause", 2 * time.Second},
		{"sub", `{}`, nil, `{"x":1}`, "again", "", "sub", 0},
		{"again", `{}`, []string{`files get {} => ` + twice, `files get {} => ` + twice, `files get {} => ` + reply}, `"x"`, "exit", "", "again", 3 * time.Second},
		{"again", `{}`, []string{`files get {} => ` + twice, `files get {} => ` + twice, `files get {} => ` + twice}, ``, "", "busy", "again", 3 * time.Second},
		{"exit", `{"again":{"done":true}}`, nil, `{"done":true}`, "", "", "exit", 0},
	} {
		t.Run(c.node, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				document, err := value.Parse(c.document)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				r := executor.NewNodeRun(node(c.node), document, 1)
				if _, ok := r.Record(); ok {
					t.Error("a record of what was not done")
				}
				port := &passing{script{t: t, calls: slices.Clone(c.calls)}}
				err = (&executor.Local{}).Run(t.Context(), r.Run, port)
				rec, ok := r.Record()
				if !ok || rec.Node != c.node || rec.NodePath() != c.path || rec.Next != c.next || len(port.left()) > 0 {
					t.Fatalf("%+v, %v, %v", rec.Value().JSON(), ok, err)
				}
				if took := time.Since(began); took != c.waits {
					t.Errorf("took %v", took)
				}
				if unhandled := c.failed != "" && c.next == ""; unhandled != (err != nil) || !errors.Is(err, r.Err()) {
					t.Errorf("%v", err)
				}
				if c.failed != "" {
					if f := executor.FailureOf(rec.Err); f.Name != c.failed {
						t.Errorf("failure %q: %v", f.Name, rec.Err)
					}
					return
				}
				if rec.Output.JSON() != c.output {
					t.Errorf("output %s", rec.Output.JSON())
				}
			})
		})
	}
}

// passing is a script whose clock goes on.
type passing struct{ script }

func (*passing) Now() time.Time { return time.Now() }

func TestRunOfOneNodeIsCancelled(t *testing.T) {
	g := build(t, oneNode).Graphs[0]
	for _, n := range []*graph.Node{g.Node("pause"), g.Node("each").Bodies[0].Node("info")} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := executor.NewNodeRun(n, value.FromEntries(nil), 1)
		if err := (&executor.Local{}).Run(ctx, r.Run, &passing{script{t: t}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", n.ID, err)
		}
	}
}

package mcpgraph_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// faultyTools is an upstream whose tools do what their names say.
type faultyTools struct {
	mu        sync.Mutex
	keys      []string // idempotency keys of the calls
	cancelled int
}

// upstreamError is an error of a call as package upstream has them.
type upstreamError struct{ name, code string }

func (e upstreamError) Error() string       { return e.name + " " + e.code }
func (e upstreamError) FailureName() string { return e.name }
func (e upstreamError) FailureCode() string { return e.code }

func (u *faultyTools) CallTool(ctx context.Context, info *callinfo.Info, _, tool string, _ value.Value) (graph.ToolResult, error) {
	u.mu.Lock()
	u.keys = append(u.keys, info.OrNone().IdempotencyKey)
	u.mu.Unlock()
	reply := `{"content":[{"type":"text","text":"done"}]}`
	switch tool {
	case "wrong":
		reply = `{"isError":true,"content":[{"type":"text","text":"no"}]}`
	case "refuse":
		return graph.ToolResult{Attempts: 1}, upstreamError{name: graph.FailConnect}
	case "unavailable":
		return graph.ToolResult{Attempts: 1}, upstreamError{graph.FailProtocol, "503"}
	case "crash":
		panic("a mistake")
	case "hang":
		<-ctx.Done()
		u.mu.Lock()
		u.cancelled++
		u.mu.Unlock()
		return graph.ToolResult{Attempts: 1}, context.Cause(ctx)
	case "deaf": // does not listen to its context
		time.Sleep(time.Minute)
	}
	v, err := value.Parse(reply)
	return graph.ToolResult{Reply: v, Attempts: 1}, err
}

// fault is a node n that fails.
type fault struct {
	name   string // node type and when
	node   string // its fields
	want   string // the name of the failure
	at     string // its path within the place of n; empty: that of n
	kind   string // type of the node there
	calls  int    // that an upstream saw
	ended  int    // calls that an upstream saw cancelled
	after  time.Duration
	answer string // of the person who is asked
}

const hundred = 100 * time.Millisecond

var faults = []fault{
	{name: "mcp before", node: `type: mcp, server: up, tool: ok, args: {a: {expr: '$number("x")'}}`, want: "expression"},
	{name: "mcp isError", node: `type: mcp, server: up, tool: wrong`, want: "toolError", calls: 1},
	{name: "mcp connect", node: `type: mcp, server: up, tool: refuse`, want: "connect", calls: 1},
	{name: "mcp status", node: `type: mcp, server: up, tool: unavailable`, want: "protocol", calls: 1},
	{name: "mcp during", node: `type: mcp, server: up, tool: hang, timeoutMs: 100`, want: "timeout", calls: 1, ended: 1, after: hundred},
	{name: "mcp deaf", node: `type: mcp, server: up, tool: deaf, timeoutMs: 100`, want: "timeout", calls: 1, after: hundred},
	{name: "mcp after", node: `type: mcp, server: up, tool: ok, output: structured`, want: "output", calls: 1},
	{name: "mcp crash", node: `type: mcp, server: up, tool: crash`, want: "internal", calls: 1},
	{name: "transform", node: `type: transform, transform: {expr: '$number("x")'}`, want: "expression"},
	{name: "switch rule", node: `type: switch, conditions: [{rule: {"==": [{var: '$number("x")'}, 1]}, next: own}]`, want: "expression"},
	{name: "switch no way", node: `type: switch, conditions: [{rule: {"==": [{var: '$previousNode().none'}, 1]}, next: own}]`, want: "noRoute"},
	{name: "map before", node: `type: map, items: {expr: '$number("x")'}, nodes: [{id: m, type: wait, ms: 1}]`, want: "expression"},
	{name: "map in body", node: `type: map, items: [1, 2], maxConcurrency: 1, nodes: [{id: m, type: mcp, server: up, tool: wrong}]`, want: "toolError", at: "[0].m", kind: "mcp", calls: 1},
	{name: "map beside", node: `type: map, items: [1, 0], nodes: [{id: s, type: switch, conditions: [{rule: {"==": [{var: '$index'}, 1]}, next: w}], next: m}, {id: m, type: mcp, server: up, tool: hang}, {id: w, type: wait, ms: 100, next: f}, {id: f, type: fail, error: gone}]`, want: "gone", at: "[1].f", kind: "fail", calls: 1, ended: 1, after: hundred},
	{name: "map nested", node: `type: map, items: [1], nodes: [{id: m, type: map, items: [1, 2], maxConcurrency: 1, nodes: [{id: k, type: mcp, server: up, tool: wrong}]}]`, want: "toolError", at: "[0].m[0].k", kind: "mcp", calls: 1},
	{name: "map tolerated", node: `type: map, items: [1, 2, 3], maxConcurrency: 1, tolerateFailures: 1, nodes: [{id: m, type: mcp, server: up, tool: wrong}]`, want: "tooManyFailures", calls: 2},
	{name: "map share", node: `type: map, items: [1, 2, 3], maxConcurrency: 1, tolerateFailures: 66%, nodes: [{id: m, type: mcp, server: up, tool: wrong}]`, want: "tooManyFailures", calls: 2},
	{name: "map during", node: `type: map, items: [1, 2, 3], timeoutMs: 100, nodes: [{id: m, type: mcp, server: up, tool: hang}]`, want: "timeout", calls: 3, ended: 3, after: hundred},
	{name: "map deaf", node: `type: map, items: [1, 2, 3], timeoutMs: 100, nodes: [{id: m, type: mcp, server: up, tool: deaf}]`, want: "timeout", calls: 3, after: hundred + 2*time.Second},
	{name: "parallel beside", node: `type: parallel, branches: {a: [{id: m, type: mcp, server: up, tool: hang}], b: [{id: w, type: wait, ms: 100, next: f}, {id: f, type: mcp, server: up, tool: refuse}]}`, want: "connect", at: ".b.f", kind: "mcp", calls: 2, ended: 1, after: hundred},
	{name: "parallel first", node: `type: parallel, wait: first, branches: {a: [{id: m, type: mcp, server: up, tool: wrong}], b: [{id: w, type: wait, ms: 100, next: f}, {id: f, type: mcp, server: up, tool: refuse}]}`, want: "connect", at: ".b.f", kind: "mcp", calls: 2, after: hundred},
	{name: "parallel during", node: `type: parallel, timeoutMs: 100, branches: {a: [{id: m, type: mcp, server: up, tool: hang}], b: [{id: w, type: wait, ms: 1000000}]}`, want: "timeout", calls: 1, ended: 1, after: hundred},
	{name: "call before", node: `type: call, tool: typed, args: {n: {expr: '$string(1)'}}`, want: "arguments"},
	{name: "call during", node: `type: call, tool: refusing`, want: "connect", at: ">m", kind: "mcp", calls: 1},
	{name: "call late", node: `type: call, tool: hanging, timeoutMs: 100`, want: "timeout", calls: 1, ended: 1, after: hundred},
	{name: "call failing", node: `type: call, tool: failing`, want: "gone", at: ">f", kind: "fail"},
	{name: "call after", node: `type: call, tool: typed, args: {n: 1}`, want: "result"},
	{name: "wait ms", node: `type: wait, ms: {expr: '"x"'}`, want: "expression"},
	{name: "wait until", node: `type: wait, until: {expr: '"x"'}`, want: "expression"},
	{name: "fail message", node: `type: fail, message: {expr: '$number("x")'}`, want: "expression"},
	{name: "fail", node: `type: fail, error: gone, data: {expr: '[1]'}`, want: "gone"},
	{name: "ask before", node: `type: ask, message: {expr: '$number("x")'}`, want: "expression"},
	{name: "ask nobody", node: `type: ask, message: sure?`, want: "cannotAsk"},
	{name: "ask declined", node: `type: ask, message: sure?`, want: "declined", answer: `{"action":"decline"}`},
	{name: "ask answer", node: `type: ask, message: sure?, schema: {type: object, properties: {n: {type: integer}}, required: [n]}`, want: "answer", answer: `{"action":"accept","content":{"n":"x"}}`},
	{name: "ask during", node: `type: ask, message: sure?, timeoutMs: 100`, want: "timeout", answer: "never", after: hundred},
}

// faultPlaces are where n stands. %s is the list of the nodes; the rest of the tool
// follows after it.
var faultPlaces = []struct {
	name, path string
	nodes      string // of the tool between start and exit; it begins at o
	result     string // of the tool where the walk of n yields %s
	private    string // another tool, which has the nodes
}{
	{"tool", "", `%s`, `%s`, ""},
	{"map", "o[0].", `{id: o, type: map, items: [1], next: exit, nodes: [%s]}`, `[%s]`, ""},
	{"branch", "o.x.", `{id: o, type: parallel, next: exit, branches: {x: {nodes: [%s]}}}`, `{"x":%s}`, ""},
	{"nested", "o[0].p.x.", `{id: o, type: map, items: [1], next: exit, nodes: [{id: p, type: parallel, branches: {x: [%s]}}]}`, `[{"x":%s}]`, ""},
	{"called", "o>", `{id: o, type: call, tool: inner, next: exit}`, `%s`, `%s`},
	{"called in body", "o[0].c>", `{id: o, type: map, items: [1], next: exit, nodes: [{id: c, type: call, tool: inner}]}`, `[%s]`, `%s`},
}

const faultHelpers = `
  - {name: typed, private: true, description: d, inputSchema: {type: object, properties: {n: {type: integer}}}, outputSchema: {type: string}, nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]}
  - {name: refusing, private: true, description: d, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: m}, {id: m, type: mcp, server: up, tool: refuse, next: exit}, {id: exit, type: exit}]}
  - {name: hanging, private: true, description: d, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: m}, {id: m, type: mcp, server: up, tool: hang, next: exit}, {id: exit, type: exit}]}
  - {name: failing, private: true, description: d, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: s}, {id: s, type: switch, conditions: [{rule: {"==": [{var: entry.never}, 1]}, next: exit}], next: f}, {id: f, type: fail, error: gone}, {id: exit, type: exit}]}
`

// faultRun is one run of the tool "t" of a file, in virtual time.
type faultRun struct {
	tools    faultyTools
	result   *mcpgraph.Result
	err      error
	took     time.Duration
	records  map[string]executor.Record // by path, the last of each
	mu       sync.Mutex
	unbegun  int // executions that ended and had not begun, or the reverse
	cancelAt time.Duration
	answer   string
}

func (r *faultRun) run(t *testing.T, source string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r.records = map[string]executor.Record{}
		e, err := mcpgraph.LoadBytes("faults.yaml", []byte(source), mcpgraph.WithCaller(&r.tools), mcpgraph.WithHooks(executor.Hooks{
			NodeStart: func(ctx context.Context, _ *executor.Run, _ executor.Task) (context.Context, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.unbegun--
				return ctx, nil
			},
			NodeDone: func(_ context.Context, _ *executor.Run, rec executor.Record) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.unbegun++
				r.records[rec.NodePath()] = rec
			},
		}))
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if r.cancelAt > 0 {
			time.AfterFunc(r.cancelAt, cancel)
		}
		var options []mcpgraph.CallOption
		if r.answer != "" {
			options = append(options, mcpgraph.WithAsk(func(ctx context.Context, _ executor.Question) (value.Value, error) {
				if r.answer == "never" {
					<-ctx.Done()
					return value.Undef, context.Cause(ctx)
				}
				return value.Parse(r.answer)
			}))
		}
		began := time.Now()
		r.result, r.err = e.Call(ctx, "t", map[string]any{}, options...)
		r.took = time.Since(began)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		// Calls that listen to nothing end meanwhile. With anything else that is left
		// the bubble fails.
		time.Sleep(2 * time.Minute)
	})
	if r.unbegun != 0 {
		t.Errorf("executions that began and did not end, or the reverse: %d", r.unbegun)
	}
}

func faultFile(limits, nodes, rest string) string {
	return "version: \"1.0\"\nserver: {name: t, version: \"1\"}\nmcpServers: {up: {command: x}}\n" + limits + `
tools:
  - name: t
    description: d
    inputSchema: {type: object}
` + nodes + rest
}

// handling is what stands at n, or around it, for its failure.
type handling struct {
	name     string
	policy   string // fields of n
	tries    int
	caught   bool // by n itself
	outside  bool // by the tool
	cancelAt time.Duration
}

func TestEachNodeFailsEverywhereAsSpecified(t *testing.T) {
	handlings := []handling{
		{name: "none", tries: 1},
		{name: "catch of the tool", tries: 1, outside: true},
		{name: "catch", policy: "catch: {next: own}", tries: 1, caught: true},
		{name: "retry", policy: "retry: {errors: [all], maxAttempts: 3, initialDelayMs: 10, backoff: 3, jitter: false}", tries: 3},
		{name: "cancelled", policy: "catch: {next: own}", tries: 1, cancelAt: hundred / 2, outside: true},
	}
	for _, place := range faultPlaces {
		for _, f := range faults {
			kind, _, _ := strings.Cut(f.name, " ")
			for _, h := range handlings {
				policies := slices.Contains([]string{"mcp", "map", "parallel", "call"}, kind)
				if h.tries > 1 && !policies || h.caught && !policies && kind != "transform" && kind != "switch" && kind != "ask" {
					continue
				}
				if f.want == graph.FailNoRoute && (place.path == "" || place.private != "") {
					continue // only in bodies
				}
				if h.cancelAt > 0 && (f.after == 0 || f.name == "mcp deaf" || f.name == "map deaf") {
					continue
				}
				t.Run(place.name+"/"+f.name+"/"+h.name, func(t *testing.T) { checkFault(t, f, h, place.path, place.nodes, place.result, place.private) })
			}
		}
	}
}

func checkFault(t *testing.T, f fault, h handling, prefix, outer, result, inner string) {
	kind, _, _ := strings.Cut(f.name, " ")
	next := "next: own"
	switch kind {
	case "fail":
		next = ""
	case "switch":
		if f.want == graph.FailNoRoute {
			next = ""
		}
	}
	fields := []string{"id: n", f.node}
	for _, s := range []string{h.policy, next} {
		if s != "" {
			fields = append(fields, s)
		}
	}
	end := ""
	if prefix == "" || inner != "" {
		end = ", next: exit"
	}
	// start makes own reachable where n only fails.
	list := `{id: start, type: switch, conditions: [{rule: {"==": [{var: '$previousNode().never'}, 1]}, next: own}], next: n}, {` +
		strings.Join(fields, ", ") + `}, {id: own, type: transform, transform: {expr: '$.n.error.name'}` + end + `}`
	rest := faultHelpers
	first := "o"
	nodes := outer
	if inner != "" {
		rest += "  - {name: inner, private: true, description: d, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: start}, " + list + ", {id: exit, type: exit}]}\n"
	} else {
		nodes = fmt.Sprintf(outer, list)
	}
	if prefix == "" {
		first = "start"
	}
	catch, handler := "", ""
	if h.outside {
		catch, handler = "    catch: {next: handler}\n", ", {id: handler, type: transform, transform: {expr: '$previousNode().error'}, next: exit}"
	}
	source := faultFile("", catch+"    nodes: [{id: entry, type: entry, next: "+first+"}, "+nodes+handler+", {id: exit, type: exit}]\n", rest)

	r := faultRun{cancelAt: h.cancelAt, answer: f.answer}
	r.run(t, source)

	name, path, tries, took := f.want, prefix+"n"+f.at, h.tries, f.after
	if h.cancelAt > 0 {
		name, took = graph.FailCancelled, h.cancelAt
	}
	reserved := name == graph.FailCancelled || name == graph.FailInternal
	if reserved {
		tries = 1
	}
	if tries > 1 {
		took = 3*took + 40*time.Millisecond
	}
	if r.took != took {
		t.Errorf("it took %v, want %v", r.took, took)
	}
	if calls := len(r.tools.keys); h.cancelAt == 0 && calls != f.calls*tries {
		t.Errorf("%d calls, want %d", calls, f.calls*tries)
	}
	if h.cancelAt == 0 && r.tools.cancelled != f.ended*tries {
		t.Errorf("%d calls were cancelled, want %d", r.tools.cancelled, f.ended*tries)
	}
	keys := map[string]int{}
	for _, key := range r.tools.keys {
		keys[key]++
	}
	if tries > 1 {
		for key, n := range keys {
			if key == "" || n != tries {
				t.Errorf("%d attempts have the key %q, want %d", n, key, tries)
			}
		}
	} else if h.policy == "" && f.calls > 0 && (len(keys) != 1 || keys[""] == 0) {
		t.Errorf("calls that are never repeated have the keys %v", keys)
	}

	rec, ok := r.records[prefix+"n"]
	deliberate := kind == "fail" && f.want == "gone" // its own graph does not catch it
	switch caught := h.caught && !reserved; {
	case !ok:
		t.Fatalf("n has no record; %v", r.err)
	case rec.Err == nil:
		t.Error("the record of n has no error")
	case caught != (rec.Next == "own"), caught != (rec.Via != "") && !(h.outside && prefix == ""):
		t.Errorf("n went by %q to %q", rec.Via, rec.Next)
	case caught && rec.Output.Get("error").Get("name").Str() != name:
		t.Errorf("the output of n is %s", rec.Output.JSON())
	case !caught && !(h.outside && prefix == "") && !rec.Output.IsUndefined():
		t.Errorf("n failed and yielded %s", rec.Output.JSON())
	}
	if rec.Try != tries {
		t.Errorf("the record of n says try %d, want %d", rec.Try, tries)
	}

	switch {
	case h.caught && !reserved:
		if r.err != nil {
			t.Fatalf("caught, and the run failed: %v", r.err)
		}
		if got, want := string(r.result.JSON()), fmt.Sprintf(result, `"`+name+`"`); got != want {
			t.Errorf("result %s, want %s", got, want)
		}
	case h.outside && !reserved && !(deliberate && prefix == ""):
		if r.err != nil {
			t.Fatalf("caught by the tool, and the run failed: %v", r.err)
		}
		var got struct{ Name, Path, Node, Type, Message string }
		if err := json.Unmarshal([]byte(r.result.JSON()), &got); err != nil || got.Name != name || got.Path != path || got.Message == "" ||
			got.Type != cmp.Or(f.kind, kind) || !strings.HasSuffix(path, got.Node) {
			t.Errorf("the error is %s, want %s at %s", r.result.JSON(), name, path)
		}
	case r.err == nil:
		t.Errorf("the run yielded %s", r.result.JSON())
	default:
		var at *executor.NodeError
		if got := executor.FailureOf(r.err); !errors.As(r.err, &at) || got.Name != name || h.cancelAt == 0 && (got.Path != path || got.Type != cmp.Or(f.kind, kind)) {
			t.Errorf("the run failed with %s at %s (%s), want %s at %s: %v", got.Name, got.Path, got.Type, name, path, r.err)
		}
	}
}

func TestLimitsEndRunsEverywhere(t *testing.T) {
	const loop = `{id: start, type: wait, ms: 1, next: again}, {id: again, type: switch, conditions: [{rule: {"==": [{var: '$previousNode().never'}, 1]}, next: own}], next: start}, {id: own, type: wait, ms: 1%s}`
	for _, test := range []struct {
		name, limits string
		list         string // the nodes, of which the last, own, goes to the exit of a tool
		calls        int
		took         time.Duration
	}{
		{"executions", "maxNodeExecutions: 11", loop, 0, 0},
		{"total", "maxTotalExecutions: 16", loop, 0, 0},
		{"time", "maxExecutionTimeMs: 100", `{id: start, type: mcp, server: up, tool: hang, retry: {errors: [all]}, catch: {next: own}, next: own}, {id: own, type: wait, ms: 1%s}`, 1, hundred},
		{"time of a wait", "maxExecutionTimeMs: 100", `{id: start, type: wait, ms: 1000000, next: own}, {id: own, type: wait, ms: 1%s}`, 0, hundred},
		{"time of a delay", "maxExecutionTimeMs: 100", `{id: start, type: mcp, server: up, tool: wrong, retry: {initialDelayMs: 1000}, catch: {next: own}, next: own}, {id: own, type: wait, ms: 1%s}`, 1, hundred},
		{"time of items", "maxExecutionTimeMs: 100", `{id: start, type: map, items: [1, 2], nodes: [{id: m, type: mcp, server: up, tool: hang}], catch: {next: own}, next: own}, {id: own, type: wait, ms: 1%s}`, 2, hundred},
		{"time of the deaf", "maxExecutionTimeMs: 100", `{id: start, type: map, items: [1, 2], nodes: [{id: m, type: mcp, server: up, tool: deaf}], catch: {next: own}, next: own}, {id: own, type: wait, ms: 1%s}`, 2, hundred + 2*time.Second},
		{"depth", "maxCallDepth: 4", `{id: start, type: call, tool: endless, catch: {next: own}, next: own}, {id: own, type: wait, ms: 1%s}`, 0, 0},
	} {
		for _, place := range faultPlaces {
			t.Run(test.name+"/"+place.name, func(t *testing.T) {
				end, first := "", "o"
				if place.path == "" || place.private != "" {
					end = ", next: exit"
				}
				list, nodes := fmt.Sprintf(test.list, end), place.nodes
				rest := "  - {name: endless, private: true, description: d, inputSchema: {type: object}, catch: {next: exit}, nodes: [{id: entry, type: entry, next: deeper}, {id: deeper, type: call, tool: endless, catch: {next: exit}, next: exit}, {id: exit, type: exit}]}\n"
				if place.private != "" {
					rest += "  - {name: inner, private: true, description: d, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: start}, " + list + ", {id: exit, type: exit}]}\n"
				} else {
					nodes = fmt.Sprintf(nodes, list)
				}
				if place.path == "" {
					first = "start"
				}
				r := faultRun{}
				r.run(t, faultFile("executionLimits: {"+test.limits+"}", "    catch: {next: exit}\n    nodes: [{id: entry, type: entry, next: "+first+"}, "+nodes+", {id: exit, type: exit}]\n", rest))
				var limit *executor.LimitError
				f := executor.FailureOf(r.err)
				if !errors.As(r.err, &limit) || f.Name != graph.FailLimit {
					t.Fatalf("the run ended with %v, %v", r.result, r.err)
				}
				if test.took != 0 && r.took != test.took {
					t.Errorf("it took %v, want %v", r.took, test.took)
				}
				if calls := len(r.tools.keys); calls != test.calls {
					t.Errorf("%d calls, want %d", calls, test.calls)
				}
				if test.name == "executions" && (limit.Executions != 11 || limit.MaxExecutions != 11) {
					t.Errorf("the run ended with %+v", limit)
				}
				if test.name == "depth" {
					if limit.MaxDepth != 4 || strings.Count(f.Path, ">") != 3 {
						t.Errorf("the run ended at %s with %+v", f.Path, limit)
					}
				}
				for path, rec := range r.records {
					if rec.Err != nil && rec.Next != "" {
						t.Errorf("%s went to %s", path, rec.Next)
					}
				}
			})
		}
	}
}

func TestLimitsCountEachWalkForItself(t *testing.T) {
	r := faultRun{}
	r.run(t, faultFile("executionLimits: {maxNodeExecutions: 4}", `    nodes:
      - {id: entry, type: entry, next: o}
      - {id: o, type: map, items: {expr: '[1..20]'}, next: again, nodes: [{id: a, type: transform, transform: {expr: $item}, next: b}, {id: b, type: call, tool: twice, args: {n: {expr: $.a}}, next: c}, {id: c, type: transform, transform: {expr: $.b + 1}}]}
      - {id: again, type: transform, transform: {expr: $sum($.o)}, next: exit}
      - {id: exit, type: exit}
`, "  - {name: twice, private: true, description: d, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: x}, {id: x, type: transform, transform: {expr: $.entry.n * 2}, next: exit}, {id: exit, type: exit}]}\n"))
	if r.err != nil || string(r.result.JSON()) != "440" {
		t.Errorf("%v", r.err)
	}
}

func TestWaitsHaveNoOddEnds(t *testing.T) {
	for _, test := range []struct {
		wait string
		took time.Duration
		ends bool // by itself
	}{
		{"until: 2300-01-01T00:00:00Z", hundred, false},
		{"until: 9999-12-31T23:59:59Z", hundred, false},
		{"until: {expr: $number(200000000000000)}", hundred, false},
		{"ms: 400000000000", hundred, false},
		{"ms: {expr: '$power(2, 53)'}", hundred, false},
		{"until: 1600-01-01T00:00:00Z", 0, true},
		{"until: 1970-01-01T00:00:00Z", 0, true},
		{"until: -1", 0, true},
		{"until: {expr: $millis() + 20}", 20 * time.Millisecond, true},
		{"ms: 0", 0, true},
		{"ms: 1.5", 1500 * time.Microsecond, true},
	} {
		for _, body := range []bool{false, true} {
			t.Run(fmt.Sprint(test.wait, body), func(t *testing.T) {
				r := faultRun{}
				node := "{id: w, type: wait, " + test.wait + ", next: exit}"
				if body {
					node = "{id: w, type: map, items: [1], next: exit, nodes: [{id: x, type: wait, " + test.wait + "}]}"
				}
				r.run(t, faultFile("executionLimits: {maxExecutionTimeMs: 100}", "    nodes: [{id: entry, type: entry, next: w}, "+node+", {id: exit, type: exit}]\n", ""))
				if r.took != test.took || (r.err == nil) != test.ends {
					t.Errorf("it took %v and ended with %v", r.took, r.err)
				}
			})
		}
	}
}

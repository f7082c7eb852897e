package mcpgraph_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const twoTools = `
version: "1.0"
server: {name: "${SERVER_NAME}", version: "1"}
mcpServers:
  fake: {command: none}
tools:
  - name: look_up
    description: Looks something up
    title: Look up
    inputSchema: {type: object, required: [key], properties: {key: {type: string}}}
    outputSchema: {type: object, required: [found], properties: {found: {type: string}}}
    annotations: {readOnlyHint: true}
    nodes:
      - {id: entry, type: entry, next: ask}
      - {id: ask, type: mcp, server: fake, tool: get, args: {key: {expr: $.entry.key}}, next: exit}
      - {id: exit, type: exit}
  - name: pick
    description: Gives one argument back
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: pick}
      - {id: pick, type: transform, transform: {expr: $.entry.value}, next: exit}
      - {id: exit, type: exit}
`

// caller is an upstream server: it answers what it was asked for.
type caller struct {
	mu    sync.Mutex
	calls []string
	reply func(args value.Value) (string, error)
}

func (c *caller) CallTool(_ context.Context, _ *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	c.mu.Lock()
	c.calls = append(c.calls, server+"."+tool+args.JSON())
	c.mu.Unlock()
	text, err := c.reply(args)
	if err != nil {
		return graph.ToolResult{}, err
	}
	reply, err := value.Parse(text)
	return graph.ToolResult{Reply: reply, Attempts: 1}, err
}

func found(args value.Value) (string, error) {
	return `{"content":[],"structuredContent":{"found":` + args.Get("key").JSON() + `}}`, nil
}

func load(t testing.TB, source string, opts ...mcpgraph.Option) (*mcpgraph.Engine, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) (string, bool) { return "from the environment", name == "SERVER_NAME" }
	engine, err := mcpgraph.Load(path, append([]mcpgraph.Option{mcpgraph.WithGetenv(getenv)}, opts...)...)
	if err == nil {
		t.Cleanup(func() {
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return engine, err
}

func mustLoad(t testing.TB, source string, opts ...mcpgraph.Option) *mcpgraph.Engine {
	t.Helper()
	engine, err := load(t, source, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func TestToolsAreThoseOfTheFile(t *testing.T) {
	tools := mustLoad(t, twoTools).Tools()
	if len(tools) != 2 || tools[0].Name != "look_up" || tools[1].Name != "pick" {
		t.Fatalf("tools: %+v", tools)
	}
	first := tools[0]
	if first.Title != "Look up" || first.Description != "Looks something up" ||
		first.InputSchema.JSON() != `{"type":"object","required":["key"],"properties":{"key":{"type":"string"}}}` ||
		first.OutputSchema.JSON() != `{"type":"object","required":["found"],"properties":{"found":{"type":"string"}}}` ||
		first.Annotations.JSON() != `{"readOnlyHint":true}` || !first.Icons.IsUndefined() {
		t.Errorf("look_up: %+v", first)
	}
	if !tools[1].OutputSchema.IsUndefined() {
		t.Errorf("pick has an output schema: %s", tools[1].OutputSchema.JSON())
	}
}

func TestCallGivesValueAndHistory(t *testing.T) {
	up := &caller{reply: found}
	var nodes []string
	watch := func(prefix string) executor.Hooks {
		return executor.Hooks{NodeDone: func(_ context.Context, _ *executor.Run, r executor.Record) {
			nodes = append(nodes, prefix+r.Node)
		}}
	}
	engine := mustLoad(t, twoTools, mcpgraph.WithCaller(up), mcpgraph.WithHooks(watch("all:")))
	result, err := engine.Call(context.Background(), "look_up", map[string]any{"key": "<k>"}, mcpgraph.WithCallHooks(watch("one:")))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.JSON()); got != `{"found":"<k>"}` {
		t.Errorf("result: %s", got)
	}
	if len(result.History) != 3 || result.History[1].Node != "ask" || result.History[1].Attempts != 1 {
		t.Errorf("history: %+v", result.History)
	}
	if got := strings.Join(up.calls, " "); got != `fake.get{"key":"<k>"}` {
		t.Errorf("called %s", got)
	}
	// Done hooks run in reverse order.
	if got := strings.Join(nodes, " "); got != "one:entry all:entry one:ask all:ask one:exit all:exit" {
		t.Errorf("hooks saw %s", got)
	}
}

func TestCallTakesArgumentsOfAnyForm(t *testing.T) {
	engine := mustLoad(t, twoTools, mcpgraph.WithCaller(&caller{reply: found}))
	for _, tt := range []struct {
		args any
		want string
	}{
		{nil, `null`},
		{map[string]any{"value": []int{1}}, `[1]`},
		{struct {
			Value float64 `json:"value"`
		}{0.5}, `0.5`},
		{value.FromEntries([]value.Entry{{Key: "value", Value: value.FromInt(1<<60 + 1)}}), `1152921504606846977`},
		{map[string]any{"value": false}, `false`},
	} {
		result, err := engine.Call(context.Background(), "pick", tt.args)
		if err != nil || string(result.JSON()) != tt.want {
			t.Errorf("%v: %s, %v; want %s", tt.args, result.JSON(), err, tt.want)
		}
	}
}

func TestCallRefusesWhatDoesNotFitTheSchemas(t *testing.T) {
	up := &caller{reply: func(value.Value) (string, error) { return `{"content":[{"type":"text","text":"{\"found\":5}"}]}`, nil }}
	engine := mustLoad(t, twoTools, mcpgraph.WithCaller(up))
	for _, tt := range []struct {
		args any
		want string
	}{
		{map[string]any{"key": 5}, `tool "look_up": invalid arguments: key: expected a string, found the number 5`},
		{map[string]any{}, `tool "look_up": invalid arguments: missing required property "key"`},
		{[]int{1}, `tool "look_up": invalid arguments: expected an object, found an array of 1 element`},
		{map[string]any{"key": "k"}, `tool "look_up": the result does not fit its outputSchema: found: expected a string, found the number 5`},
	} {
		_, err := engine.Call(context.Background(), "look_up", tt.args)
		var schema *graph.SchemaError
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !errors.As(err, &schema) {
			t.Errorf("%v: %v", tt.args, err)
		}
	}
	if len(up.calls) != 1 {
		t.Errorf("wrong arguments reached the server: %v", up.calls)
	}
	if _, err := engine.Call(context.Background(), "look_up", map[string]any{"f": func() {}}); err == nil || !strings.Contains(err.Error(), "the arguments are not JSON") {
		t.Errorf("a function as argument: %v", err)
	}
}

func TestArgumentsAreAnObjectWhateverTheSchemaSays(t *testing.T) {
	engine := mustLoad(t, strings.ReplaceAll(twoTools, "inputSchema: {type: object}", "inputSchema: {}"))
	for args, found := range map[any]string{5: "the number 5", "x": `the string "x"`, [1]int{1}: "an array of 1 element", false: "the boolean false"} {
		_, err := engine.Call(context.Background(), "pick", args)
		var schema *graph.SchemaError
		if want := `tool "pick": invalid arguments: expected an object, found ` + found; !errors.As(err, &schema) || err.Error() != want {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}

func TestAFailedCallHasItsHistoryAndItsNode(t *testing.T) {
	cause := errors.New("the line is dead")
	engine := mustLoad(t, twoTools, mcpgraph.WithCaller(&caller{reply: func(value.Value) (string, error) { return "", cause }}))
	result, err := engine.Call(context.Background(), "look_up", map[string]any{"key": "k"})
	var node *executor.NodeError
	if !errors.Is(err, cause) || !errors.As(err, &node) || node.Node != "ask" || node.Server != "fake" || node.UpstreamTool != "get" {
		t.Fatalf("err = %v", err)
	}
	for _, part := range []string{"look_up", "ask", "mcp", "fake", "get", "the line is dead"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in: %v", part, err)
		}
	}
	if len(result.History) != 2 || !result.Value.IsUndefined() {
		t.Errorf("result: %+v", result)
	}
}

func TestACancelledCallEndsWithItsCause(t *testing.T) {
	engine := mustLoad(t, twoTools, mcpgraph.WithCaller(&caller{reply: found}))
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := engine.Call(ctx, "pick", nil); !errors.Is(err, cause) {
		t.Errorf("err = %v", err)
	}
}

func TestUnknownToolsAreNamed(t *testing.T) {
	engine := mustLoad(t, twoTools)
	_, err := engine.Call(context.Background(), "lookup", nil)
	var unknown *server.UnknownToolError
	if !errors.As(err, &unknown) || err.Error() != `unknown tool "lookup"; did you mean "look_up"?` {
		t.Errorf("err = %v", err)
	}
}

func TestLoadReportsEverything(t *testing.T) {
	_, err := load(t, strings.ReplaceAll(twoTools, "next: exit}", "next: exti}"))
	var loadErr *mcpgraph.LoadError
	if !errors.As(err, &loadErr) || !diag.HasErrors(loadErr.Diagnostics) || loadErr.Sources[loadErr.Path] == nil {
		t.Fatalf("err = %v", err)
	}
	if n := strings.Count(err.Error(), `"exti"`); n != 2 {
		t.Errorf("%d edges reported:\n%v", n, err)
	}
	_, err = mcpgraph.Load(filepath.Join(t.TempDir(), "missing.yaml"))
	if !errors.As(err, &loadErr) || loadErr.Diagnostics[0].Code != diag.CodeFile {
		t.Errorf("missing file: %v", err)
	}
	engine := mustLoad(t, strings.Replace(twoTools, "    description: Gives one argument back\n", "", 1))
	if ds, _ := engine.Diagnostics(); len(ds) != 1 || ds[0].Severity != diag.Warning {
		t.Errorf("warnings: %v", ds)
	}
}

func TestLoadRefusesToolsThatCannotBeServed(t *testing.T) {
	_, err := load(t, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: {type: object, properties: {a: {type: object, x-mcp-header: Name}}}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`)
	var loadErr *mcpgraph.LoadError
	if !errors.As(err, &loadErr) || len(loadErr.Diagnostics) != 1 {
		t.Fatalf("err = %v", err)
	}
	if d := loadErr.Diagnostics[0]; d.Code != diag.CodeSchema || d.Pos.Line != 5 || !strings.Contains(d.Message, "x-mcp-header") {
		t.Errorf("got %v at %v", d.Error(), d.Pos)
	}
}

func TestRulesLogToTheLogger(t *testing.T) {
	var log strings.Builder
	engine := mustLoad(t, `
version: "1.0"
server: {name: n, version: "1"}
tools:
  - name: logs
    description: Logs
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: decide}
      - {id: decide, type: switch, conditions: [{rule: {log: "<seen>"}, next: exit}], next: exit}
      - {id: exit, type: exit}
`, mcpgraph.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if _, err := engine.Call(context.Background(), "logs", nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "<seen>") {
		t.Errorf("log: %s", log.String())
	}
}

func TestCallsShareNothing(t *testing.T) {
	engine := mustLoad(t, twoTools, mcpgraph.WithCaller(&caller{reply: found}))
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			key := strings.Repeat("k", i)
			result, err := engine.Call(context.Background(), "look_up", map[string]any{"key": key})
			if err != nil || result.Value.Get("found").Str() != key {
				t.Errorf("call %d: %v, %v", i, result, err)
			}
		})
	}
	wg.Wait()
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpgraph/mcpgraph/internal/cli"
	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/temporal"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// binary is the path of the program: what the variable MCPGRAPH_BINARY names, as
// `make conformance` sets it, or the test binary under its name, as what it would
// take to link the program again is most of what a short test takes.
var binary string

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else what -race built sleeps a second at its exit
	testscale.SetGOGC()
	// Most of these tests wait for other processes.
	_ = flag.Set("test.parallel", "8")
	testscript.Main(finder{m}, map[string]func(){
		"mcpgraph":          main,
		"mcpgraph-temporal": mainTemporal, // which mcpgraph becomes for durable runs
		"fakeserver":        func() { os.Exit(mcptest.Run()) },
	})
}

// mainTemporal is the main of the other program.
func mainTemporal() {
	cli.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ(), temporal.Dial))
}

// finder finds the program before it runs the tests.
type finder struct{ *testing.M }

func (f finder) Run() int {
	var err error
	if binary, err = exec.LookPath(cmp.Or(os.Getenv("MCPGRAPH_BINARY"), "mcpgraph")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	state, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(state)
	os.Setenv("XDG_STATE_HOME", state) // not the key of who runs the tests
	return f.M.Run()
}

// connect starts the program as a client of mcp-go would. The variables are
// beside the test's own.
func connect(t testing.TB, dir string, env []string, args ...string) *client.Client {
	t.Helper()
	start := transport.WithCommandFunc(func(ctx context.Context, command string, _, args []string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, command, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		return cmd, nil
	})
	stdio := transport.NewStdioWithOptions(binary, nil, args, start)
	if err := stdio.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := client.NewClient(stdio)
	t.Cleanup(func() { c.Close() })
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	return c
}

func callTool(c *client.Client, name string, args any) (*mcp.CallToolResult, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, args
	return c.CallTool(context.Background(), request)
}

func text(r *mcp.CallToolResult) string {
	if len(r.Content) != 1 {
		return fmt.Sprintf("%d blocks", len(r.Content))
	}
	block, _ := r.Content[0].(mcp.TextContent)
	return block.Text
}

func TestClientOfMCPGoGetsEveryAnswer(t *testing.T) {
	t.Parallel()
	c := connect(t, ".", nil, "-g", "testdata/tools.yaml")
	tools, err := c.ListTools(context.Background(), mcp.ListToolsRequest{})
	if err != nil || len(tools.Tools) != 2 || tools.Tools[0].Name != "pick" {
		t.Fatalf("%+v, %v", tools, err)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			name, args, want := "pair", map[string]any{"n": i}, fmt.Sprintf(`{"n":%d}`, i)
			if i%2 == 1 {
				name, args, want = "pick", map[string]any{"value": map[string]any{"i": i}}, fmt.Sprintf(`{"i":%d}`, i)
			}
			r, err := callTool(c, name, args)
			if err != nil || r.IsError || text(r) != want {
				t.Errorf("call %d: %v, %+v", i, err, r)
			}
		})
	}
	wg.Wait()
	for _, want := range []any{0, false, "", nil, []any{}} {
		r, err := callTool(c, "pick", map[string]any{"value": want})
		encoded, _ := json.Marshal(want)
		if err != nil || r.IsError || text(r) != string(encoded) {
			t.Errorf("%s: %v, %+v", encoded, err, r)
		}
	}
	r, err := callTool(c, "pick", map[string]any{"value": []any{"<a>", "b"}})
	if want := `tool "pick": invalid arguments: value[1]: expected a string that matches ^<.*>$, found the string "b"`; err != nil || !r.IsError || text(r) != want {
		t.Errorf("wrong arguments: %v, %s", err, text(r))
	}
	if _, err = callTool(c, "pik", nil); err == nil || !strings.Contains(err.Error(), `unknown tool "pik"; did you mean "pick"?`) {
		t.Errorf("unknown tool: %v", err)
	}
}

const typeScriptCalls = `[
	{"name":"pick","arguments":{"value":0}},
	{"name":"pick","arguments":{"value":""}},
	{"name":"pick","arguments":{"value":null}},
	{"name":"pick","arguments":{"value":["<b>"]}},
	{"name":"pair","arguments":{"n":7}},
	{"name":"pair","arguments":{"n":"x"}},
	{"name":"pear"}]`

func TestClientOfTheTypeScriptSDKGetsEveryAnswer(t *testing.T) {
	t.Parallel()
	bin := mcptest.RealServers(t)
	out, err := exec.Command(filepath.Join(bin, "node"), "testdata/client.mjs", filepath.Dir(bin), binary, "testdata/tools.yaml", typeScriptCalls).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(err))
	}
	var got struct {
		Server       map[string]any
		Instructions string
		Tools        json.RawMessage
		Results      []json.RawMessage
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Server["name"] != "clients" || got.Server["version"] != "1.2.3" || got.Server["title"] != "For clients" || got.Instructions != "Call pick." {
		t.Errorf("server: %v, instructions: %q", got.Server, got.Instructions)
	}
	// The SDK puts the type first; all else is as the file has it.
	if want := `[{"name":"pick","title":"Pick","description":"Gives one argument back","inputSchema":{"type":"object","properties":{"value":{"anyOf":[{"enum":[0,false,"",null]},{"type":"array","items":{"$ref":"#/$defs/item"}},{"type":"object"}]}},"required":["value"],"$defs":{"item":{"type":"string","pattern":"^<.*>$"}}},"annotations":{"readOnlyHint":true}},{"name":"pair","description":"Gives its argument back in an object","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]`; string(got.Tools) != want {
		t.Errorf("tools:\n%s\nwant\n%s", got.Tools, want)
	}
	for i, want := range []string{
		`{"content":[{"type":"text","text":"0"}]}`,
		`{"content":[{"type":"text","text":"\"\""}]}`,
		`{"content":[{"type":"text","text":"null"}]}`,
		`{"content":[{"type":"text","text":"[\"<b>\"]"}]}`,
		`{"content":[{"type":"text","text":"{\"n\":7}"}],"structuredContent":{"n":7}}`,
		`{"_meta":{"mcpgraph/error":{"name":"arguments","message":"tool \"pair\": invalid arguments: n: expected an integer, found the string \"x\""}},"content":[{"type":"text","text":"tool \"pair\": invalid arguments: n: expected an integer, found the string \"x\""}],"isError":true}`,
		`{"code":-32602,"message":"MCP error -32602: unknown tool \"pear\"; did you mean \"pair\"?"}`,
	} {
		if string(got.Results[i]) != want {
			t.Errorf("result %d: %s, want %s", i, got.Results[i], want)
		}
	}
}

func TestInspectorListsAndCalls(t *testing.T) {
	t.Parallel()
	bin := mcptest.RealServers(t)
	w := serveWeb(t, []string{"MCPGRAPH_AUTH_TOKENS=foreign " + foreignToken}, "testdata/tools.yaml", "--auth", "bearer", "--expose-runs")
	defer w.stop()
	for transport, place := range map[string][]string{
		"stdio": {binary, "serve", "testdata/tools.yaml", "--expose-runs"},
		"http":  {w.base + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + foreignToken},
	} {
		t.Run(transport, func(t *testing.T) {
			if transport != "http" {
				testscale.OnlyFull(t)
			}
			inspect := func(args ...string) string {
				t.Helper()
				args = slices.Concat([]string{filepath.Join(bin, "mcp-inspector"), "--cli"}, place, args)
				cmd := exec.Command(filepath.Join(bin, "node"), args...)
				cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v\n%s%s", err, out, stderrOf(err))
				}
				var v any
				if err := json.Unmarshal(out, &v); err != nil {
					t.Fatalf("%v in %s", err, out)
				}
				compact, _ := json.Marshal(v)
				return string(compact)
			}
			if got := inspect("--method", "tools/call", "--tool-name", "pair", "--tool-arg", "n=5"); !strings.Contains(got, `"structuredContent":{"n":5}`) {
				t.Errorf("tools/call: %s", got)
			}
			if !testscale.Full() {
				return
			}
			if got := inspect("--method", "tools/list"); !strings.Contains(got, `"name":"pick"`) || !strings.Contains(got, `"name":"pair"`) {
				t.Errorf("tools/list: %s", got)
			}
			if got := inspect("--method", "resources/list"); !strings.Contains(got, `"uri":"mcpgraph://runs"`) {
				t.Errorf("resources/list: %s", got)
			}
		})
	}
}

// TestBothLayoutsCountARealDirectory runs the two files that the description of
// the language prints; only the directory differs.
func TestBothLayoutsCountARealDirectory(t *testing.T) {
	t.Parallel()
	bin := mcptest.RealServers(t)
	files := t.TempDir()
	for _, name := range []string{"a.txt", "b.md", "c.tar.gz", "d"} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, layout := range []string{"count_tool.yaml", "count_flat.yaml"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			if layout != "count_flat.yaml" {
				testscale.OnlyFull(t)
			}
			source, err := os.ReadFile(filepath.Join("testdata", layout))
			if err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(t.TempDir(), layout)
			if err := os.WriteFile(config, []byte(strings.ReplaceAll(string(source), "./tests/files", files)), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
			c := connect(t, filepath.Dir(filepath.Dir(bin)), env, "serve", config) // npx finds its packages from here
			r, err := callTool(c, "count_files", map[string]any{"directory": files})
			if err != nil || r.IsError || text(r) != `{"count":4}` {
				t.Errorf("%v: %+v", err, r)
			}
		})
	}
}

func stderrOf(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.Stderr
	}
	return nil
}

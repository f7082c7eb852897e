package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const emptyFile = "# Tools of an agent\nversion: \"1.0\"\nserver: {name: agent, version: 1.0.0}\ntools: [] # none yet\n# the end\n"

// workshop writes a file without tools and a file of servers, and returns their folder.
func workshop(t *testing.T, script mcptest.Script) string {
	t.Helper()
	dir := t.TempDir()
	behaviour, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	servers := fmt.Sprintf(`{"mcpServers":{"shop":{"command":"fakeserver","args":[%q]}}}`, filepath.Join(dir, "script.json"))
	for name, text := range map[string]string{"tools.yaml": emptyFile, "mcp.json": servers, "script.json": string(behaviour)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// agent is a client of the toolkit.
type agent struct {
	t *testing.T
	c *client.Client
}

// try calls a tool of the toolkit. args is JSON.
func (a agent) try(name, args string) (value.Value, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, json.RawMessage(args)
	r, err := a.c.CallTool(context.Background(), request)
	if err != nil {
		return value.Undef, err
	}
	if r.IsError {
		return value.Undef, fmt.Errorf("%s", text(r))
	}
	return value.Parse(text(r))
}

func (a agent) do(name, args string) value.Value {
	a.t.Helper()
	v, err := a.try(name, args)
	if err != nil {
		a.t.Fatalf("%s %s: %v", name, args, err)
	}
	if v.Has("success") && !v.Get("success").Bool() {
		a.t.Fatalf("%s %s: %s", name, args, v.JSON())
	}
	return v
}

func startToolkit(t *testing.T, dir string, args ...string) agent {
	t.Helper()
	env := []string{"XDG_CACHE_HOME=" + filepath.Join(dir, "cache")}
	return agent{t, connect(t, dir, env, append([]string{"toolkit", "-g", "tools.yaml", "-m", "mcp.json"}, args...)...)}
}

// shop is what the tools of the agent call.
var shop = mcptest.Script{Tools: []mcptest.Tool{
	{Name: "list_orders", Description: "All orders of a customer", InputSchema: schemaOf("customer"), Annotations: json.RawMessage(`{"readOnlyHint":true}`),
		Result: mcptest.Structured(`{"orders":[{"id":"a1","total":5,"open":true},{"id":"b2","total":7.5,"open":false},{"id":"c3","total":2,"open":true}]}`)},
	{Name: "stock_level", Description: "How many pieces of an article are in stock", InputSchema: schemaOf("article"), Annotations: json.RawMessage(`{"readOnlyHint":true}`), Result: mcptest.Text("Article: 4 pieces")},
	{Name: "weather", Description: "Today's weather of a city", InputSchema: schemaOf("city"), Annotations: json.RawMessage(`{"readOnlyHint":true}`), Result: mcptest.Structured(`{"celsius":21}`)},
	{Name: "news", Description: "Top news of a city", InputSchema: schemaOf("city"), Annotations: json.RawMessage(`{"readOnlyHint":true}`), Result: mcptest.Structured(`{"titles":["One","Two"]}`)},
	{Name: "read_page", Description: "Reads a page", InputSchema: schemaOf("url"), Annotations: json.RawMessage(`{"readOnlyHint":true}`),
		Result: json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"404"}]}`)},
}}

func schemaOf(name string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, name, name))
}

// TestAgentBuildsFiveTools builds five tools from one sentence each through the
// protocol alone, as an agent does: search, sample, draft, save, test.
func TestAgentBuildsFiveTools(t *testing.T) {
	t.Parallel()
	dir := workshop(t, shop)
	a := startToolkit(t, dir)
	for _, task := range []struct {
		sentence, query, server string // server is the tool that has to be found
		sample                  string
		definition              string
		args, want              string
	}{
		{
			"Add up what a customer's open orders cost", "orders of a customer", "list_orders", `{"customer":"ann"}`,
			`{"name":"open_total","description":"Adds up the open orders of a customer","inputSchema":{"type":"object","properties":{"customer":{"type":"string"}},"required":["customer"]},"nodes":[
			  {"id":"entry","type":"entry","next":"orders"},
			  {"id":"orders","type":"mcp","server":"shop","tool":"list_orders","args":{"customer":{"expr":"$.entry.customer"}},"next":"sum"},
			  {"id":"sum","type":"transform","transform":{"expr":"{\"total\": $sum($.orders.orders[open].total)}"},"next":"exit"},
			  {"id":"exit","type":"exit"}]}`,
			`{"customer":"ann"}`, `{"total":7}`,
		},
		{
			"Check the stock of several articles at once", "stock of an article", "stock_level", `{"article":"pen"}`,
			`{"name":"stock_of","description":"The stock of several articles","inputSchema":{"type":"object","properties":{"articles":{"type":"array","items":{"type":"string"}}},"required":["articles"]},"nodes":[
			  {"id":"entry","type":"entry","next":"each"},
			  {"id":"each","type":"map","items":{"expr":"$.entry.articles"},"nodes":[
			    {"id":"level","type":"mcp","server":"shop","tool":"stock_level","args":{"article":{"expr":"$item"}},"output":"text","next":"parse"},
			    {"id":"parse","type":"transform","transform":{"expr":"{\"article\": $item, \"pieces\": $number($match($.level, /(\\d+) pieces/).groups[0])}"}}],"next":"exit"},
			  {"id":"exit","type":"exit"}]}`,
			`{"articles":["pen","ink"]}`, `[{"article":"pen","pieces":4},{"article":"ink","pieces":4}]`,
		},
		{
			"A morning briefing: weather and news at the same time", "weather city", "weather", `{"city":"Rome"}`,
			`{"name":"briefing","description":"Weather and news of a city","inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"nodes":[
			  {"id":"entry","type":"entry","next":"both"},
			  {"id":"both","type":"parallel","branches":{
			    "weather":[{"id":"w","type":"mcp","server":"shop","tool":"weather","args":{"city":{"expr":"$.entry.city"}}}],
			    "news":[{"id":"n","type":"mcp","server":"shop","tool":"news","args":{"city":{"expr":"$.entry.city"}}}]},"next":"text"},
			  {"id":"text","type":"transform","transform":{"expr":"{\"text\": $string($.both.weather.celsius) & \" °C, \" & $join($.both.news.titles, \"; \")}"},"next":"exit"},
			  {"id":"exit","type":"exit"}]}`,
			`{"city":"Rome"}`, `{"text":"21 °C, One; Two"}`,
		},
		{
			"Say what to wear: by the weather", "weather", "weather", `{"city":"Rome"}`,
			`{"name":"wear","description":"What to wear in a city","inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"nodes":[
			  {"id":"entry","type":"entry","next":"w"},
			  {"id":"w","type":"mcp","server":"shop","tool":"weather","args":{"city":{"expr":"$.entry.city"}},"next":"how"},
			  {"id":"how","type":"switch","conditions":[{"rule":{">":[{"var":"$.w.celsius"},20]},"next":"light"}],"next":"warm"},
			  {"id":"light","type":"transform","transform":{"expr":"{\"wear\": \"a shirt\"}"},"next":"exit"},
			  {"id":"warm","type":"transform","transform":{"expr":"{\"wear\": \"a coat\"}"},"next":"exit"},
			  {"id":"exit","type":"exit"}]}`,
			`{"city":"Rome"}`, `{"wear":"a shirt"}`,
		},
		{
			"Read a page, and say so if it is not there", "read page", "read_page", `{"url":"https://example.com"}`,
			`{"name":"read","description":"Reads a page if it is there","inputSchema":{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]},"nodes":[
			  {"id":"entry","type":"entry","next":"page"},
			  {"id":"page","type":"mcp","server":"shop","tool":"read_page","args":{"url":{"expr":"$.entry.url"}},"output":"text","catch":{"errors":["toolError"],"next":"gone"},"next":"exit"},
			  {"id":"gone","type":"transform","transform":{"expr":"{\"missing\": $.page.error.message}"},"next":"exit"},
			  {"id":"exit","type":"exit"}]}`,
			`{"url":"https://example.com"}`, `{"missing":"404"}`,
		},
	} {
		t.Run(task.sentence, func(t *testing.T) {
			a := agent{t, a.c}
			found := a.do("searchMcpTools", fmt.Sprintf(`{"query":%q,"limit":3}`, task.query)).Get("items").Elems()
			if !slices.ContainsFunc(found, func(v value.Value) bool { return v.Get("name").Str() == task.server }) {
				t.Fatalf("%q does not find %s", task.query, task.server)
			}
			sample := a.do("sampleMcpTool", fmt.Sprintf(`{"server":"shop","tool":%q,"args":%s}`, task.server, task.sample))
			if !sample.Has("schema") && !sample.Has("error") {
				t.Errorf("the sample is %s", sample.JSON())
			}
			draft := a.do("runGraphTool", `{"toolDefinition":`+task.definition+`,"arguments":`+task.args+`}`)
			if got := draft.Get("result").JSON(); got != task.want {
				t.Fatalf("the draft answers %s", draft.JSON())
			}
			name := a.do("addGraphTool", `{"tool":`+task.definition+`}`).Get("message").Str()
			if !strings.Contains(name, "was added") {
				t.Error(name)
			}
			definition, _ := value.Parse(task.definition)
			tool := definition.Get("name").JSON()
			run := a.do("runGraphTool", `{"toolName":`+tool+`,"arguments":`+task.args+`}`)
			a.do("writeGraphTest", fmt.Sprintf(`{"runId":%q,"name":%s}`, run.Get("runId").Str(), tool))
			if r := a.do("testGraphTool", `{"toolName":`+tool+`}`); r.Get("passed").Float() != 1 || r.Get("failed").Float() != 0 {
				t.Errorf("the test: %s", r.JSON())
			}
		})
	}
	// What was built is served, and its tests pass without the server.
	for _, args := range [][]string{{"validate", "-m", "mcp.json", "tools.yaml"}, {"test", "-m", "mcp.json"}} {
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("mcpgraph %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	written, err := os.ReadFile(filepath.Join(dir, "tools.yaml"))
	if err != nil || !strings.HasPrefix(string(written), strings.TrimSuffix(emptyFile, "tools: [] # none yet\n# the end\n")+"tools: # none yet\n") || !strings.HasSuffix(string(written), "\n# the end\n") {
		t.Errorf("the file is %s, %v", written, err)
	}
}

// TestToolkitsOnOneFile lets two processes edit one file at the same time.
func TestToolkitsOnOneFile(t *testing.T) {
	t.Parallel()
	dir := workshop(t, mcptest.Script{})
	n := testscale.Of(15, 100)
	var both sync.WaitGroup
	for _, who := range []string{"a", "b"} {
		kit := startToolkit(t, dir)
		both.Go(func() {
			for i := range n {
				v, err := kit.try("addGraphTool", fmt.Sprintf(`{"tool":{"name":"%s%d","description":"d","inputSchema":{"type":"object"},"nodes":[{"id":"entry","type":"entry","next":"exit"},{"id":"exit","type":"exit"}]}}`, who, i))
				if err != nil || !v.Get("success").Bool() {
					t.Errorf("edit %d of %s: %s, %v", i, who, v.JSON(), err)
				}
			}
		})
	}
	both.Wait()
	written, err := os.ReadFile(filepath.Join(dir, "tools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Count(string(written), "- name: "); found != 2*n {
		t.Errorf("of %d edits %d are in the file", 2*n, found)
	}
}

// TestToolkitKilledInAnEdit kills processes while they edit, and looks at the file.
func TestToolkitKilledInAnEdit(t *testing.T) {
	t.Parallel()
	for i := range testscale.Of(3, 30) {
		dir := workshop(t, mcptest.Script{})
		cmd := exec.Command(binary, "toolkit", "-g", "tools.yaml")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		for j := range 40 {
			_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"addGraphTool","arguments":{"tool":{"name":"t%d","description":%q,"inputSchema":{"type":"object"},"nodes":[{"id":"entry","type":"entry","next":"exit"},{"id":"exit","type":"exit"}]}}}}`+"\n", j+2, j, strings.Repeat("x", 2000))
		}
		time.Sleep(time.Duration(20+i*7) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		check := exec.Command(binary, "validate", "tools.yaml")
		check.Dir = dir
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("the file is broken: %v\n%s", err, out)
		}
		if again := startToolkit(t, dir); !again.do("validateGraphTool", `{}`).Get("valid").Bool() {
			t.Error("the file has errors")
		}
	}
}

const hiTool = `{"name":"hi","description":"Greets","inputSchema":{"type":"object"},"nodes":[{"id":"entry","type":"entry","next":"exit"},{"id":"exit","type":"exit"}]}`

func TestToolkitOnUnusualFiles(t *testing.T) {
	t.Parallel()
	t.Run("link", func(t *testing.T) {
		dir := workshop(t, mcptest.Script{})
		path, real := filepath.Join(dir, "tools.yaml"), filepath.Join(dir, "real", "other.yaml")
		if err := os.Mkdir(filepath.Dir(real), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, real); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(real, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("real", "other.yaml"), path); err != nil {
			t.Skip(err)
		}
		startToolkit(t, dir).do("addGraphTool", `{"tool":`+hiTool+`}`)
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v", err)
		}
		info, err = os.Stat(real)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
	})
	t.Run("CRLF and byte order mark", func(t *testing.T) {
		dir := workshop(t, mcptest.Script{})
		path := filepath.Join(dir, "tools.yaml")
		if err := os.WriteFile(path, []byte("\ufeff"+strings.ReplaceAll(emptyFile, "\n", "\r\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		startToolkit(t, dir).do("addGraphTool", `{"tool":`+hiTool+`}`)
		written, _ := os.ReadFile(path)
		if !strings.HasPrefix(string(written), "\ufeff# Tools") || strings.Count(string(written), "\n") != strings.Count(string(written), "\r\n") || !strings.Contains(string(written), "name: hi\r\n") {
			t.Errorf("the file is %q", written)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		dir := workshop(t, mcptest.Script{})
		path := filepath.Join(dir, "tools.yaml")
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		kit := startToolkit(t, dir)
		_, err := kit.try("addGraphTool", `{"tool":`+hiTool+`}`)
		if os.Getuid() != 0 && (err == nil || !strings.Contains(err.Error(), "tools.yaml")) {
			t.Errorf("got %v", err)
		}
		if written, _ := os.ReadFile(path); os.Getuid() != 0 && string(written) != emptyFile {
			t.Errorf("the file is %s", written)
		}
	})
}

// TestToolkitOfOfficialSDK tries the toolkit with the official TypeScript SDK.
func TestToolkitOfOfficialSDK(t *testing.T) {
	t.Parallel()
	testscale.OnlyFull(t)
	bin := mcptest.RealServers(t)
	dir := workshop(t, shop)
	place, _ := json.Marshal(map[string]any{"command": binary, "args": []string{"toolkit", "-g", filepath.Join(dir, "tools.yaml"), "-m", filepath.Join(dir, "mcp.json")}})
	cmd := exec.Command(filepath.Join(bin, "node"), filepath.Join("testdata", "toolkit.mjs"), filepath.Dir(bin), string(place), hiTool)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := value.Parse(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for key, want := range map[string]string{
		"tools": "26", "added": "true", "names": `["hi"]`, "result": `{"a":1}`, "refused": "false", "wrong": "true", "text": "true",
	} {
		if found := got.Get(key).JSON(); found != want {
			t.Errorf("%s is %s, want %s", key, found, want)
		}
	}
}

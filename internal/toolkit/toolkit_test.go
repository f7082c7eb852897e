package toolkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/toolkit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestMain(m *testing.M) { mcptest.Main(m) }

const head = `# The tools of a team
version: "1.0" # do not change
server: {name: team, version: 1.0.0, title: Team, instructions: "Be kind"}
`

// secret is the value of an environment variable of the server.
const secret = "s3cr3t-0123456789"

// files is a server that reads a folder that never changes.
var files = mcptest.Script{PageSize: 2, Tools: []mcptest.Tool{
	reader("list_directory", "The names in a folder, one a line", "[FILE] a.txt\n[FILE] b.txt\n[DIR] sub"),
	reader("list_directory_with_sizes", "The names in a folder with their sizes", "[FILE] a.txt 3 B\n[FILE] b.txt 5 B"),
	reader("read_text_file", "The text of a file", "hello "+secret),
	reader("get_file_info", "Size and time of a file", "size: 3"),
	{Name: "write_file", Description: "Writes a file", InputSchema: pathSchema, Result: mcptest.Text("written")},
	{Name: "broken", InputSchema: pathSchema, Result: json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`)},
}}

var pathSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)

func reader(name, description, text string) mcptest.Tool {
	return mcptest.Tool{
		Name: name, Description: description, InputSchema: pathSchema, Annotations: json.RawMessage(`{"readOnlyHint":true}`), Result: mcptest.Structured(`{"content":` + string(value.AppendString(nil, text)) + `}`),
	}
}

// desk is a toolkit with a client.
type desk struct {
	t    *testing.T
	path string
	c    *client.Client
}

// open serves a file with these tools, in which the server files is, to a client.
func open(t *testing.T, tools string, change ...func(*toolkit.Options)) *desk {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	path := filepath.Join(dir, "team.yaml")
	command, args, env := files.Command()
	entry, err := json.Marshal(map[string]any{"command": command, "args": append([]string{}, args...), "env": env})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "mcp.json"), `{"mcpServers":{"files":`+string(entry)+`,"dead":{"command":"/nonexistent/program"}}}`)
	write(t, path, head+tools)
	o := toolkit.Options{
		Path: path, MCPFiles: []string{filepath.Join(dir, "mcp.json")}, Log: slog.New(slog.DiscardHandler), Getenv: os.LookupEnv,
	}
	for _, f := range change {
		f(&o)
	}
	return serve(t, o)
}

func serve(t *testing.T, o toolkit.Options) *desk {
	t.Helper()
	kit, err := toolkit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- kit.ServeStdio(context.Background(), in, out) }()
	over := transport.NewIO(fromServer, toServer, io.NopCloser(strings.NewReader("")))
	if err := over.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := client.NewClient(over)
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = toServer.Close() // it ends with its input
		if err := <-ended; err != nil {
			t.Errorf("the toolkit ended with %v", err)
		}
		_ = fromServer.Close()
		_ = c.Close()
		if err := kit.Close(); err != nil {
			t.Error(err)
		}
	})
	return &desk{t, o.Path, c}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) text() string {
	d.t.Helper()
	text, err := os.ReadFile(d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// ask calls a tool. args is JSON.
func (d *desk) ask(name, args string) (value.Value, bool) {
	d.t.Helper()
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, json.RawMessage(args)
	r, err := d.c.CallTool(d.t.Context(), request)
	if err != nil {
		d.t.Fatalf("%s %s: %v", name, args, err)
	}
	text, _ := r.Content[0].(mcp.TextContent)
	if r.IsError {
		return value.FromString(text.Text), false
	}
	v, err := value.FromAny(r.StructuredContent)
	if err != nil {
		d.t.Fatal(err)
	}
	same, err := value.Parse(text.Text)
	if err != nil || !value.Equal(v, same) {
		d.t.Errorf("%s: the text is %s, the structured content %s", name, text.Text, v.JSON())
	}
	return same, true // with the keys in order
}

// call calls a tool that must answer.
func (d *desk) call(name, args string) value.Value {
	d.t.Helper()
	v, ok := d.ask(name, args)
	if !ok {
		d.t.Fatalf("%s %s is an error: %s", name, args, v.Str())
	}
	if strings.Contains(v.JSON(), secret) && os.Getenv("TEST_SECRET") == secret {
		d.t.Errorf("%s shows a secret: %s", name, v.Preview(500))
	}
	return v
}

// refuses checks that a call is an error with a text.
func (d *desk) refuses(name, args, want string) {
	d.t.Helper()
	v, ok := d.ask(name, args)
	if ok || !strings.Contains(v.Str(), want) {
		d.t.Errorf("%s %s: got %s, want an error with %q", name, args, v.JSON(), want)
	}
}

// has checks that the JSON of an answer has a text.
func (d *desk) has(v value.Value, want ...string) {
	d.t.Helper()
	for _, w := range want {
		if !strings.Contains(v.JSON(), w) {
			d.t.Errorf("the answer has no %s: %s", w, v.Preview(2000))
		}
	}
}

const countFiles = `{"name":"count_files","description":"Counts files","inputSchema":{"type":"object","properties":{"directory":{"type":"string"}},"required":["directory"]},
 "nodes":[{"id":"entry","type":"entry","next":"list"},
  {"id":"list","type":"mcp","server":"files","tool":"list_directory","args":{"path":{"expr":"$.entry.directory"}},"next":"count"},
  {"id":"count","type":"transform","transform":{"expr":"(\n  $lines := $split($.list.content, \"\\n\");\n  {\"count\": $count($lines[$contains($, \"[FILE]\")])}\n)"},"next":"exit"},
  {"id":"exit","type":"exit"}]}`

func TestLookAtServers(t *testing.T) {
	d := open(t, "tools: []\n")
	d.has(d.call("getGraphServer", `{}`), `"name":"team"`, `"version":"1.0.0"`, `"title":"Team"`, `"instructions":"Be kind"`, `"revision"`)
	servers := d.call("listMcpServers", `{}`)
	d.has(servers, `{"name":"files"`, `{"name":"dead","error":"`, "could not be started")
	if n := d.call("listMcpServerTools", `{"serverName":"files"}`).Get("items").Len(); n < len(files.Tools) {
		t.Errorf("there are %d tools of all pages", n)
	}
	d.has(d.call("listMcpServerTools", `{}`), `"list_directory"`, `"errors":[{"server":"dead","error":"`)
	d.has(d.call("searchMcpTools", `{"query":"directory"}`), `"list_directory"`, `"errors":[{"server":"dead","error":"`)
	d.has(d.call("getMcpServerTool", `{"serverName":"files","toolName":"list_directory"}`), `"inputSchema":{`, `"required":["path"]`, `"readOnlyHint":true`)
	d.refuses("getMcpServerTool", `{"serverName":"files","toolName":"list_direktory"}`, `did you mean "list_directory"?`)
	d.refuses("getMcpServerTool", `{"serverName":"file","toolName":"x"}`, `did you mean "files"?`)
	found := d.call("searchMcpTools", `{"query":"sizes of a folder","limit":1}`)
	d.has(found, `"list_directory_with_sizes"`, `(path: string)`)
	if found.Get("items").Len() != 1 {
		t.Error("limit has no effect")
	}
	d.has(d.call("sampleMcpTool", `{"server":"files","tool":"list_directory","args":{"path":"/"}}`), `{content: string(35)}`, `"schema":{"type":"object"`)
	d.refuses("sampleMcpTool", `{"server":"files","tool":"write_file","args":{"path":"/"}}`, "read-only")
	d.has(d.call("testMcpTool", `{"server":"files","tool":"list_directory","args":{"path":{"expr":"$.entry.d"},"gone":{"expr":"$.none"}},"context":{"entry":{"d":"/x"}}}`),
		`"evaluatedArgs":{"path":"/x"}`, `[DIR] sub`, `"executionTime"`)
	d.has(d.call("testMcpTool", `{"server":"files","tool":"broken","args":{"path":"/"}}`), `"name":"toolError"`, "no such file")
	d.has(d.call("testMcpTool", `{"server":"files","tool":"list_directory","args":{}}`), `"name":"arguments"`, "path")
	d.refuses("testMcpTool", `{"server":"files"}`, "missing")
}

func TestExpressions(t *testing.T) {
	d := open(t, "tools: []\n")
	for _, c := range []struct{ tool, args, want string }{
		{"testJSONata", `{"expression":"$sum($.a.n)","context":{"a":{"n":[1,2]}}}`, `{"result":3}`},
		{"testJSONata", `{"expression":"$previousNode()","context":{"a":1,"b":2}}`, `{"result":2}`},
		{"testJSONata", `{"expression":"$.none","context":{}}`, `{}`},
		{"testJSONata", `{"expression":"$.a.includes(\"x\")","context":{}}`, `"warnings":[{"message":"values have no methods: .includes(…) calls nothing","hint":"write \"x\" in $.a; for a text, $contains($.a, \"x\")","position":4}]`},
		{"testJSONata", `{"expression":"a.length","context":{"a":{"length":2}}}`, `{"result":2}`},
		{"testJSONata", `{"expression":"1 +","context":{}}`, `"code":"S0207"`},
		{"testJSONata", `{"expression":"$cuont(1)","context":{}}`, `"position":0,"hint":"did you mean $count?"`},
		{"testJSONLogic", `{"expression":{">":[{"var":"$.a.n"},1]},"context":{"a":{"n":2}}}`, `{"result":true}`},
		{"testJSONLogic", `{"expression":"{\"!\":[true]}","context":{}}`, `{"result":false}`},
		{"testJSONLogic", `{"expression":{"nope":1},"context":{}}`, `"error":{"message":"unknown JSON Logic operator`},
	} {
		d.has(d.call(c.tool, c.args), c.want)
	}
	long := d.call("testJSONata", `{"expression":"$join([1..1000].(\"abcdefghij\"))","context":{},"maxBytes":500}`)
	d.has(long, `"$cut":{"bytes":10002`)
	if len(long.JSON()) > 600 {
		t.Errorf("the answer has %d bytes", len(long.JSON()))
	}
}

func TestBuildATool(t *testing.T) {
	d := open(t, "tools: [] # none yet\n\n# the end\n")
	draft := d.call("runGraphTool", `{"toolDefinition":`+countFiles+`,"arguments":{"directory":"/x"}}`)
	d.has(draft, `"result":{"count":2}`, `"nodeId":"list","nodeType":"mcp"`, `"executionIndex":3`, `"duration":`)
	d.has(d.call("runGraphTool", `{"toolDefinition":`+countFiles+`,"arguments":{"directory":"/x"},"calls":"none"}`), `this would call tool`, `{\"path\":\"/x\"}`)
	d.has(d.call("runGraphTool", `{"toolDefinition":`+countFiles+`,"arguments":{"directory":"/x"},"detail":"summary","mocks":[{"server":"files","tool":"list_directory","arguments":{"path":"/x"},"reply":{"text":"[FILE] x"}}]}`), `"result":{"count":`)
	d.has(d.call("runGraphTool", `{"toolDefinition":`+countFiles+`,"arguments":{"directory":"/y"},"mocks":[{"server":"files","tool":"list_directory","arguments":{"path":"/x"},"reply":{"text":"[FILE] x"}}]}`), `no mock answers`)
	d.refuses("runGraphTool", `{"toolDefinition":`+countFiles+`,"arguments":{},"mocks":[{"server":"files"}]}`, "mocks:")
	if d.text() != head+"tools: [] # none yet\n\n# the end\n" {
		t.Error("a draft was saved")
	}

	// Invalid definitions are refused, with what to do.
	broken := strings.Replace(countFiles, `"next":"count"`, `"next":"cuont"`, 1)
	refused := d.call("addGraphTool", `{"tool":`+broken+`}`)
	d.has(refused, `"success":false`, `"code":"unknown-node"`, `"node":"list"`, `"pointer":"/nodes/1/next"`, `"fix":{"op":"set","path":"/nodes/1/next","value":"count"}`)
	d.has(d.call("validateGraphTool", `{"tool":`+broken+`}`), `"valid":false`)
	if d.text() != head+"tools: [] # none yet\n\n# the end\n" {
		t.Error("an invalid tool was saved")
	}

	encoded, _ := json.Marshal(countFiles) // as JSON text
	d.has(d.call("addGraphTool", `{"tool":`+string(encoded)+`}`), `"success":true`, `"count_files\" was added`)
	if text := d.text(); !strings.HasPrefix(text, head+"tools: # none yet\n  - name: count_files\n") || !strings.HasSuffix(text, "\n# the end\n") || !strings.Contains(text, "expr: |-\n") {
		t.Errorf("the file is\n%s", text)
	}
	d.has(d.call("addGraphTool", `{"tool":`+countFiles+`}`), `"success":false`, `already`)
	d.has(d.call("listGraphTools", `{}`), `[{"name":"count_files","description":"Counts files"}]`)
	whole, _ := value.Parse(countFiles)
	if got := d.call("getGraphTool", `{"toolName":"count_files"}`); !value.Equal(got, whole) {
		t.Errorf("the definition is %s", got.JSON())
	}
	d.refuses("getGraphTool", `{"toolName":"count_file"}`, `did you mean "count_files"?`)
	run := d.call("runGraphTool", `{"toolName":"count_files","arguments":{"directory":"/x"}}`)
	id := run.Get("runId").Str()
	d.has(run, `"result":{"count":2}`)
	d.has(d.call("getGraphPicture", `{"toolName":"count_files"}`), "flowchart TD", "files.list_directory")
	d.has(d.call("inferOutputSchema", `{"toolName":"count_files"}`), `{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`)

	// An inline definition runs as given, though a saved tool has its name.
	d.has(d.call("runGraphTool", `{"toolDefinition":`+strings.Replace(countFiles, `[FILE]`, `[DIR]`, 1)+`,"arguments":{"directory":"/x"},"detail":"summary"}`), `"result":{"count":1}`)
	d.has(d.call("runGraphTool", `{"toolName":"count_files","arguments":{"directory":"/x"},"detail":"summary"}`), `"result":{"count":2}`)
	d.has(d.call("runGraphTool", `{"toolName":"count_files","arguments":{}}`), `"name":"arguments"`, `"executionHistory":[]`)
	d.refuses("runGraphTool", `{"toolName":"count","arguments":{}}`, "count_files")
	d.refuses("runGraphTool", `{"arguments":{}}`, "give toolName")

	// Runs in parts.
	d.has(d.call("getRun", `{"runId":"`+id+`"}`), `"executions":4`, `"tool":"count_files"`)
	d.has(d.call("getRun", `{"runId":"`+id+`","part":"nodes"}`), `"node":"list"`)
	d.has(d.call("getRun", `{"runId":"`+id+`","execution":1,"pointer":"/output/content"}`), `{"value":"[FILE] a.txt\n[FILE] b.txt\n[DIR] sub"}`)
	d.refuses("getRun", `{"runId":"nope"}`, "there is no run")
	d.refuses("getRun", `{"runId":"`+id+`","execution":9}`, "has 4")
	d.has(d.call("evaluateInRun", `{"runId":"`+id+`","execution":2,"expression":"$keys($)"}`), `["list","entry"]`)
	d.has(d.call("evaluateInRun", `{"runId":"`+id+`","rule":{"==":[{"var":"count.count"},2]}}`), `{"result":true}`)
	again := d.call("runGraphTool", `{"toolName":"count_files","arguments":{},"calls":"none","from":{"runId":"`+id+`","step":2,"set":{"list":{"content":"[FILE] only"}}}}`)
	d.has(again, `"result":{"count":1}`)
	d.refuses("runGraphTool", `{"toolName":"count_files","arguments":{},"from":{"runId":"`+id+`","step":20}}`, "has 4 executions")

	// A test from the run.
	d.has(d.call("writeGraphTest", `{"runId":"`+id+`","name":"counts two"}`), `"success":true`)
	d.has(d.call("writeGraphTest", `{"runId":"`+id+`","name":"counts two"}`), `"success":false`)
	d.has(d.call("writeGraphTest", `{"runId":"`+id+`","name":"again"}`), `"success":true`)
	d.has(d.call("testGraphTool", `{"toolName":"count_files"}`), `"passed":2,"failed":0`)

	// Changes.
	patched := d.call("patchGraphTool", `{"toolName":"count_files","operations":[{"op":"renameNode","node":"list","to":"listing"},{"op":"set","path":"/nodes/listing/timeoutMs","value":500}]}`)
	d.has(patched, `"success":true`, `+      - id: listing\n`, `$.listing.content`)
	d.has(d.call("testGraphTool", `{}`), `has no node \"list\"`)
	d.has(d.call("patchGraphTool", `{"toolName":"count_files","operations":[{"op":"remove","path":"/nodes/count"}]}`), `"success":false`, `"unknown-node"`)
	before := d.text()
	d.has(d.call("patchGraphTool", `{"toolName":"count_files","dryRun":true,"operations":[{"op":"set","path":"/description","value":"All"}]}`), `"success":true`, `+    description: All`)
	d.has(d.call("patchGraphTool", `{"toolName":"count_files","operations":[{"op":"set","path":"/description","value":"All"},{"op":"remove","path":"/none"}]}`), `"success":false`, `operation 2`)
	if d.text() != before {
		t.Error("a dry run, or half of a patch, was saved")
	}
	d.has(d.call("history", `{}`), `"action":"patch"`, `"action":"add"`)
	d.has(d.call("undo", `{}`), `"success":true`)
	d.has(d.call("testGraphTool", `{}`), `"failed":0`)
	renamed := strings.Replace(countFiles, `"count_files"`, `"count_all"`, 1)
	d.has(d.call("updateGraphTool", `{"toolName":"count_files","tool":`+renamed+`}`), `"success":true`, `is now \"count_all\"; its tests in team.test.yaml were changed, too`)
	d.has(d.call("testGraphTool", `{"toolName":"count_all"}`), `"passed":2,"failed":0`)
	d.has(d.call("undo", `{}`), `"success":true`, `its tests in team.test.yaml were changed, too`)
	d.has(d.call("testGraphTool", `{"toolName":"count_files"}`), `"passed":2,"failed":0`)
	tests := filepath.Join(filepath.Dir(d.path), "team.test.yaml")
	if err := os.Chmod(tests, 0o400); err != nil {
		t.Fatal(err)
	}
	d.has(d.call("patchGraphTool", `{"toolName":"count_files","operations":[{"op":"set","path":"/name","value":"count_all"},{"op":"set","path":"/description","value":"All"}]}`), `"success":true`, `is now \"count_all\"; `, "team.test.yaml")
	d.refuses("updateGraphTool", `{"toolName":"count_files","tool":`+renamed+`}`, `there is no tool "count_files"`)
	d.has(d.call("deleteGraphTool", `{"toolName":"count_all"}`), `"success":true`)
	d.has(d.call("listGraphTools", `{}`), `{"items":[]}`)
}

func TestOthersEditTheFile(t *testing.T) {
	d := open(t, "tools: []\n")
	d.call("addGraphTool", `{"tool":`+countFiles+`}`)
	revision := d.call("getGraphServer", `{}`).Get("revision").Str()
	d.call("getGraphTool", `{"toolName":"count_files"}`)
	write(t, d.path, strings.Replace(d.text(), "Counts files", "Counts them", 1))
	conflict := d.call("updateGraphTool", `{"toolName":"count_files","tool":`+countFiles+`}`)
	d.has(conflict, `"success":false`, `has changed since it was read`, `+  \"description\": \"Counts them\"`)
	d.has(d.call("patchGraphTool", `{"toolName":"count_files","expectedRevision":"`+revision+`","operations":[{"op":"remove","path":"/description"}]}`), `"success":false`, `another revision`)
	d.has(d.call("undo", `{}`), `"success":false`, `has changed since`)
	d.has(d.call("getGraphTool", `{"toolName":"count_files"}`), "Counts them")
	d.has(d.call("updateGraphTool", `{"toolName":"count_files","tool":`+countFiles+`}`), `"success":true`)

	// A file with errors can be read and mended, and not run.
	write(t, d.path, strings.ReplaceAll(d.text(), "next: count\n", "next: cuont\n"))
	d.refuses("runGraphTool", `{"toolName":"count_files","arguments":{"directory":"/"}}`, "the file has errors")
	found := d.call("validateGraphTool", `{}`)
	d.has(found, `"valid":false`, `"code":"unknown-node"`)
	fix := found.Get("diagnostics").Elems()[0].Get("fix")
	d.has(d.call("patchGraphTool", `{"toolName":"count_files","operations":[`+fix.JSON()+`]}`), `"success":true`)
	d.has(d.call("validateGraphTool", `{}`), `"valid":true`)
	write(t, d.path, "tools: [")
	d.refuses("listGraphTools", `{}`, "not valid YAML")
}

func TestLogsOfRunsStayApart(t *testing.T) {
	d := open(t, "tools: []\n")
	definition := func(text string) string {
		return fmt.Sprintf(`{"name":"logs","description":"d","inputSchema":{"type":"object"},"nodes":[{"id":"entry","type":"entry","next":"s"},
			{"id":"s","type":"switch","conditions":[{"rule":{"==":[{"log":%q},1]},"next":"exit"}],"next":"exit"},{"id":"exit","type":"exit"}]}`, text)
	}
	done := make(chan value.Value, 20)
	for i := range cap(done) {
		go func() {
			v, _ := d.ask("runGraphTool", fmt.Sprintf(`{"toolDefinition":%s,"arguments":{},"logging":true}`, definition(fmt.Sprintf("say-%d-", i))))
			done <- object("i", i, v)
		}()
	}
	for range cap(done) {
		v := <-done
		i, logs := int(v.Get("i").Float()), v.Get("answer").Get("logging").JSON()
		if strings.Count(logs, "say-") != 1 || !strings.Contains(logs, fmt.Sprintf("say-%d-", i)) {
			t.Errorf("the log of run %d is %s", i, logs)
		}
	}
}

func object(key string, i int, answer value.Value) value.Value {
	return value.FromEntries([]value.Entry{{Key: key, Value: value.FromInt(int64(i))}, {Key: "answer", Value: answer}})
}

// maxListing bounds tools/list: 6,000 tokens of at least 3.6 bytes each, as JSON
// schemas have.
const maxListing = 6000 * 36 / 10

func TestListing(t *testing.T) {
	d := open(t, "tools: []\n")
	r, err := d.c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(r)
	if len(text) > maxListing {
		t.Errorf("the list has %d bytes, more than %d", len(text), maxListing)
	}
	for _, one := range r.Tools {
		if one.Annotations.ReadOnlyHint == nil || one.Description == "" {
			t.Errorf("%s has no annotations or no description", one.Name)
		}
	}
	core := open(t, "tools: []\n", func(o *toolkit.Options) { o.Core = true })
	r, err = core.c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil || len(r.Tools) != 13 {
		t.Errorf("%d tools, %v", len(r.Tools), err)
	}
}

// TestAnswersFitTheirSchemas calls every tool once and checks what comes.
func TestAnswersFitTheirSchemas(t *testing.T) {
	d := open(t, "tools: []\n")
	list, err := d.c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*graph.Schema{}
	for _, one := range list.Tools {
		text, _ := json.Marshal(one.OutputSchema)
		v, err := value.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if schemas[one.Name], err = graph.NewSchema(v); err != nil {
			t.Fatal(err)
		}
	}
	id, called := "", map[string]bool{}
	for _, c := range [][2]string{
		{"getGraphServer", `{}`}, {"listGraphTools", `{}`}, {"listMcpServers", `{}`}, {"listMcpServerTools", `{}`},
		{"getMcpServerTool", `{"serverName":"files","toolName":"write_file"}`}, {"searchMcpTools", `{"query":"file"}`},
		{"testMcpTool", `{"server":"files","tool":"broken","args":{"path":"x"}}`}, {"sampleMcpTool", `{"server":"files","tool":"get_file_info","args":{"path":"x"}}`},
		{"addGraphTool", `{"tool":{"name":"x","inputSchema":{},"nodes":[]}}`}, {"addGraphTool", `{"tool":` + countFiles + `}`}, {"getGraphTool", `{"toolName":"count_files"}`},
		{"runGraphTool", `{"toolName":"count_files","arguments":{"directory":"x"},"logging":true}`}, {"getRun", `{"runId":"ID"}`}, {"getRun", `{"runId":"ID","part":"nodes"}`},
		{"evaluateInRun", `{"runId":"ID","expression":"1"}`}, {"inferOutputSchema", `{"toolName":"count_files"}`}, {"writeGraphTest", `{"runId":"ID","name":"n"}`},
		{"testGraphTool", `{}`}, {"validateGraphTool", `{}`}, {"getGraphPicture", `{"toolName":"count_files"}`},
		{"patchGraphTool", `{"toolName":"count_files","operations":[{"op":"set","path":"/title","value":"T"}]}`}, {"history", `{}`}, {"undo", `{}`},
		{"updateGraphTool", `{"toolName":"count_files","tool":` + countFiles + `}`}, {"deleteGraphTool", `{"toolName":"count_files"}`},
		{"testJSONata", `{"expression":"(","context":{}}`}, {"testJSONLogic", `{"expression":true,"context":{}}`}, {"help", `{}`},
	} {
		v := d.call(c[0], strings.ReplaceAll(c[1], "ID", id))
		if err := schemas[c[0]].Validate(v); err != nil {
			t.Errorf("%s: the answer does not fit its schema: %v\n%s", c[0], err, v.Preview(500))
		}
		if v.Has("runId") {
			id = v.Get("runId").Str()
		}
		called[c[0]] = true
	}
	for name := range schemas {
		if !called[name] {
			t.Errorf("%s was not called", name)
		}
	}
}

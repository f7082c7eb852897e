package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// complete adds the required fields that a test leaves out.
func complete(source string) string {
	for key, text := range map[string]string{
		"version": "version: \"1.0\"\n", "server": "server: {name: demo, version: 1.0.0}\n",
	} {
		if !strings.HasPrefix(source, key+":") && !strings.Contains(source, "\n"+key+":") {
			source = strings.TrimSuffix(source, "\n") + "\n" + text
		}
	}
	return source
}

func mustParse(t *testing.T, source string, opts Options) *File {
	t.Helper()
	f, ds := Parse("f.yaml", []byte(complete(source)), opts)
	if len(ds) > 0 {
		t.Fatalf("%v in\n%s", ds, complete(source))
	}
	return f
}

func TestScalarsFollowTheCoreSchema(t *testing.T) {
	tests := map[string]string{
		"yes": `"yes"`, "No": `"No"`, "on": `"on"`, "true": "true", "False": "false", "TRUE": "true", "tRue": `"tRue"`,
		"null": "null", "~": "null", "": "null", "Null": "null", "nil": `"nil"`,
		"010": "10", "0777": "777", "0o17": "15", "0x1F": "31", "0xZ": `"0xZ"`, "0o8": `"0o8"`, "-0x1": `"-0x1"`, "+5": "5", "-5": "-5",
		"1_000": `"1_000"`, "12:30:45": `"12:30:45"`, "0b11": `"0b11"`,
		"1.5": "1.5", "1.": "1", ".5": "0.5", "-.5": "-0.5", "1e3": "1000", "1.50": "1.5", "007.5": "7.5", "1e": `"1e"`, ".": `"."`,
		"1.e3": "1000", "e3": `"e3"`, "1.2.3": `"1.2.3"`, "+": `"+"`, "-": `[null]`, "1e+5": "100000", "1e++5": `"1e++5"`,
		"12345678901234567890": "12345678901234567890", "9007199254740993": "9007199254740993", "0xFFFFFFFFFFFFFFFFFF": "4722366482869645213695",
		"2024-01-01": `"2024-01-01"`, "2024-01-01T10:00:00Z": `"2024-01-01T10:00:00Z"`,
		`"010"`: `"010"`, "'~'": `"~"`, "! 3": `"3"`, "!!str 3": `"3"`, "!!int '3'": "3", "!!float 3": "3", "|\n  3": `"3"`,
	}
	for source, want := range tests {
		_, root, ds := read("f.yaml", []byte("a: "+source), nil)
		if root == nil || len(ds) > 0 {
			if source != "-" {
				t.Errorf("%q: %v", source, ds)
			}
			continue
		}
		if got := root.Get("a").Value().JSON(); got != want {
			t.Errorf("%q is %s, want %s", source, got, want)
		}
	}
}

func TestFilesThatYAMLAllows(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"byte order mark", "\ufeffa: 1\n", `{"a":1}`},
		{"CR LF", "a: 1\r\nb:\r\n  - 2\r\n", `{"a":1,"b":[2]}`},
		{"version directive", "# note\n%YAML 1.2\n---\na: 1\n", `{"a":1}`},
		{"document markers", "---\na: 1\n...\n", `{"a":1}`},
		{"JSON", "{\n\t\"a\":1,\t\"b\":[1,{\"c\":null}],\"d\":\"\\/\\u00e9\\ud83d\\ude00\"\n}\n", `{"a":1,"b":[1,{"c":null}],"d":"/é😀"}`},
		{"lone surrogate", `a: "\ud83d"`, `{"a":"\ud83d"}`},
		{"surrogates as text", "a: '\\ud83d\\uDE00'\nb: \\udABC\nc: \"\\\\ud83d\"\n", `{"a":"\\ud83d\\uDE00","b":"\\udABC","c":"\\ud83d"}`},
		{"characters for private use", "a: \ue800\nb: \U000f0000\u2028\n", "{\"a\":\"\ue800\",\"b\":\"\U000f0000\u2028\"}"},
		{"line separators in quotes", "a: \"x\u2028 y\u0085z\"\n", "{\"a\":\"x\u2028 y\u0085z\"}"},
		{"merge", "x: &x {a: 1, b: 2}\ny: {c: 0, <<: *x, b: 3}\n", `{"x":{"a":1,"b":2},"y":{"c":0,"a":1,"b":3}}`},
		{"merge of a list", "y: {<<: [{a: 1}, {a: 2, b: 2}], c: 3}\n", `{"y":{"a":1,"b":2,"c":3}}`},
		{"quoted merge key", "y: {'<<': 1}\n", `{"y":{"<<":1}}`},
		{"alias", "a: &x [1]\nb: *x\nc: {d: *x}\n", `{"a":[1],"b":[1],"c":{"d":[1]}}`},
		{"keys that are not strings", "1: a\ntrue: b\n~: c\n0x10: d\n", `{"1":"a","true":"b","~":"c","0x10":"d"}`},
		{"key order", "z: 1\na: 2\nm: 3\n", `{"z":1,"a":2,"m":3}`},
		{"words of JavaScript", "constructor: 1\n__proto__: 2\n", `{"constructor":1,"__proto__":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, root, ds := read("f.yaml", []byte(tt.source), nil)
			if root == nil || len(ds) > 0 {
				t.Fatal(ds)
			}
			if got := root.Value().JSON(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	f := mustParse(t, "mcpServers: {a: {command: x}}\n", Options{})
	if f.Limits != (Limits{1000, 1_000_000, 5 * time.Minute, 16}) {
		t.Errorf("limits are %+v", f.Limits)
	}
	if f.Server.Title != "demo" || f.Server.Instructions != "" || f.Version != "1.0" || f.Flat {
		t.Errorf("the file is %+v", f)
	}
	want := &Upstream{
		Name: "a", File: "f.yaml", Pos: diag.Pos{Line: 1, Col: 14}, Transport: Stdio, Command: "x",
		InheritEnv: Inherit{All: true}, ConnectTimeout: 30 * time.Second, Timeout: time.Minute, MaxMessageBytes: 64 << 20,
	}
	if got := f.Upstreams[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("the upstream is\n%+v, want\n%+v", got, want)
	}
}

func TestTotalIsNoLessThanOneWalk(t *testing.T) {
	f := mustParse(t, "executionLimits: {maxNodeExecutions: 2000000}\n", Options{})
	if f.Limits.MaxTotalExecutions != 2_000_000 {
		t.Errorf("limits are %+v", f.Limits)
	}
}

func TestSettings(t *testing.T) {
	f := mustParse(t, `
server: {name: n, version: v, title: t, instructions: i, description: d, maxConcurrentCalls: 6, maxConcurrentCallsPerCaller: 7, maxCallWaitMs: 8}
executionLimits: {maxNodeExecutions: 5, maxTotalExecutions: 9, maxCallDepth: 2, maxExecutionTimeMs: 1e3}
mcpServers:
  x-note: free
  a:
    type: stdio
    command: npx
    args: [-p, 8080, on]
    env: {PORT: 8080, ON: true, S: s}
    inheritEnv: [EXTRA]
    cwd: /sub
    connectTimeoutMs: 1
    timeoutMs: 2
    maxCallTimeMs: 3
    maxConcurrency: 4
    maxMessageBytes: 5
    eager: true
    namePrefix: p_
    tools: {allow: ["read_*", write], deny: [read_secret]}
    x-own: 1
  b: {command: y, inheritEnv: false, tools: {allow: []}}
`, Options{})
	if want := (Server{
		Name: "n", Version: "v", Title: "t", Instructions: "i", MaxConcurrentCalls: 6, MaxConcurrentCallsPerCaller: 7, MaxCallWait: 8 * time.Millisecond,
	}); !reflect.DeepEqual(f.Server, want) {
		t.Errorf("the server is %+v", f.Server)
	}
	if f.Limits != (Limits{5, 9, time.Second, 2}) {
		t.Errorf("limits are %+v", f.Limits)
	}
	a := f.Upstreams[0]
	a.Pos = diag.Pos{}
	want := &Upstream{
		Name: "a", File: "f.yaml", Transport: Stdio, Command: "npx", Args: []string{"-p", "8080", "on"},
		Env:        []EnvVar{{"PORT", "8080"}, {"ON", "true"}, {"S", "s"}},
		InheritEnv: Inherit{Names: []string{"EXTRA"}}, Cwd: "/sub",
		ConnectTimeout: time.Millisecond, Timeout: 2 * time.Millisecond, MaxCallTime: 3 * time.Millisecond,
		MaxConcurrency: 4, MaxMessageBytes: 5, Eager: true, NamePrefix: "p_",
		Tools: ToolFilter{Allow: []string{"read_*", "write"}, Deny: []string{"read_secret"}},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("the upstream is\n%+v, want\n%+v", a, want)
	}
	if b := f.Upstreams[1]; b.InheritEnv.All || b.Tools.Allows("any") {
		t.Errorf("the upstream is %+v", b)
	}
}

func TestOlderSpellings(t *testing.T) {
	f := mustParse(t, "server: {name: n, version: v, description: d}\nservers: {a: {command: x}}\n", Options{})
	if f.Server.Instructions != "d" || len(f.Upstreams) != 1 {
		t.Errorf("server %+v, %d upstreams", f.Server, len(f.Upstreams))
	}
}

func TestRemoteServers(t *testing.T) {
	tests := []struct {
		entry, transport string
		headers          []Header
	}{
		{`{url: "https://a.example/mcp", headers: {A: b}}`, HTTP, []Header{{"A", "b"}}},
		{`{type: streamable-http, url: "http://a.example", headers: {A: b}, requestInit: {headers: {a: c, D: 5}}}`, HTTP, []Header{{"A", "b"}, {"D", "5"}}},
		{`{type: streamableHttp, url: "http://a.example"}`, HTTP, nil},
		{`{type: sse, url: "http://a.example"}`, SSE, nil},
		{`{type: ws, url: "wss://a.example"}`, WebSocket, nil},
		{`{url: "ws://a.example"}`, WebSocket, nil},
	}
	for _, tt := range tests {
		f := mustParse(t, "mcpServers: {a: "+tt.entry+"}", Options{})
		if u := f.Upstreams[0]; u.Transport != tt.transport || !slices.Equal(u.Headers, tt.headers) || !strings.Contains(u.URL, "a.example") {
			t.Errorf("%s is %+v", tt.entry, u)
		}
	}
}

func TestToolFilter(t *testing.T) {
	f := ToolFilter{Allow: []string{"read_*", "a/?"}, Deny: []string{"*_secret"}}
	for name, want := range map[string]bool{
		"read_file": true, "read_a/b": true, "read_secret": false, "write": false, "a/b": true, "a/bc": false,
	} {
		if f.Allows(name) != want {
			t.Errorf("Allows(%q) is %v", name, !want)
		}
	}
	if !(ToolFilter{}).Allows("anything") || (ToolFilter{Deny: []string{"*"}}).Allows("a/b") {
		t.Error("an empty filter refuses, or a deny of everything does not")
	}
}

func TestTools(t *testing.T) {
	f := mustParse(t, `
tools:
  - name: one
    title: One
    description: First
    inputSchema: {type: object, properties: {z: {}, a: {}}}
    outputSchema: true
    annotations: {readOnlyHint: true, title: One}
    icons: [{src: "data:x", sizes: [any]}]
    nodes: [{id: a}, {id: b}]
  - name: two
    description: Second
    inputSchema: {}
    nodes: []
`, Options{})
	one := f.Tools[0]
	if one.Name.String() != "one" || one.Title != "One" || one.Description != "First" || len(one.Nodes) != 2 {
		t.Errorf("the tool is %+v", one)
	}
	for got, want := range map[string]string{
		one.InputSchema.Value().JSON():  `{"type":"object","properties":{"z":{},"a":{}}}`,
		one.OutputSchema.Value().JSON(): `true`,
		one.Annotations.JSON():          `{"readOnlyHint":true,"title":"One"}`,
		one.Icons.JSON():                `[{"src":"data:x","sizes":["any"]}]`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	two := f.Tools[1]
	if two.OutputSchema != nil || !two.Annotations.IsUndefined() || !two.Icons.IsUndefined() {
		t.Errorf("the tool is %+v", two)
	}
	if want := (diag.Pos{Line: 11, Col: 5}); two.Pos != want || two.Name.Pos() != (diag.Pos{Line: 11, Col: 11}) {
		t.Errorf("the tool is at %v, want %v", two.Pos, want)
	}
}

func TestFlatLayout(t *testing.T) {
	f := mustParse(t, `
tools: [{name: one, description: d, inputSchema: {}}]
nodes: [{id: a}, {id: b}]
`, Options{})
	if !f.Flat || len(f.Nodes) != 2 || f.Tools[0].Nodes != nil {
		t.Errorf("the file is %+v", f)
	}
}

func TestVariablesAreReplacedInServersOnly(t *testing.T) {
	env := map[string]string{"TOKEN": "s3cret", "EMPTY": "", "NAME": "srv"}
	f := mustParse(t, `
server: {name: "${NAME}", version: "${V:-1}", title: x}
tools:
  - {name: token, title: "${TOKEN}", description: "${TOKEN}", inputSchema: {default: "${TOKEN}"}, nodes: [{id: "${TOKEN}"}]}
mcpServers:
  a:
    command: ${CMD:-npx}
    args: ["$${TOKEN}", "a${TOKEN}b${TOKEN}", "${EMPTY}", "${EMPTY:-d}", "${X:-}", "$TOKEN", "$(x)", "a$b", "${X:-a:-b}"]
    env: {KEY: "Bearer ${TOKEN}"}
`, Options{Getenv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	a := f.Upstreams[0]
	if want := []string{"${TOKEN}", "as3cretbs3cret", "", "d", "", "$TOKEN", "$(x)", "a$b", "a:-b"}; !slices.Equal(a.Args, want) {
		t.Errorf("args are %q, want %q", a.Args, want)
	}
	if a.Command != "npx" || a.Env[0].Value != "Bearer s3cret" {
		t.Errorf("the upstream is %+v", a)
	}
	if !slices.Equal(a.Secrets, []string{"s3cret"}) || !slices.Equal(f.Server.Secrets, []string{"srv"}) {
		t.Errorf("secrets are %q and %q", a.Secrets, f.Server.Secrets)
	}
	if f.Server.Name != "srv" || f.Server.Version != "1" {
		t.Errorf("the server is %+v", f.Server)
	}
	if tool := f.Tools[0]; tool.Title != "${TOKEN}" || tool.Description != "${TOKEN}" ||
		tool.Nodes[0].Get("id").Text().String() != "${TOKEN}" || tool.InputSchema.Value().JSON() != `{"default":"${TOKEN}"}` {
		t.Errorf("variables were replaced in a tool: %+v", tool)
	}
}

func TestDiagnosticsDoNotShowSecrets(t *testing.T) {
	getenv := func(string) (string, bool) { return "s3cret", true }
	_, ds := Parse("f.yaml", []byte(complete(`
mcpServers:
  a: {url: "ftp://${T}@example.com"}
  b: {type: "${T}", command: x}
  c: {url: "http://[${T}"}
`)), Options{Getenv: getenv})
	if len(ds) == 0 {
		t.Fatal("nothing is wrong")
	}
	for _, d := range ds {
		if strings.Contains(d.Error()+d.Hint, "s3cret") {
			t.Errorf("%s (%s)", d.Error(), d.Hint)
		}
	}
}

func TestEntriesOfOtherFiles(t *testing.T) {
	config := complete(`
mcpServers: {own: {command: mine}}
tools:
  - {name: t, description: d, inputSchema: {}, nodes: [{id: a, server: own}, {id: b, server: first}, {id: c, server: second}]}
`)
	first := MCPFile{"first.json", []byte(`{"globalShortcut": "x", "mcpServers": {
  "own": {"command": "other"}, "first": {"command": "one", "disabled": false, "timeout": 60}, "unused": {"comand": "x"}}}`)}
	second := MCPFile{"second.json", []byte(`{"servers": {"first": {"command": "two"}, "second": {"command": "two", "comand": 1}}}`)}
	f, ds := Parse("f.yaml", []byte(config), Options{MCPFiles: []MCPFile{first, second}})
	var got []string
	for _, u := range f.Upstreams {
		got = append(got, u.Name+" "+u.Command+" "+u.File)
	}
	if want := []string{"own mine f.yaml", "first one first.json", "second two second.json"}; !slices.Equal(got, want) {
		t.Errorf("upstreams are %q, want %q", got, want)
	}
	if len(ds) != 1 || ds[0].Error() != `second.json:1:72: warning: "comand" of server "second" has no effect in mcpgraph; it is ignored [meaningless-field]` || ds[0].Hint != `"comand": did you mean "command"?` {
		t.Errorf("diagnostics are %v", ds)
	}
	for _, source := range []string{"{}", " {}\n", `{"mcpServers":{}}`, `{"mcpServers":null}`, "// nothing yet\n{ /* or here */ }"} {
		if _, ds := Parse("f.yaml", []byte(config), Options{MCPFiles: []MCPFile{{"x.json", []byte(source)}}}); len(ds) != 0 {
			t.Errorf("%q: %v", source, ds)
		}
	}
	for _, source := range []string{"[]", "{", ""} {
		if _, ds := Parse("f.yaml", []byte(config), Options{MCPFiles: []MCPFile{{"x.json", []byte(source)}}}); !diag.HasErrors(ds) || ds[len(ds)-1].File != "x.json" {
			t.Errorf("%q: %v", source, ds)
		}
	}
}

// Nodes in the bodies of other nodes name servers, too.
func TestEntriesOfOtherFilesForBodies(t *testing.T) {
	config := complete(`
tools:
  - name: t
    description: d
    inputSchema: {}
    nodes:
      - {id: a, nodes: [{id: b, server: one}]}
      - {id: c, body: {nodes: [{id: d, branches: {x: [{id: e, server: two}], y: {nodes: [{id: f, server: three}]}}}]}}
      - {id: g, args: {server: four}}
`)
	source := `{"mcpServers": {"one": {"command": "x"}, "two": {"command": "x"}, "three": {"command": "x"}, "four": {"command": "x"}}}`
	f, _ := Parse("f.yaml", []byte(config), Options{MCPFiles: []MCPFile{{"m.json", []byte(source)}}})
	var got []string
	for _, u := range f.Upstreams {
		got = append(got, u.Name)
	}
	if want := []string{"one", "two", "three"}; !slices.Equal(got, want) {
		t.Errorf("upstreams are %q, want %q", got, want)
	}
}

func TestEntriesOfFilesWithComments(t *testing.T) {
	config := complete(`
tools:
  - {name: t, description: d, inputSchema: {}, nodes: [{id: a, server: one}]}
`)
	source := "// Written by an editor\n{ // é \"x\": {\n  /* two\n  lines: */ \"servers\": {\n" +
		"    // \"one\": {},\n    \"one\": {\"command\": \"/a//b\", \"args\": [\"/*\", \"\\\"//\", \"https://x\"], /**/ \"comand\": 1},\n  } //\n}"
	f, ds := Parse("f.yaml", []byte(config), Options{MCPFiles: []MCPFile{{"m.json", []byte(source)}}})
	if len(f.Upstreams) != 1 || f.Upstreams[0].Command != "/a//b" || !slices.Equal(f.Upstreams[0].Args, []string{"/*", `"//`, "https://x"}) {
		t.Errorf("upstreams are %+v", f.Upstreams)
	}
	if len(ds) != 1 || ds[0].Pos != (diag.Pos{Line: 6, Col: 75}) {
		t.Errorf("diagnostics are %v", ds)
	}
}

func TestLoadReadsFilesAndSaysWhichItCannot(t *testing.T) {
	dir := t.TempDir()
	path, mcp := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "m.json")
	for p, text := range map[string]string{
		path: complete("tools: [{name: t, description: d, inputSchema: {}, nodes: [{server: s}]}]"),
		mcp:  `{"mcpServers":{"s":{"command":"x"}}}`,
	} {
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, sources, ds := Load(path, []string{mcp}, nil, Options{})
	if len(ds) > 0 || len(f.Upstreams) != 1 || len(sources) != 2 {
		t.Errorf("%v, %d upstreams, %d sources", ds, len(f.Upstreams), len(sources))
	}
	missing := filepath.Join(dir, "no")
	f, _, ds = Load(missing, nil, nil, Options{})
	if f != nil || len(ds) != 1 || ds[0].Error() != missing+": error: cannot read the file: no such file or directory [unreadable-file]" {
		t.Errorf("a missing file: %v", ds)
	}
	f, _, ds = Load(path, []string{missing}, nil, Options{})
	if f == nil || len(ds) != 1 || ds[0].File != missing || ds[0].Code != diag.CodeFile {
		t.Errorf("a missing file of servers: %v", ds)
	}
}

func TestNodePaths(t *testing.T) {
	_, root, _ := read("f.yaml", []byte("a: [{b: c}]\nd: 5\n"), nil)
	if got := root.At("a", 0, "b").Text().String(); got != "c" {
		t.Errorf("a[0].b is %q", got)
	}
	for _, path := range [][]any{{"x"}, {"a", 1}, {"a", -1}, {"a", "b"}, {"d", 0}, {1.5}, {"a", 0, "b", "c"}} {
		if n := root.At(path...); n != nil {
			t.Errorf("%v leads to %s", path, n.Describe())
		}
	}
	var none *Node
	if none.Kind() != Scalar || !none.Value().IsUndefined() || none.Text().String() != "" || none.Get("x") != nil ||
		none.Items() != nil || !none.Pos().IsZero() || none.Describe() != "nothing" || none.IsNull() || none.IsString() {
		t.Error("a nil node does not stand for nothing")
	}
}

// TestAliasesAreBounded: what a small file stands for takes neither long to read
// nor more memory than the file itself.
func TestAliasesAreBounded(t *testing.T) {
	var wide, deep, merged strings.Builder
	merged.WriteString("- &a0 {k0: 0}\n")
	wide.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	deep.WriteString("a0: &a0 x\n")
	for i := 1; i < 3000; i++ {
		fmt.Fprintf(&wide, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1)
		fmt.Fprintf(&deep, "a%d: &a%d [*a%d]\n", i, i, i-1)
		fmt.Fprintf(&merged, "- &a%d {<<: *a%d, k%d: 1}\n", i, i-1, i)
	}
	// No list alone stands for too many values.
	heavy := "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]\nb: &b [*a" + strings.Repeat(", *a", 999) + "]\nc: &c [*b" + strings.Repeat(", *b", 79) + "]\n" +
		"d:\n" + strings.Repeat("  - [*c]\n", 2)
	long := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 5000) + "]\n"
	for name, tt := range map[string]struct{ source, code string }{
		"wide": {wide.String(), diag.CodeAliasBomb}, "deep": {deep.String(), diag.CodeDepth}, "long": {long, diag.CodeAliasBomb},
		"merged": {merged.String(), diag.CodeAliasBomb}, "heavy": {heavy, diag.CodeAliasBomb},
	} {
		f, ds := Parse("f.yaml", []byte(tt.source), Options{})
		if f != nil || len(ds) != 1 || ds[0].Code != tt.code {
			t.Errorf("%s: %v", name, ds)
		}
	}
	many := "a: &a [1, 2, 3]\nb: [" + strings.Repeat("*a, ", 50_000) + "]\n"
	if _, root, ds := read("f.yaml", []byte(many), nil); root == nil {
		t.Errorf("many small aliases: %v", ds)
	}
	// As many keys as a file of this size may have without merge keys.
	usual := "- &a {" + strings.Repeat("x", 5) + ": 1"
	for i := range 50 {
		usual += fmt.Sprintf(", k%d: 1", i)
	}
	usual += "}\n" + strings.Repeat("- {<<: *a, own: 1}\n", 3000)
	if _, root, ds := read("f.yaml", []byte(usual), nil); root == nil {
		t.Errorf("usual merge keys: %v", ds)
	}
}

// TestFieldsOfLargeMaps looks up keys of a map that has an index.
func TestFieldsOfLargeMaps(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "k%d: %d\n", i, i)
	}
	_, root, ds := read("f.yaml", []byte(b.String()+"<<: {k7: x, merged: y}\n"), nil)
	if root == nil {
		t.Fatal(ds)
	}
	if len(root.holds().index) != 101 {
		t.Errorf("%d keys have an index", len(root.holds().index))
	}
	for key, want := range map[string]string{"k0": "0", "k7": "7", "k99": "99", "merged": "y", "none": ""} {
		if got := root.Get(key).Text().String(); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// manyNodes is a configuration with n nodes, four lines each.
func manyNodes(n int) []byte {
	var b strings.Builder
	b.WriteString(complete("tools:\n  - name: t\n    description: d\n    inputSchema: {type: object}\n    nodes:\n"))
	s := strings.Builder{}
	for i := range n {
		fmt.Fprintf(&s, "      - id: node_%d\n        type: transform\n        transform:\n          expr: |\n            { \"n\": $.node_%d.n + 1,\n              \"s\": $string($.entry.x) }\n        next: node_%d\n", i, i, i+1)
	}
	return []byte(strings.Replace(b.String(), "    nodes:\n", "    nodes:\n"+s.String(), 1))
}

func TestManyNodesAreReadWithTheirPlaces(t *testing.T) {
	f, ds := Parse("f.yaml", manyNodes(5000), Options{})
	if len(ds) > 0 || len(f.Tools[0].Nodes) != 5000 {
		t.Fatalf("%d problems, first %v", len(ds), ds[:min(1, len(ds))])
	}
	if got, want := f.Tools[0].Nodes[4999].At("transform", "expr").Text().At(2), (diag.Pos{Line: 5 + 7*4999 + 5, Col: 15}); got != want {
		t.Errorf("the last expression is at %v, want %v", got, want)
	}
}

func BenchmarkParse5000Nodes(b *testing.B) {
	source := manyNodes(5000)
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		f, _ := Parse("f.yaml", source, Options{})
		for _, n := range f.Tools[0].Nodes {
			n.At("transform", "expr").Text().At(10)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../testdata/diag/config/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		file, ds := Parse("f.yaml", source, Options{
			Getenv:   func(string) (string, bool) { return "value", true },
			MCPFiles: []MCPFile{{"m.json", source}},
		})
		if file == nil && !diag.HasErrors(ds) {
			t.Fatal("there is no file and no error either")
		}
		for _, d := range ds {
			if d.Pos.IsZero() || d.End.Line > 0 && d.End.Before(d.Pos) {
				t.Fatalf("from %v to %v: %v", d.Pos, d.End, d)
			}
			if diag.SeverityOf(d.Code) != d.Severity {
				t.Fatalf("severity of %v", d)
			}
		}
	})
}

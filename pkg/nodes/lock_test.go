package nodes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// lockedTools are the tools of the server s of these tests. "unlocked" is not
// locked.
const lockedTools = `[
	{"name": "list", "inputSchema": {"type": "object", "required": ["path"], "additionalProperties": false, "properties": {"path": {"type": "string"}}},
	 "outputSchema": {"type": "object", "required": ["files"], "properties": {
		"files": {"type": "array", "items": {"$ref": "#/$defs/file"}}, "total": {"type": "integer"}},
		"$defs": {"file": {"type": "object", "additionalProperties": false, "properties": {
			"name": {"type": "string"}, "size": {"type": "integer"}, "parts": {"type": "array", "items": {"type": "object", "properties": {"offset": {"type": "integer"}}}}}}}},
	 "annotations": {"readOnlyHint": true, "openWorldHint": false}},
	{"name": "free", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": true}},
	{"name": "either", "outputSchema": {"type": "object", "oneOf": [{"properties": {"name": {"type": "string"}}}, {"properties": {"label": {"type": "string"}}}]}},
	{"name": "bare", "inputSchema": {"type": "object"}},
	{"name": "set", "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}},
	{"name": "task", "execution": {"taskSupport": "required"}},
	{"name": "maybe", "execution": {"taskSupport": "optional"}},
	{"name": "unlocked"}
]`

func locked(t testing.TB) *lock.File {
	t.Helper()
	v, err := value.Parse(lockedTools)
	if err != nil {
		t.Fatal(err)
	}
	return (*lock.File)(nil).With(lock.NewServer("s", "", v.Elems(), []string{"list", "free", "either", "bare", "set", "task", "maybe"}))
}

// build compiles a file with the server s, whose first tool is named t and has these
// nodes between its entry and its exit.
func build(t testing.TB, settings, list, more string) *graph.Set {
	t.Helper()
	source := fmt.Sprintf(`version: "1.0"
server: {name: x, version: "1"}
mcpServers: {s: {command: none}}
tools:
  - name: t
    description: T
    inputSchema: {type: object, properties: {dir: {type: string}}}
%s
    nodes:
      - {id: entry, type: entry, next: a}
%s
      - {id: exit, type: exit}
%s`, settings, list, more)
	file, ds := config.Parse("x.yaml", []byte(source), config.Options{Getenv: func(string) (string, bool) { return "", false }})
	if file == nil {
		t.Fatal(ds, source)
	}
	set, found := graph.Build(file, nodes.All)
	for _, d := range append(ds, found...) {
		if d.Severity == diag.Error {
			t.Fatalf("%v\n%s", d, source)
		}
	}
	return set
}

const listNode = `      - {id: a, type: mcp, server: s, tool: list, args: {path: x}, next: b}
`

// TestSchemasAreFollowedIntoExpressions checks what is reported of expressions, as
// the names that are read in vain.
func TestSchemasAreFollowedIntoExpressions(t *testing.T) {
	transform := func(expr string) string {
		return listNode + "      - {id: b, type: transform, transform: {expr: '" + expr + "'}, next: exit}"
	}
	mapOver := func(items, expr string) string {
		return listNode + "      - {id: b, type: map, items: {expr: '" + items + "'}, nodes: [{id: c, type: transform, transform: {expr: '" + expr + "'}}], next: exit}"
	}
	for _, test := range []struct{ what, nodes, want string }{
		{"right", transform("$.a.files.size + $.a.total"), ""},
		{"misspelt in an open object", transform("$.a.fiels"), `the output of node "a" has no property "fiels": did you mean "files"?`},
		{"unknown in an open object", transform("$.a.owner"), ""},
		{"unknown in a closed object", transform("$.a.files.owner"), `"files" in the output of node "a" has no property "owner": its properties are "name", "parts" and "size"`},
		{"deep", transform("$.a.files.parts.ofset"), `"parts" in the output of node "a" has no property "ofset": did you mean "offset"?`},
		{"below a scalar", transform("$.a.total.value"), `"total" in the output of node "a" is an integer, which has no property "value"`},
		{"the error of a node without catch", transform("$.a.error"), ""},
		{"with a filter", transform("$.a.files[size > 1].nmae"), `"files" in the output of node "a" has no property "nmae": did you mean "name"?`},
		{"previous", transform("$previousNode().fiels"), `the output of the node before has no property "fiels": did you mean "files"?`},
		{"previous, right", transform("$previousNode().files[0].name"), ""},
		{"an earlier one", transform("$previousNode(2).fiels"), ""},
		{"through a transform", transform(`{"all": $.a.files, "n": $.a.total}`) + "\n" +
			"      - {id: c, type: transform, transform: {expr: $.b.all.nmae}, next: exit}", `"all" in the output of node "b" has no property "nmae": did you mean "name"?`},
		{"through a plain path", transform("$.a.files") + "\n" +
			"      - {id: c, type: transform, transform: {expr: $.b.nmae}, next: exit}", `the output of node "b" has no property "nmae": did you mean "name"?`},
		{"item", mapOver("$.a.files", "$item.nmae"), `$item has no property "nmae": did you mean "name"?`},
		{"item, right", mapOver("$.a.files", "$item.name & $index"), ""},
		{"item of a filtered list", mapOver("$.a.files[size > 1]", "$item.nmae"), `$item has no property "nmae": did you mean "name"?`},
		{"item of something computed", mapOver("$reverse($.a.files)", "$item.nmae"), ""},
		{"index", mapOver("$.a.files", "$index.x"), `$index is a number, which has no property "x"`},
		{"previous in a body", mapOver("$.a.files", "$previousNode().nmae"), `the output of the node before has no property "nmae": did you mean "name"?`},
		{"rebound", mapOver("$.a.files", "($item := {}; $item.nmae)"), ""},
		{"nested", listNode + `      - {id: b, type: map, items: {expr: $.a.files}, next: exit, nodes: [{id: c, type: map, items: {expr: $item.parts}, as: part, nodes: [{id: d, type: transform, transform: {expr: "$part.ofset + $item.sise"}}]}]}`,
			`$part has no property "ofset": did you mean "offset"?; $item has no property "sise": did you mean "size"?`},
		{"results of a map", listNode + `      - {id: b, type: map, items: {expr: "[1]"}, nodes: [{id: c, type: transform, transform: {expr: '{"size": 1}'}}], next: d}
      - {id: d, type: transform, transform: {expr: "$.b.sise + $.b[0].size"}, next: exit}`, `the output of node "b" has no property "sise": did you mean "size"?`},
		{"results that may be errors", listNode + `      - {id: b, type: map, tolerateFailures: 1, items: {expr: "[1]"}, nodes: [{id: c, type: transform, transform: {expr: '{"size": 1}'}}], next: d}
      - {id: d, type: transform, transform: {expr: $.b.error}, next: exit}`, ""},
		{"rule", listNode + `      - {id: b, type: switch, conditions: [{rule: {"==": [{var: a.fiels}, 1]}, next: exit}, {rule: {"==": [{var: a.files.0.nmae}, 1]}, next: exit}], next: exit}`,
			`the output of node "a" has no property "fiels": did you mean "files"?; "files" in the output of node "a" has no property "nmae": did you mean "name"?`},
		{"rule with a variable", listNode + `      - {id: b, type: map, items: {expr: $.a.files}, next: exit, nodes: [{id: c, type: switch, conditions: [{rule: {"==": [{var: $item.nmae}, 1]}, next: d}], next: d}, {id: d, type: transform, transform: {expr: "1"}}]}`,
			`$item has no property "nmae": did you mean "name"?`},
		{"arguments", listNode + `      - {id: b, type: mcp, server: s, tool: bare, args: {x: {expr: $.a.fiels}}, next: exit}`, `the output of node "a" has no property "fiels": did you mean "files"?`},
		{"more allowed", `      - {id: a, type: mcp, server: s, tool: free, next: b}
      - {id: b, type: transform, transform: {expr: $.a.nmae}, next: exit}`, ""},
		{"alternatives", `      - {id: a, type: mcp, server: s, tool: either, next: b}
      - {id: b, type: transform, transform: {expr: $.a.name & $.a.label}, next: exit}`, ""},
		{"no schema", `      - {id: a, type: mcp, server: s, tool: bare, next: b}
      - {id: b, type: transform, transform: {expr: $.a.anything.at.all}, next: exit}`, ""},
		{"text", `      - {id: a, type: mcp, server: s, tool: bare, output: text, next: b}
      - {id: b, type: transform, transform: {expr: $.a.files}, next: exit}`, `the output of node "a" is a string, which has no property "files"`},
		{"result", `      - {id: a, type: mcp, server: s, tool: list, args: {path: x}, output: result, next: b}
      - {id: b, type: transform, transform: {expr: $.a.structuredContent.fiels & $.a.content.text & $.a._meta.x}, next: exit}`,
			`"structuredContent" in the output of node "a" has no property "fiels": did you mean "files"?`},
		{"blocks", `      - {id: a, type: mcp, server: s, tool: list, args: {path: x}, output: content, next: b}
      - {id: b, type: transform, transform: {expr: $.a.fiels}, next: exit}`, ""},
		{"handled failure", `      - {id: a, type: mcp, server: s, tool: list, args: {path: x}, catch: {next: b}, next: b}
      - {id: b, type: transform, transform: {expr: $.a.error.name & $previousNode().error.name & $.a.fiels}, next: exit}`,
			`the output of node "a" has no property "fiels": did you mean "files"?`},
		{"two ways", listNode + `      - {id: b, type: switch, conditions: [{rule: {var: a.total}, next: c}], next: d}
      - {id: c, type: transform, transform: {expr: '{"one": 1}'}, next: e}
      - {id: d, type: transform, transform: {expr: '{"two": 1}'}, next: e}
      - {id: e, type: transform, transform: {expr: $previousNode().one & $previousNode().two & $previousNode().three}, next: exit}`,
			`the output of the node before has no property "three": its properties are "one" and "two"`},
		{"a loop of two", `      - {id: a, type: transform, transform: {expr: '{"x": $.b.x}'}, next: b}
      - {id: b, type: transform, transform: {expr: '{"x": $.a.x}'}, next: c}
      - {id: c, type: switch, conditions: [{rule: {var: b.x.y}, next: a}], next: exit}`, ""},
		{"called tool", `      - {id: a, type: call, tool: u, next: b}
      - {id: b, type: transform, transform: {expr: $.a.fiels}, next: exit}`, `the output of node "a" has no property "fiels": did you mean "files"?`},
	} {
		t.Run(test.what, func(t *testing.T) {
			more := `  - name: u
    description: U
    private: true
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: x}
      - {id: x, type: mcp, server: s, tool: list, args: {path: x}, next: exit}
      - {id: exit, type: exit}
`
			var got []string
			for _, d := range build(t, "", test.nodes, more).CheckLock(locked(t)) {
				line := strings.Replace(d.Message, ": reading it returns nothing", "", 1)
				if d.Hint != "" {
					line += ": " + d.Hint
				}
				got = append(got, line)
			}
			if line := strings.Join(got, "; "); line != test.want {
				t.Errorf("got  %s\nwant %s", line, test.want)
			}
		})
	}
}

// TestCallsAreComparedWithTheLock checks the codes of calls.
func TestCallsAreComparedWithTheLock(t *testing.T) {
	for call, want := range map[string]string{
		"tool: list, args: {path: x}":               "",
		"tool: list, args: {path: {expr: $.entry}}": "",
		"tool: lst, args: {path: x}":                `unknown-server-tool server "s" has no tool "lst": did you mean "list"?`,
		"tool: maybe":                               "",
		"tool: task":                                "",
		"tool: unlocked":                            "not-locked tool \"unlocked\" of server \"s\" is not in the lock file: calls of it fail: lock it with `mcpgraph lock`",
		"tool: list":                                `bad-arguments tool "list" of server "s" requires the argument "path": `,
		"tool: list, args: {path: 1}":               `bad-arguments the argument "path" of tool "list" of server "s": expected a string, found the number 1: `,
		"tool: list, args: {path: x, pth: y}":       `bad-arguments tool "list" of server "s" does not take the argument "pth": did you mean "path"?`,
	} {
		set := build(t, "", "      - {id: a, type: mcp, server: s, "+call+", next: exit}", "")
		var got []string
		for _, d := range set.CheckLock(locked(t)) {
			got = append(got, fmt.Sprintf("%s %s: %s", d.Code, d.Message, d.Hint))
		}
		if line := strings.Join(got, "; "); line != want {
			t.Errorf("%s:\ngot  %s\nwant %s", call, line, want)
		}
	}
	set := build(t, "", "      - {id: a, type: mcp, server: s, tool: list, args: {path: x}, next: exit}", "")
	if ds := set.CheckLock(&lock.File{}); len(ds) != 1 || !strings.Contains(ds[0].Message, `server "s" is not in the lock file`) {
		t.Errorf("an empty lock: %v", ds)
	}
}

// TestResultsAreComparedWithTheOutputSchema checks what is known of the exit's
// input.
func TestResultsAreComparedWithTheOutputSchema(t *testing.T) {
	const schema = "    outputSchema: {type: object, required: [count, file], properties: {count: {}, file: {type: object, required: [name]}}}"
	for expr, want := range map[string]string{
		`{"count": 1, "file": $.a.files[0]}`:          "",
		`{"count": 1, "file": $.a}`:                   "",
		`{"count": 1, "file": $.a.total}`:             `"file" in the result is a number`,
		`{"count": 1, "file": {"nmae": $.a.total}}`:   "", // reported without the lock file
		`{"cuont": $.a.total, "file": {"name": "x"}}`: "",
		`$merge([$.a, {"count": 1}])`:                 "",
	} {
		set := build(t, schema, listNode+"      - {id: b, type: transform, transform: {expr: '"+expr+"'}, next: exit}", "")
		ds := set.CheckLock(locked(t))
		if want == "" && len(ds) > 0 || want != "" && (len(ds) != 1 || !strings.Contains(ds[0].Message, want) || ds[0].Code != diag.CodeImpossible) {
			t.Errorf("%s: got %v, want %q", expr, ds, want)
		}
	}
}

// TestComputedAnnotations shows the hints of tools over tools.
func TestComputedAnnotations(t *testing.T) {
	read, free := "{id: %s, type: mcp, server: s, tool: list, args: {path: x}, next: %s}", "{id: %s, type: mcp, server: s, tool: bare, next: %s}"
	set := "{id: %s, type: mcp, server: s, tool: set, next: %s}"
	one := func(node string) string { return "      - " + fmt.Sprintf(node, "a", "exit") }
	for _, test := range []struct{ what, settings, nodes, want string }{
		{"nothing called", "", `      - {id: a, type: transform, transform: {expr: "1"}, next: exit}`,
			`{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`},
		{"a read", "", one(read), `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`},
		{"a tool that says nothing", "", one(free), `{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`},
		{"a tool that is not locked", "", one(strings.Replace(free, "bare", "unlocked", 1)), `{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`},
		{"an idempotent call", "", one(set), `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`},
		{"two of them", "", "      - " + fmt.Sprintf(set, "a", "b") + "\n      - " + fmt.Sprintf(set, "b", "exit"),
			`{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}`},
		{"in a map", "", `      - {id: a, type: map, items: [1], next: exit, nodes: [{id: b, type: mcp, server: s, tool: set}]}`,
			`{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}`},
		{"in a loop", "", "      - " + fmt.Sprintf(set, "a", "b") + "\n      - {id: b, type: switch, conditions: [{rule: {var: a}, next: a}], next: exit}",
			`{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}`},
		{"a read and a branch", "", "      - " + fmt.Sprintf(read, "a", "b") + `
      - {id: b, type: parallel, branches: {x: [{id: c, type: mcp, server: s, tool: set}], y: [{id: d, type: mcp, server: s, tool: bare}]}, next: exit}`,
			`{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`},
		{"after a failure", "", `      - {id: a, type: mcp, server: s, tool: list, args: {path: x}, catch: {next: b}, next: exit}
      - ` + fmt.Sprintf(free, "b", "exit"), `{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`},
		{"after any failure", "    catch: {next: b}", `      - {id: a, type: mcp, server: s, tool: list, args: {path: x}, next: exit}
      - ` + fmt.Sprintf(free, "b", "exit"), `{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`},
		{"through a tool", "", `      - {id: a, type: call, tool: u, next: exit}`, `{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`},
		{"a tool that calls itself", "", "      - " + fmt.Sprintf(set, "a", "b") + "\n      - {id: b, type: call, tool: t, next: exit}",
			`{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}`},
		{"stated", "    annotations: {title: T, destructiveHint: true}", one(read),
			`{"title":"T","destructiveHint":true,"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}`},
	} {
		more := `  - name: u
    description: U
    private: true
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: x}
      - {id: x, type: mcp, server: s, tool: bare, next: exit}
      - {id: exit, type: exit}
`
		g := build(t, test.settings, test.nodes, more).Graphs[0]
		if got := g.ComputeAnnotations(locked(t)).JSON(); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.what, got, test.want)
		}
	}
}

// TestAnnotationsThatPromiseTooMuch checks the warnings, and their absence.
func TestAnnotationsThatPromiseTooMuch(t *testing.T) {
	for _, test := range []struct{ annotations, tool, want string }{
		{"{readOnlyHint: true}", "set", `readOnlyHint is true, but node "a" calls tool "set" of server "s", which may change something`},
		{"{readOnlyHint: true}", "bare", `which may change something: it has no readOnlyHint, and is not read-only by default`},
		{"{destructiveHint: false}", "bare", `destructiveHint is false, but`},
		{"{openWorldHint: false}", "bare", `openWorldHint is false, but`},
		{"{readOnlyHint: false, destructiveHint: true, openWorldHint: true}", "set", ""},
		{"{destructiveHint: false, openWorldHint: false, idempotentHint: true}", "set", ""},
	} {
		set := build(t, "    annotations: "+test.annotations, "      - {id: a, type: mcp, server: s, tool: "+test.tool+", next: exit}", "")
		ds := set.CheckLock(locked(t))
		if test.want == "" && len(ds) > 0 || test.want != "" && (len(ds) != 1 || !strings.Contains(ds[0].Message, test.want) || ds[0].Pos.Line != 8) {
			t.Errorf("%+v: got %v", test, ds)
		}
	}
}

// TestAlternativesOfAlternativesAreBounded follows a property through forty maps with
// two ends each, which are 2^40 ways.
func TestAlternativesOfAlternativesAreBounded(t *testing.T) {
	list := strings.Replace(listNode, "next: b", "next: m0", 1)
	for i := range 40 {
		from := "$.a"
		if i > 0 {
			from = fmt.Sprintf("$.m%d", i-1)
		}
		list += fmt.Sprintf("      - {id: m%[1]d, type: map, items: [1], next: m%[2]d, nodes: [{id: s%[1]d, type: switch, conditions: [{rule: {var: $item}, next: x%[1]d}], next: y%[1]d}, "+
			"{id: x%[1]d, type: transform, transform: {expr: '{\"files\": %[3]s.files}'}}, {id: y%[1]d, type: transform, transform: {expr: '{\"files\": %[3]s.files}'}}]}\n", i, i+1, from)
	}
	list += "      - {id: m40, type: transform, transform: {expr: $.m1.files.nmae & $.m39.files.nmae}, next: exit}\n"
	ds := build(t, "", list, "").CheckLock(locked(t))
	if len(ds) != 1 || !strings.Contains(ds[0].Message, `"nmae"`) {
		t.Errorf("got %v", ds)
	}
}

// TestNoFalseWarningsWithALock checks the files of the repository with locks in
// which each tool returns anything: nothing but calls may be reported.
func TestNoFalseWarningsWithALock(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../testdata/ok/*.yaml", "../../examples/*.yaml", "../../testdata/run/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, _ := config.Parse(path, source, config.Options{Getenv: func(string) (string, bool) { return "x", true }})
		if file == nil {
			continue
		}
		set, ds := graph.Build(file, nodes.All)
		if diag.HasErrors(ds) {
			continue
		}
		f := &lock.File{}
		for server, tools := range set.Called() {
			var list []value.Value
			for _, name := range tools {
				list = append(list, value.FromEntries([]value.Entry{{Key: "name", Value: value.FromString(name)}}))
			}
			f = f.With(lock.NewServer(server, "", list, tools))
		}
		for _, d := range set.CheckLock(f) {
			if d.Code != diag.CodeAnnotation {
				t.Errorf("%s", d.Error())
			}
		}
	}
}

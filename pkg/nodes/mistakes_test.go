package nodes_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

const flawless = `version: "1.0"
server: {name: test, version: "1.0.0"}
mcpServers:
  files: {command: npx, args: ["-y", "server-files", "/data"]}
tools:
  - name: count
    description: Counts the files of a folder
    inputSchema: {type: object, properties: {folder: {type: string}, names: {type: array}}}
    nodes:
      - {id: entry, type: entry, next: list}
      - {id: list, type: mcp, server: files, tool: list_directory, args: {path: {expr: $.entry.folder}}, next: pick}
      - {id: pick, type: switch, conditions: [{rule: {"==": [{var: $.list.n}, 1]}, next: total}], next: exit}
      - {id: total, type: transform, transform: {expr: $.list.files}, next: exit}
      - {id: exit, type: exit}
`

// TestEachCommonMistakeNamesARemedy makes mistakes that people make, one in each file,
// and looks for what to do about it in the first hint.
func TestEachCommonMistakeNamesARemedy(t *testing.T) {
	if ds := check(t, "flawless.yaml", []byte(flawless)); len(ds) > 0 {
		t.Fatal(ds)
	}
	transform, args, rule := "transform: {expr: $.list.files}", "args: {path: {expr: $.entry.folder}}", `{"==": [{var: $.list.n}, 1]}`
	schema := "inputSchema: {type: object, properties: {folder: {type: string}, names: {type: array}}}"
	mistakes := []struct{ old, by, remedy string }{
		{transform, "transform: $.list.files", "write transform: {expr: '$.list.files'}"},
		{transform, "transform: {expr: {n: 1}}", "put quotes around the expression"},
		{transform, "expr: $.list.files", "write transform: {expr: …}"},
		{transform, "transform: {exp: $.list.files}", `did you mean "expr"?`},
		{transform, "transform: {expr: $list.files}", "did you mean $.list?"},
		{transform, "transform: {expr: $.lst.files}", `did you mean "list"?`},
		{transform, "transform: {expr: steps.list.files}", "$.list.files"},
		{transform, "transform: {expr: len($.list.files)}", "write $count($.list.files)"},
		{transform, "transform: {expr: $.entry.names.length}", "write $count($.entry.names)"},
		{transform, "transform: {expr: '$.list.a || 1'}", "x || y is written x ?: y"},
		{transform, "transform: {expr: '$.list.a == 1'}", "x == y is written x = y"},
		{transform, "transform: {expr: '\"a\" + $.list.b'}", "strings are joined with &"},
		{transform, "transform: {expr: '{{ $.list.files }}'}", "without {{ and }}"},
		{"next: pick}", "retry: 3, next: pick}", "write retry: {maxAttempts: 3}"},
		{"next: pick}", "catch: exit, next: pick}", "write catch: {next: exit}"},
		{"next: pick}", "timeout: 3, next: pick}", "timeoutMs"},
		{"next: pick}", "next: [pick]}", "write next: pick"},
		{"next: pick}", "next: pikc}", `did you mean "pick"?`},
		{rule, "{expr: $.list.n = 1}", "{var: …}"},
		{rule, "$.list.n == 1", "{\"==\": [{var: $.list.n}, 1]}"},
		{rule, `{"=": [{var: $.list.n}, 1]}`, `did you mean`},
		{"conditions: [{rule: " + rule + ", next: total}]", "conditions: {rule: " + rule + ", next: total}", "write conditions: [{…}]"},
		{"type: transform", "type: tranform", `did you mean "transform"?`},
		{"type: transform", "type: set", "expected"},
		{"type: mcp", "type: tool", "expected"},
		{"server: files", "server: fiels", `did you mean "files"?`},
		{"server: files", "server: github", "add it under mcpServers"},
		{args, "args: [{expr: $.entry.folder}]", "write args: {NAME: VALUE}"},
		{args, "arguments: {path: {expr: $.entry.folder}}", `did you mean "args"?`},
		{args, `args: {path: "{{entry.folder}}"}`, "{expr: '$.entry.folder'}"},
		{args, `args: {path: $.entry.folder}`, `{expr: "$.entry.folder"}`},
		{args, `args: {path: "/data/${entry.folder}"}`, `{expr: '"/data/" & $.entry.folder'}`},
		{schema, "", "write inputSchema: {type: object}"},
		{schema, "inputSchema: {folder: string}", "write inputSchema: {type: object, properties: {folder: …}}"},
		{schema, "inputSchema: {type: object, folder: {type: string}}", "write properties: {folder: …}"},
		{schema, "inputSchema: {type: object, properties: {folder: string}}", "write {type: string}"},
		{schema, "inputSchema: {type: string}", "write type: object"},
		{schema, "inputSchema: {type: strng}", `did you mean "string"?`},
		{"command: npx, args: [\"-y\", \"server-files\", \"/data\"]", "command: npx -y server-files /data", `write command: npx, args: ["-y", "server-files", "/data"]`},
		{"command: npx, args: [\"-y\", \"server-files\", \"/data\"]", "command: npx, args: -y server-files", "[\"-y\", \"server-files\"]"},
		{"version: \"1.0\"\n", "version: \"2\"\n", "1.0"},
		{"version: \"1.0\"\n", "", "version"},
		{"server: {name: test, version: \"1.0.0\"}\n", "", "write server: {name: NAME, version: \"1.0.0\"}"},
		{"tools:\n  - name: count\n", "tools:\n    name: count\n", "write tools as a list"},
		{"    description: Counts the files of a folder\n", "", "add a description"},
		{"      - {id: exit, type: exit}\n", "", "type: exit"},
		{"{id: entry, type: entry, next: list}", "{id: entry, type: entry}", "write next: NODE"},
		{"{id: entry, type: entry, next: list}", "{id: entry, type: input, next: list}", "entry"},
		{"- {id: total,", "- {id: list,", ""},
		{"  - name: count\n", "\t- name: count\n", "spaces"},
	}
	if len(mistakes) < 40 {
		t.Errorf("there are %d mistakes", len(mistakes))
	}
	for _, m := range mistakes {
		if strings.Count(flawless, m.old) != 1 {
			t.Fatalf("%q is there %d times", m.old, strings.Count(flawless, m.old))
		}
		ds := check(t, "mistake.yaml", []byte(strings.Replace(flawless, m.old, m.by, 1)))
		found := false
		for _, d := range ds {
			found = found || strings.Contains(d.Hint, m.remedy) && (m.remedy != "" || d.Code == diag.CodeDuplicateNode)
		}
		if !found {
			t.Errorf("%s\n does not name %q:", m.by, m.remedy)
			for _, d := range ds {
				t.Logf("   %s | %s", d.Error(), d.Hint)
			}
		}
	}
}

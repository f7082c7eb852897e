package language

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

const house = `version: "1.0"
server: {name: test, version: "1"}
mcpServers:
  files: {command: x}
  web: {url: "http://x"}
tools:
  - name: count
    description: Counts
    inputSchema:
      type: object
      properties:
        directory: {type: string, description: The folder}
        depth: {type: object, properties: {max: {type: number}}}
      required: [directory]
    nodes:
      - {id: entry, type: entry, next: list}
      - id: list
        type: mcp
        server: files
        tool: list_directory
        args: {path: {expr: $.entry.directory}}
        next: each
      - id: each
        type: map
        items: {expr: $.list.content}
        nodes:
          - id: inner
            type: transform
            transform: {expr: $item}
        next: exit
      - {id: exit, type: exit}
  - name: other
    description: Other
    inputSchema: {type: object}
    nodes:
      - {id: begin, type: entry, next: end}
      - {id: end, type: exit}
`

// edited returns the text above with a line replaced by others, and where the
// cursor in them is.
func edited(t testing.TB, line, by string) (text string, offset int) {
	t.Helper()
	if strings.Count(house, line) != 1 {
		t.Fatalf("%q is there %d times", line, strings.Count(house, line))
	}
	return cut(t, strings.Replace(house, line, by, 1))
}

func labels(items []Item) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.Label)
	}
	return out
}

func TestComplete(t *testing.T) {
	last := New("test.yaml", house, Options{}, nil)
	for _, c := range []struct {
		name, line, by string
		want           string // the first labels
		not            string // a label that must be absent
	}{
		{"top level", "tools:\n", "‸\ntools:\n", "executionLimits nodes", "version"},
		{"key of the server", "server: {name: test, version: \"1\"}", "server: {name: test, ‸", "version title", "name"},
		{"key of a server entry", "  files: {command: x}", "  files:\n    command: x\n    ti‸", "args env inheritEnv", "command"},
		{"key of a node", "        next: each\n", "        ne‸\n", "output next timeoutMs retry catch", "server"},
		{"key in an empty line", "        next: each\n", "        ‸\n", "output next timeoutMs retry catch", "tool"},
		{"key in front of its value", "        tool: list_directory\n", "        to‸: list_directory\n", "", "server"},
		{"type", "        type: mcp\n", "        type: ‸\n", "entry mcp transform switch map parallel call wait ask fail exit", ""},
		{"edge", "        next: each\n", "        next: ‸\n", "list each exit", "entry"},
		{"edge, half typed", "        next: each\n", "        next: ea‸\n", "list each exit", "begin"},
		{"edge in a flow map", "{id: entry, type: entry, next: list}", "{id: entry, type: entry, next: ‸", "list each exit", "inner"},
		{"key of a flow node", "{id: entry, type: entry, next: list}", "{id: entry, type: transform, ‸", "transform next", "id"},
		{"key of a flow node, half typed", "{id: entry, type: entry, next: list}", "{id: entry, type: transform, tr‸}", "transform next", "id"},
		{"value of a flow node", "{id: entry, type: entry, next: list}", "{id: entry, type: \"‸", "entry mcp", ""},
		{"edge in a body", "            transform: {expr: $item}", "            transform: {expr: $item}\n            next: ‸", "inner", "list"},
		{"catch", "        next: each\n", "        next: each\n        catch: {errors: [tim‸], next: exit}\n", "all toolError connect", ""},
		{"target of catch", "        next: each\n", "        next: each\n        catch:\n          - next: ‸\n", "list each exit", ""},
		{"server", "        server: files\n", "        server: ‸\n", "files web", ""},
		{"condition", "            type: transform\n            transform: {expr: $item}", "            type: switch\n            conditions:\n              - ‸", "rule next target", ""},
		{"operator", "            type: transform\n            transform: {expr: $item}", "            type: switch\n            conditions:\n              - rule: {‸", "var == !=", ""},
		{"schema keyword", "    inputSchema: {type: object}\n", "    inputSchema:\n      type: object\n      ‸\n", "description properties required", "type"},
		{"schema type", "        directory: {type: string, description: The folder}", "        directory: {type: ‸, description: The folder}", "string number integer", ""},
		{"required property", "      required: [directory]", "      required: [‸]", "directory depth", ""},
		{"boolean", "    description: Other\n", "    description: Other\n    private: ‸\n", "true false", ""},
		{"list of nodes", "      - {id: exit, type: exit}\n", "      - {id: exit, type: exit}\n      ‸\n", "", "id"},
		{"first key of a node", "      - {id: exit, type: exit}\n", "      - {id: exit, type: exit}\n      - ‸\n", "id type", "next"},
		{"nodes in an expression", "args: {path: {expr: $.entry.directory}}", "args: {path: {expr: $.‸}}", "entry list each", "inner"},
		{"half a node in an expression", "args: {path: {expr: $.entry.directory}}", "args: {path: {expr: $.en‸}}", "entry list each", "begin"},
		{"nodes from a body", "transform: {expr: $item}", "transform: {expr: $.‸}", "inner entry list each", "begin"},
		{"argument of the tool", "args: {path: {expr: $.entry.directory}}", "args: {path: {expr: $.entry.‸}}", "directory depth", ""},
		{"argument below another", "args: {path: {expr: $.entry.directory}}", "args: {path: {expr: $.entry.depth.‸}}", "max", ""},
		{"in quotes", "args: {path: {expr: $.entry.directory}}", "args: {path: {expr: \"$.entry.‸\"}}", "directory depth", ""},
		{"in open quotes", "args: {path: {expr: $.entry.directory}}", "args: {path: {expr: \"$.entry.‸", "directory depth", ""},
		{"in a block scalar", "            transform: {expr: $item}", "            transform:\n              expr: |\n                {\n                  \"a\": $count($.entry.‸\n                }", "directory depth", ""},
		{"without a dollar", "items: {expr: $.list.content}", "items: {expr: entry.‸}", "directory depth", ""},
		{"in a filter", "items: {expr: $.list.content}", "items: {expr: '$.list.content[$.‸'}", "", "entry"},
		{"root in a filter", "items: {expr: $.list.content}", "items: {expr: '$.list.content[$$.‸'}", "entry list each", ""},
		{"function", "items: {expr: $.list.content}", "items: {expr: $co‸}", "$abs $append", "entry"},
		{"function of another language", "items: {expr: $.list.content}", "items: {expr: $le‸}", "$len $length", ""},
		{"function of another language without a dollar", "items: {expr: $.list.content}", "items: {expr: le‸}", "list len", ""},
		{"method of another language", "items: {expr: $.list.content}", "items: {expr: $.list.content.toUp‸}", "$.list.content.toUpperCase", ""},
		{"variable of the body", "transform: {expr: $item}", "transform: {expr: $it‸}", "$item $index $abs", ""},
		{"id in a call", "items: {expr: $.list.content}", "items: {expr: '$nodeExecution(\"‸'}", "entry list each", ""},
		{"text in an expression", "items: {expr: $.list.content}", "items: {expr: '\"$.‸'}", "", "entry"},
		{"var of a rule", "            type: transform\n            transform: {expr: $item}", "            type: switch\n            conditions:\n              - rule: {\">\": [{var: $.‸}, 1]}", "inner entry list each", ""},
		{"callee", "        type: mcp\n        server: files\n        tool: list_directory\n", "        type: call\n        tool: ‸\n", "count other", ""},
		{"argument of a callee", "        type: mcp\n        server: files\n        tool: list_directory\n        args: {path: {expr: $.entry.directory}}\n", "        type: call\n        tool: count\n        args: {‸}\n", "expr directory depth", ""},
		{"upstream tool", "      - {id: begin, type: entry, next: end}\n", "      - {id: begin, type: entry, next: end}\n      - id: again\n        type: mcp\n        server: files\n        tool: ‸\n", "list_directory", ""},
		{"in a comment", "tools:\n", "# ‸\ntools:\n", "", "version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, offset := edited(t, c.line, c.by)
			doc := New("test.yaml", text, Options{}, last)
			items, _ := Complete(doc, offset)
			got := labels(items)
			if want := strings.Fields(c.want); len(got) < len(want) || !containsAll(got, want) || c.want == "" && c.not != "" && len(got) > 60 {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if slices.Contains(got, c.not) {
				t.Errorf("%q is among %q", c.not, got)
			}
			for _, i := range items {
				if i.From > offset || i.To < offset || i.To > len(text) {
					t.Errorf("%q replaces %d to %d, not around %d", i.Label, i.From, i.To, offset)
				}
			}
		})
	}
}

func containsAll(got, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(got, w) })
}

// TestCompletedTextHasNoProblem accepts an item and expects the text as it was.
func TestCompletedTextHasNoProblem(t *testing.T) {
	for _, c := range []struct{ line, by, label string }{
		{"        next: each\n", "        ne‸: each\n", "next"},
		{"        next: each\n", "        next:‸\n", "each"},
		{"        next: each\n", "        next: \"ea‸\"\n", "each"},
		{"{expr: $.entry.directory}", "{expr: $.en‸.directory}", "entry"},
		{"{expr: $.entry.directory}", "{expr: $.entry.‸}", "directory"},
		{"{expr: $.entry.directory}", "{expr: \"$.entry.dir‸\"}", "directory"},
		{"{expr: $.list.content}", "{expr: $‸}", "$.list"},
		{"{expr: $.list.content}", "{expr: ‸}", "list"},
		{"        type: mcp\n", "        ty‸: mcp\n", "type"},
	} {
		text, offset := edited(t, c.line, c.by)
		items, _ := Complete(New("test.yaml", text, Options{}, nil), offset)
		i := slices.IndexFunc(items, func(i Item) bool { return i.Label == c.label })
		if i < 0 {
			t.Errorf("%q: no %q among %q", c.by, c.label, labels(items))
			continue
		}
		done := text[:items[i].From] + items[i].Insert + text[items[i].To:]
		doc := New("test.yaml", strings.Replace(done, "next:  each", "next: each", 1), Options{}, nil)
		if doc.model == nil || fmt.Sprint(doc.Diagnostics) != fmt.Sprint(New("test.yaml", house, Options{}, nil).Diagnostics) {
			t.Errorf("%q: %v", c.by, doc.Diagnostics)
		}
	}
}

func TestNamesOfOtherLanguagesAreReplaced(t *testing.T) {
	for written, want := range map[string]string{
		"$le‸": "items: {expr: $count}", "le‸": "items: {expr: $count}", "$.list.content.len‸": "items: {expr: $count($.list.content)}",
		"1 + $.list.content.toUp‸": "items: {expr: 1 + $uppercase($.list.content)}",
	} {
		text, offset := edited(t, "items: {expr: $.list.content}", "items: {expr: "+written+"}")
		items, _ := Complete(New("test.yaml", text, Options{}, New("test.yaml", house, Options{}, nil)), offset)
		var got []string
		for _, i := range items {
			if strings.Contains(i.Doc, "Write ") {
				got = append(got, text[:i.From]+i.Insert+text[i.To:])
			}
		}
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s: %d items, none of which makes %s", written, len(got), want)
		}
	}
}

func TestEveryFunctionIsDescribed(t *testing.T) {
	var names []string
	for _, f := range functions {
		names = append(names, f.name)
		if !strings.HasPrefix(f.call, "$"+f.name+"(") {
			t.Errorf("%s is called as %s", f.name, f.call)
		}
	}
	if slices.Sort(names); !slices.Equal(names, expr.FunctionNames()) {
		t.Errorf("described %q\nthere are %q", names, expr.FunctionNames())
	}
}

func TestEveryFailureIsOne(t *testing.T) {
	for _, f := range failureNames() {
		if !graph.IsFailure(f[0]) {
			t.Errorf("%s is no failure", f[0])
		}
	}
}

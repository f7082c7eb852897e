package graphedit_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const nested = `# The files of a folder
version: "1.0"
server: {name: files, version: 1.0.0} # ours

mcpServers:
  files: {command: files-server}

tools:
  # Counts.
  - name: count
    description: 'Counts files'
    inputSchema: {type: object, properties: {dir: {type: string}}}
    x-owner: me
    nodes:
      - {id: entry, type: entry, next: list} # begins
      # asks the server
      - id: list
        type: mcp
        server: files
        tool: list
        args:
          path: {expr: $.entry.dir} # the folder
        catch: {next: give}
        next: how

      - id: how
        type: switch
        conditions:
          - rule: {">": [{var: list.n}, 3]}
            next: many
        next: exit
      - {id: many, type: transform, transform: {expr: '{"n": $.list.n, "first": $nodeExecution("list", 0)}'}, next: exit}
      - {id: give, type: fail, message: none}
      - id: exit
        type: exit
  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}
`

const flat = `version: "1.0"
server: {name: files, version: 1.0.0}
mcpServers:
  files: {command: files-server}
tools:
  - name: count
    description: Counts
    inputSchema: {type: object}
  - name: size
    description: Sizes
    inputSchema: {type: object}
nodes:
  - {id: count_in, type: entry, tool: count, next: list}
  - id: list # both
    type: mcp
    server: files
    tool: list
    next: count_out
  - {id: count_out, type: exit, tool: count}
  - {id: size_in, type: entry, tool: size, next: sum}
  - {id: sum, type: transform, transform: {expr: "1"}, next: size_out}
  - {id: size_out, type: exit, tool: size}
`

func apply(t *testing.T, source, ops string, opts graphedit.Options) (*graphedit.Result, error) {
	t.Helper()
	v, err := value.Parse(ops)
	if err != nil {
		t.Fatal(err)
	}
	list, err := graphedit.ParseOperations(v)
	if err != nil {
		return nil, err
	}
	return graphedit.Apply("tools.yaml", []byte(source), list, opts)
}

// changed returns the lines of a diff that are added or removed.
func changed(diff string) string {
	var lines []string
	for line := range strings.Lines(diff) {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}

// problems returns the errors of a configuration.
func problems(text []byte) []string {
	file, ds := config.Parse("tools.yaml", text, config.Options{AllowUnset: true})
	if file != nil {
		_, more := graph.Build(file, nodes.All)
		ds = append(ds, more...)
	}
	var found []string
	for _, d := range ds {
		if d.Severity == diag.Error {
			found = append(found, d.Error())
		}
	}
	return found
}

var edits = []struct {
	name, source, tool, ops string
	want                    string // the changed lines
	invalid                 bool   // the result has errors
}{
	{"into an edge", nested, "count", `[{"op":"addNode","node":{"id":"trim","type":"transform","transform":{"expr":"$.list"}},"after":"list"}]`, `
+        next: trim
+
+      - id: trim
+        type: transform
+        transform: {expr: $.list}`, false},
	{"into an edge of a condition", nested, "count", `[{"op":"addNode","node":{"id":"w","type":"wait","ms":5},"after":"how","via":"conditions[0]"}]`, `
-            next: many
+            next: w
+      - {id: w, type: wait, ms: 5, next: many}`, false},
	{"in flow style", nested, "report", `[{"op":"addNode","node":{"id":"w","type":"wait","ms":5},"after":"entry"}]`, `
-  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}
+  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: w}, {id: w, type: wait, ms: 5, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}`, false},
	{"into a body", nested, "report", `[{"op":"addNode","node":{"id":"w","type":"wait","ms":5},"body":"report#each[]"}]`, `
-  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}
+  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}, next: w}, {id: w, type: wait, ms: 5}], next: exit}, {id: exit, type: exit}]}`, false},
	{"behind a node in a body", nested, "", `[{"op":"addNode","node":{"id":"w","type":"wait","ms":5},"after":"report#each[].c"}]`, `
-  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}
+  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}, next: w}, {id: w, type: wait, ms: 5}], next: exit}, {id: exit, type: exit}]}`, false},
	{"a node alone", nested, "count", `[{"op":"addNode","node":{"id":"w","type":"fail"}},{"op":"connect","from":"how","via":"conditions[1]","to":"w","rule":{"==":[{"var":"list.n"},0]}}]`, `
+          - rule:
+              '==':
+                - {var: list.n}
+                - 0
+            next: w
+      - {id: w, type: fail}`, false},
	{"several lines", nested, "count", `[{"op":"set","path":"/tools/count/nodes/many/transform/expr","value":"(\n  $a := 1;\n  $a\n)"}]`, `
-      - {id: many, type: transform, transform: {expr: '{"n": $.list.n, "first": $nodeExecution("list", 0)}'}, next: exit}
+      - id: many
+        type: transform
+        transform:
+          expr: |-
+            (
+              $a := 1;
+              $a
+            )
+        next: exit`, false},
	{"remove and reconnect", nested, "count", `[{"op":"removeNode","node":"how","reconnect":true},{"op":"removeNode","node":"many"}]`, `
-        next: how
-
-      - id: how
-        type: switch
-        conditions:
-          - rule: {">": [{var: list.n}, 3]}
-            next: many
-      - {id: many, type: transform, transform: {expr: '{"n": $.list.n, "first": $nodeExecution("list", 0)}'}, next: exit}
+`, false},
	{"remove alone", nested, "count", `[{"op":"removeNode","node":"many"}]`, `
-      - {id: many, type: transform, transform: {expr: '{"n": $.list.n, "first": $nodeExecution("list", 0)}'}, next: exit}`, true},
	{"rename a node", nested, "count", `[{"op":"renameNode","node":"list","to":"files"}]`, `
-      - {id: entry, type: entry, next: list} # begins
+      - {id: entry, type: entry, next: files} # begins
-      - id: list
+      - id: files
-          - rule: {">": [{var: list.n}, 3]}
+          - rule: {">": [{var: files.n}, 3]}
-      - {id: many, type: transform, transform: {expr: '{"n": $.list.n, "first": $nodeExecution("list", 0)}'}, next: exit}
+      - {id: many, type: transform, transform: {expr: '{"n": $.files.n, "first": $nodeExecution("files", 0)}'}, next: exit}`, false},
	{"catch", nested, "count", `[{"op":"connect","from":"list","via":"catch[1]","to":"exit"},{"op":"connect","from":"","via":"catch[0]","to":"give"},{"op":"connect","from":"how","via":"catch","to":"give"}]`, `
+    catch: {next: give}
-        catch: {next: give}
+        catch: [{next: give}, {next: exit}]
+        catch: {next: give}`, false},
	{"disconnect", nested, "count", `[{"op":"disconnect","from":"list","via":"catch[0]"},{"op":"disconnect","from":"list","via":"next"}]`, `
-        catch: {next: give}
-        next: how`, true},
	{"set in a tool", nested, "count", `[{"op":"set","path":"/tools/0/nodes/1/args","value":{"path":{"expr":"$.entry.dir"},"limit":5}},{"op":"remove","path":"/tools/0/x-owner"},{"op":"move","path":"/tools/0/nodes/exit","to":1}]`, `
-    x-owner: me
+      - id: exit
+        type: exit
+          limit: 5
-      - id: exit
-        type: exit`, false},
	{"a list", nested, "count", `[{"op":"set","path":"/tools/count/inputSchema/required","value":["dir"]},{"op":"insert","path":"/tools/count/inputSchema/required/0","value":"x"},{"op":"set","path":"/tools/count/inputSchema/required/-","value":"y"}]`, `
-    inputSchema: {type: object, properties: {dir: {type: string}}}
+    inputSchema: {type: object, properties: {dir: {type: string}}, required: [x, dir, y]}`, true},
	{"add a tool", nested, "", `[{"op":"addTool","tool":{"name":"hi","description":"Hi","inputSchema":{"type":"object"},"nodes":[{"id":"entry","type":"entry","next":"exit"},{"id":"exit","type":"exit"}]}}]`, `
+  - name: hi
+    description: Hi
+    inputSchema: {type: object}
+    nodes:
+      - {id: entry, type: entry, next: exit}
+      - {id: exit, type: exit}`, false},
	{"update a tool", nested, "", `[{"op":"updateTool","name":"count","tool":{"name":"count","description":"Counts all files","x-owner":"me","inputSchema":{"type":"object","properties":{"dir":{"type":"string"}}},"nodes":[
		{"id":"entry","type":"entry","next":"list"},
		{"id":"list","type":"mcp","server":"files","tool":"list","args":{"path":{"expr":"$.entry.dir"}},"timeoutMs":50,"next":"exit"},
		{"id":"exit","type":"exit"}]}}]`, `
-    description: 'Counts files'
+    description: 'Counts all files'
-        catch: {next: give}
-        next: how
-
-      - id: how
-        type: switch
-        conditions:
-          - rule: {">": [{var: list.n}, 3]}
-            next: many
+        timeoutMs: 50
-      - {id: many, type: transform, transform: {expr: '{"n": $.list.n, "first": $nodeExecution("list", 0)}'}, next: exit}
-      - {id: give, type: fail, message: none}
+`, false},
	{"rename a tool", nested, "", `[{"op":"renameTool","name":"count","to":"total"}]`, `
-  - name: count
+  - name: total
-  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}
+  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: total, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}`, false},
	{"delete a tool", nested, "", `[{"op":"deleteTool","name":"report"}]`, `
-  - {name: report, description: Reports, inputSchema: {type: object}, nodes: [{id: entry, type: entry, next: each}, {id: each, type: map, items: {expr: '[1]'}, nodes: [{id: c, type: call, tool: count, args: {dir: {expr: $string($item)}}}], next: exit}, {id: exit, type: exit}]}`, false},
	{"flat: into an edge", flat, "count", `[{"op":"addNode","node":{"id":"w","type":"wait","ms":5},"after":"list"}]`, `
-    next: count_out
+    next: w
+  - {id: w, type: wait, ms: 5, next: count_out}`, false},
	{"flat: rename a node", flat, "count", `[{"op":"renameNode","node":"list","to":"files"}]`, `
-  - {id: count_in, type: entry, tool: count, next: list}
-  - id: list # both
+  - {id: count_in, type: entry, tool: count, next: files}
+  - id: files # both`, false},
	{"flat: rename a tool", flat, "count", `[{"op":"renameTool","name":"count","to":"n"}]`, `
-  - name: count
+  - name: n
-  - {id: count_in, type: entry, tool: count, next: list}
+  - {id: count_in, type: entry, tool: n, next: list}
-  - {id: count_out, type: exit, tool: count}
+  - {id: count_out, type: exit, tool: n}`, false},
	{"flat: delete a tool", flat, "", `[{"op":"deleteTool","name":"size"}]`, `
-  - name: size
-    description: Sizes
-    inputSchema: {type: object}
-  - {id: size_in, type: entry, tool: size, next: sum}
-  - {id: sum, type: transform, transform: {expr: "1"}, next: size_out}
-  - {id: size_out, type: exit, tool: size}`, false},
	{"flat: add a tool", flat, "", `[{"op":"addTool","tool":{"name":"hi","description":"Hi","inputSchema":{"type":"object"},"nodes":[{"id":"hi_in","type":"entry","next":"hi_out"},{"id":"hi_out","type":"exit"}]}}]`, `
+  - name: hi
+    description: Hi
+    inputSchema: {type: object}
+  - {id: hi_in, type: entry, tool: hi, next: hi_out}
+  - {id: hi_out, type: exit, tool: hi}`, false},
	{"flat: update a tool", flat, "", `[{"op":"updateTool","name":"size","tool":{"name":"sizes","description":"Sizes","inputSchema":{"type":"object"},"nodes":[{"id":"size_in","type":"entry","next":"add"},{"id":"add","type":"transform","transform":{"expr":"2"},"next":"size_out"},{"id":"size_out","type":"exit"}]}}]`, `
-  - name: size
+  - name: sizes
-  - {id: size_in, type: entry, tool: size, next: sum}
-  - {id: sum, type: transform, transform: {expr: "1"}, next: size_out}
-  - {id: size_out, type: exit, tool: size}
+  - {id: size_in, type: entry, tool: sizes, next: add}
+  - {id: size_out, type: exit, tool: sizes}
+  - id: add
+    type: transform
+    transform: {expr: '2'}
+    next: size_out`, false},
}

func TestApply(t *testing.T) {
	for _, source := range []string{nested, flat} {
		if found := problems([]byte(source)); found != nil {
			t.Fatal(found)
		}
	}
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			r, err := apply(t, c.source, c.ops, graphedit.Options{Tool: c.tool})
			if err != nil {
				t.Fatal(err)
			}
			if got := changed(r.Diff); got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("the changed lines are\n%s\nwant%s", got, c.want)
			}
			if found := problems(r.Text); (found != nil) != c.invalid {
				t.Errorf("the result has the errors %q", found)
			}
			if r.Revision != edit.RevisionOf(r.Text) {
				t.Error("the revision is not that of the text")
			}
			// The same with the line breaks and the mark of Windows.
			windows := func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") }
			again, err := apply(t, windows(c.source), c.ops, graphedit.Options{Tool: c.tool})
			if err != nil {
				t.Fatal(err)
			}
			if string(again.Text) != windows(string(r.Text)) {
				t.Errorf("with CRLF and a byte order mark the result is another one:\n%q", again.Text)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ source, tool, ops, want string }{
		{nested, "count", `[{"op":"addnode"}]`, `operation 1 (addnode): there is no such op; did you mean "addNode"?`},
		{nested, "count", `[{"op":"connect","from":"how","to":"exit"}]`, `operation 1 (connect): missing "via"`},
		{nested, "count", `[{"op":"connect","from":"how","to":"exit","vja":"x"}]`, `unexpected member "vja"`},
		{nested, "count", `[{"op":"move","path":"/x","to":-1}]`, `"to" must be an index, found -1`},
		{nested, "count", `[{"op":"removeNode","node":"lst"}]`, `there is no node "lst"; did you mean "list"?`},
		{nested, "cuont", `[{"op":"removeNode","node":"list"}]`, `there is no tool "cuont"; did you mean "count"?`},
		{nested, "count", `[{"op":"addNode","node":{"id":"list","type":"wait"}}]`, `there is a node "list" already`},
		{nested, "count", `[{"op":"addNode","node":{"type":"wait"}}]`, `the node has no "id"`},
		{nested, "count", `[{"op":"addNode","node":{"id":"w","type":"wait"},"after":"exit"}]`, `node "exit" has no edge "next"; it can have none`},
		{nested, "count", `[{"op":"addNode","node":{"id":"w","type":"wait"},"after":"how","via":"conditions[1]"}]`, `node "how" has no edge "conditions[1]" to add the node into`},
		{nested, "count", `[{"op":"connect","from":"how","via":"conditions[7]","to":"exit"}]`, `conditions has 1`},
		{nested, "count", `[{"op":"connect","from":"how","via":"conditions[1]","to":"exit"}]`, `a new condition needs a rule`},
		{nested, "count", `[{"op":"connect","from":"list","via":"declined","to":"exit"}]`, `it can have next, catch[N]`},
		{nested, "count", `[{"op":"connect","from":"list","via":"next","to":"nowhere"}]`, `there is no node "nowhere"`},
		{nested, "count", `[{"op":"disconnect","from":"many","via":"catch[0]"}]`, `node "many" has no edge "catch[0]"`},
		{nested, "count", `[{"op":"removeNode","node":"give","reconnect":true}]`, `no next to which node "list" could lead`},
		{nested, "count", `[{"op":"renameNode","node":"list","to":"give"}]`, `node "give" already exists`},
		{nested, "count", `[{"op":"renameNode","node":"list","to":"a b"}]`, `cannot be an id`},
		{nested, "count", `[{"op":"set","path":"/tools/count/nodes/lost/next","value":1}]`, `there is no "lost" in /tools/0/nodes`},
		{nested, "count", `[{"op":"set","path":"x","value":1}]`, `is no path`},
		{nested, "count", `[{"op":"remove","path":"/tools/0/inputSchemas"}]`, `did you mean "inputSchema"?`},
		{nested, "count", `[{"op":"addTool","tool":{"name":"count"}}]`, `there is a tool "count" already`},
		{nested, "count", `[{"op":"renameTool","name":"count","to":"report"}]`, `there is a tool "report" already`},
		{nested, "count", `[{"op":"deleteTool","name":"counts"}]`, `did you mean "count"?`},
		{flat, "", `[{"op":"addTool","tool":{"name":"x","nodes":[{"id":"list","type":"entry"}]}}]`, `other tools have nodes with these ids, and all tools of this file share one list: "list"`},
		{"a: [", "", `[{"op":"set","path":"/a","value":1}]`, "tools.yaml:2:1"},
	} {
		_, err := apply(t, c.source, c.ops, graphedit.Options{Tool: c.tool})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.ops, err, c.want)
		}
	}
}

func TestRelativePaths(t *testing.T) {
	for _, c := range []struct{ source, tool, ops, want string }{
		{nested, "count", `[{"op":"set","path":"/description","value":"All"}]`, "-    description: 'Counts files'\n+    description: 'All'"},
		{nested, "count", `[{"op":"set","path":"/nodes/list/tool","value":"ls"}]`, "-        tool: list\n+        tool: ls"},
		{flat, "size", `[{"op":"set","path":"/nodes/1/transform/expr","value":"2"}]`,
			"-  - {id: sum, type: transform, transform: {expr: \"1\"}, next: size_out}\n+  - {id: sum, type: transform, transform: {expr: \"2\"}, next: size_out}"},
		{flat, "size", `[{"op":"remove","path":"/nodes/sum/next"}]`,
			"-  - {id: sum, type: transform, transform: {expr: \"1\"}, next: size_out}\n+  - {id: sum, type: transform, transform: {expr: \"1\"}}"},
	} {
		r, err := apply(t, c.source, c.ops, graphedit.Options{Tool: c.tool, Relative: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := changed(r.Diff); got != c.want {
			t.Errorf("%s: the changed lines are\n%s\nwant\n%s", c.ops, got, c.want)
		}
	}
	if _, err := apply(t, flat, `[{"op":"set","path":"/nodes/list/next","value":"x"}]`, graphedit.Options{Tool: "size", Relative: true}); err == nil {
		t.Error("a node of another tool could be edited")
	}
}

func TestTool(t *testing.T) {
	doc, err := edit.Parse("tools.yaml", []byte(flat))
	if err != nil {
		t.Fatal(err)
	}
	v, err := graphedit.Tool(doc.Value(), "size")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"size","description":"Sizes","inputSchema":{"type":"object"},"nodes":[{"id":"size_in","type":"entry","tool":"size","next":"sum"},{"id":"sum","type":"transform","transform":{"expr":"1"},"next":"size_out"},{"id":"size_out","type":"exit","tool":"size"}]}`
	if v.JSON() != want {
		t.Errorf("got %s", v.JSON())
	}
}

// TestUpdateWithItself shows that a tool replaced by itself changes nothing.
func TestUpdateWithItself(t *testing.T) {
	for _, source := range []string{nested, flat} {
		doc, err := edit.Parse("tools.yaml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range doc.Value().Get("tools").Elems() {
			whole, err := graphedit.Tool(doc.Value(), tool.Get("name").Str())
			if err != nil {
				t.Fatal(err)
			}
			op := graphedit.NewOperation("updateTool", value.Entry{Key: "name", Value: tool.Get("name")}, value.Entry{Key: "tool", Value: whole})
			r, err := graphedit.Apply("tools.yaml", []byte(source), []graphedit.Operation{op}, graphedit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Diff != "" {
				t.Errorf("an update with itself changes\n%s", r.Diff)
			}
		}
	}
}

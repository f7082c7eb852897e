package graphedit_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const offers = `version: "1.0"
server: {name: t, version: 1.0.0}
tools:
  - name: diff
    description: Changes
    inputSchema: {type: object}
nodes:
  - {id: entry, type: entry, tool: diff, next: exit}
  - {id: exit, type: exit, tool: diff}
prompts:
  - name: review # asks
    arguments: [{name: n, complete: {expr: $call("diff")}}]
    messages:
      - {role: user, text: {expr: '$call("diff", {"n": n}).text & "diff" & $call( "diff" ).text'}}
resources:
  - name: today
    uri: report://today
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: call, tool: diff, next: exit}
      - {id: exit, type: exit}
`

func TestEditsOfPromptsAndResources(t *testing.T) {
	for _, c := range []struct{ tool, ops, want string }{
		{"", `[{"op":"renameTool","name":"diff","to":"changes"}]`, strings.Join([]string{
			"-  - name: diff", "+  - name: changes",
			"-  - {id: entry, type: entry, tool: diff, next: exit}", "-  - {id: exit, type: exit, tool: diff}",
			"+  - {id: entry, type: entry, tool: changes, next: exit}", "+  - {id: exit, type: exit, tool: changes}",
			`-    arguments: [{name: n, complete: {expr: $call("diff")}}]`, `+    arguments: [{name: n, complete: {expr: '$call("changes")'}}]`,
			`-      - {role: user, text: {expr: '$call("diff", {"n": n}).text & "diff" & $call( "diff" ).text'}}`,
			`+      - {role: user, text: {expr: '$call("changes", {"n": n}).text & "diff" & $call( "changes" ).text'}}`,
			"-      - {id: call, type: call, tool: diff, next: exit}", "+      - {id: call, type: call, tool: changes, next: exit}",
		}, "\n")},
		{"", `[{"op":"renameTool","name":"prompts/review","to":"prompts/look"}]`, "-  - name: review # asks\n+  - name: look # asks"},
		{"", `[{"op":"renameTool","name":"prompts/review","to":"look"}]`, `error: operation 1 (renameTool): the new name of prompt "review" must begin with "prompts/" too`},
		{"", `[{"op":"addTool","tool":{"name":"prompts/review","messages":[]}}]`, `error: operation 1 (addTool): there is a prompt "review" already`},
		{"", `[{"op":"addTool","tool":{"name":"prompts/","messages":[]}}]`, `error: operation 1 (addTool): the name "prompts/" ends after the slash`},
		{"", `[{"op":"addTool","tool":{"name":"prompts/hi","messages":[{"role":"user","text":"hi"}]}}]`, "+  - name: hi\n+    messages:\n+      - {role: user, text: hi}"},
		{"", `[{"op":"deleteTool","name":"resources/today"}]`, "-resources:\n-  - name: today\n-    uri: report://today\n-    nodes:\n-      - {id: entry, type: entry, next: call}\n" +
			"-      - {id: call, type: call, tool: diff, next: exit}\n-      - {id: exit, type: exit}\n+resources: []"},
		{"", `[{"op":"deleteTool","name":"resources/tody"}]`, `error: operation 1 (deleteTool): there is no resource "resources/tody"; did you mean "resources/today"?`},
		{"resources/today", `[{"op":"addNode","after":"entry","node":{"id":"mid","type":"transform","transform":{"expr":"1"}}}]`,
			"-      - {id: entry, type: entry, next: call}\n+      - {id: entry, type: entry, next: mid}\n+      - {id: mid, type: transform, transform: {expr: '1'}, next: call}"},
		{"resources/today", `[{"op":"renameNode","node":"call","to":"ask"}]`,
			"-      - {id: entry, type: entry, next: call}\n-      - {id: call, type: call, tool: diff, next: exit}\n+      - {id: entry, type: entry, next: ask}\n+      - {id: ask, type: call, tool: diff, next: exit}"},
		{"resources/today", `[{"op":"removeNode","node":"resources/today#call","reconnect":true}]`,
			"-      - {id: entry, type: entry, next: call}\n-      - {id: call, type: call, tool: diff, next: exit}\n+      - {id: entry, type: entry, next: exit}"},
		{"prompts/review", `[{"op":"renameNode","node":"messages","to":"m"}]`,
			`error: operation 1 (renameNode): prompt "review" has messages and no nodes; edit the messages by their paths, such as /messages/0/text`},
		{"prompts/review", `[{"op":"set","path":"/messages/0/role","value":"assistant"}]`,
			`-      - {role: user, text: {expr: '$call("diff", {"n": n}).text & "diff" & $call( "diff" ).text'}}` + "\n" +
				`+      - {role: assistant, text: {expr: '$call("diff", {"n": n}).text & "diff" & $call( "diff" ).text'}}`},
	} {
		r, err := apply(t, offers, c.ops, graphedit.Options{Tool: c.tool, Relative: c.tool != ""})
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = strings.TrimSpace(changed(r.Diff))
		}
		if sorted(got) != sorted(c.want) {
			t.Errorf("%s\ngot\n%s\nwant\n%s", c.ops, got, c.want)
		}
	}
}

// sorted returns lines without regard to which of them a diff has first.
func sorted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	added, removed := []string{}, []string{}
	for _, l := range lines {
		if strings.HasPrefix(l, "+") {
			added = append(added, strings.TrimSpace(l))
		} else {
			removed = append(removed, strings.TrimSpace(l))
		}
	}
	return strings.Join(append(removed, added...), "\n")
}

func TestDefinitionOfAPrompt(t *testing.T) {
	root, err := value.Parse(`{"prompts":[{"name":"review","messages":[]}],"nodes":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := graphedit.Tool(root, "prompts/review")
	if err != nil || got.JSON() != `{"name":"review","messages":[]}` {
		t.Errorf("got %s, %v", got.JSON(), err)
	}
}

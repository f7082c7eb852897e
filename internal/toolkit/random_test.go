package toolkit_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// commentedFile returns tools with comments everywhere, of about size bytes.
func commentedFile(size int) string {
	var b strings.Builder
	b.WriteString("# before the tools\ntools: # all of them\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `
  # tool %[1]d: what it is for
  - name: tool_%[1]d   # its name
    description: "Adds %[1]d" # quoted
    # about the schema
    inputSchema: {type: object, properties: {n: {type: integer}}} # flow
    x-owner: 'team %[1]d' # not ours
    nodes:
      # begins
      - {id: entry, type: entry, next: add} # flow
      - id: add # computes
        type: transform
        # the expression
        transform:
          expr: | # of two lines
            /* adds */
            {"sum": ($.entry.n ?? 0) + %[1]d}
        next: how # goes on

      # chooses
      - id: how
        type: switch
        conditions: # one
          - rule: {">": [{var: $.add.sum}, 100]} # many
            next: big
        next: exit # else
      - {id: big, type: transform, transform: {expr: '{"sum": $.add.sum, "big": true}'}, next: exit} # big
      - id: exit # ends
        type: exit
    # end of tool %[1]d
`, i)
	}
	return b.String() + "# the end\n"
}

// TestRandomEditsChangeNothingElse makes random edits of a long file and compares all
// that they are not about, byte for byte. `make soak` makes 200 of them.
func TestRandomEditsChangeNothingElse(t *testing.T) {
	edits := testscale.Of(10, 25)
	if os.Getenv("MCPGRAPH_SOAK") != "" {
		edits = 200
	}
	d := open(t, commentedFile(testscale.Of(60_000, 300_000)))
	random := rand.New(rand.NewPCG(1, 2))
	tools := d.call("listGraphTools", `{}`).Get("items").Len()
	for i := range edits {
		before := d.text()
		name := fmt.Sprintf("tool_%d", random.IntN(tools))
		from := strings.Index(before, "- name: "+name+" ")
		to := strings.Index(before, "# end of "+strings.Replace(name, "_", " ", 1)+"\n")
		kept := comments(before[from:to])
		args, lost := randomEdit(d, random, name, i)
		answer := d.call(args[0], args[1])
		if !answer.Get("success").Bool() {
			t.Fatalf("edit %d, %s %s: %s", i, args[0], args[1], answer.JSON())
		}
		after := d.text()
		if !strings.HasPrefix(after, before[:from]) || !strings.HasSuffix(after, before[to:]) {
			t.Fatalf("edit %d, %s %s, changed something else", i, args[0], args[1])
		}
		found := comments(after[from : len(after)-len(before)+to])
		for _, c := range kept {
			if !slices.Contains(found, c) && !slices.Contains(lost, c) {
				t.Errorf("edit %d, %s %s, lost the comment %q", i, args[0], args[1], c)
			}
		}
		if i%10 == 0 {
			d.has(d.call("runGraphTool", `{"toolName":"`+name+`","arguments":{"n":1},"detail":"summary"}`), `"result":`)
		}
	}
	d.has(d.call("validateGraphTool", `{}`), `{"valid":true,"diagnostics":[]}`)
}

func comments(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if _, c, ok := strings.Cut(line, "#"); ok {
			all = append(all, strings.TrimSpace(c))
		}
	}
	return all
}

// randomEdit returns a tool of the toolkit, its arguments, and the comments that the
// edit may take along.
func randomEdit(d *desk, random *rand.Rand, name string, i int) (args [2]string, lost []string) {
	patch := func(ops string) [2]string {
		return [2]string{"patchGraphTool", fmt.Sprintf(`{"toolName":%q,"operations":[%s]}`, name, ops)}
	}
	definition := d.call("getGraphTool", `{"toolName":"`+name+`"}`)
	nodes := definition.Get("nodes").Elems()
	switch random.IntN(7) {
	case 0:
		return patch(fmt.Sprintf(`{"op":"set","path":"/description","value":"New %d: it's \"so\": no comment"}`, i)), nil
	case 1:
		return patch(fmt.Sprintf(`{"op":"addNode","after":"add","node":{"id":"n%d","type":"transform","transform":{"expr":"(\n  $n := 1;\n  $previousNode()\n)"}}}`, i)), nil
	case 2: // the node after the entry has another id from now on
		id := nodes[1].Get("id").Str()
		if id != "add" {
			return patch(`{"op":"set","path":"/title","value":"T"}`), nil
		}
		return patch(fmt.Sprintf(`{"op":"renameNode","node":"add","to":"add%d"},{"op":"renameNode","node":"add%d","to":"add"}`, i, i)), nil
	case 3:
		return patch(`{"op":"set","path":"/nodes/add/transform/expr","value":"{\"sum\": 1}"}`), []string{"of two lines"}
	case 4:
		for _, n := range nodes {
			if id := n.Get("id").Str(); strings.HasPrefix(id, "n") {
				return patch(fmt.Sprintf(`{"op":"removeNode","node":%q,"reconnect":true}`, id)), nil
			}
		}
		return patch(`{"op":"set","path":"/nodes/how/conditions/0/rule","value":{">":[{"var":"$.add.sum"},5]}}`), nil
	case 5:
		return patch(fmt.Sprintf(`{"op":"set","path":"/x-owner","value":"team %d"},{"op":"set","path":"/annotations","value":{"readOnlyHint":true}}`, i)), nil
	}
	changed := value.NewBuilder(definition.Len())
	for _, e := range definition.Entries() {
		changed.Set(e.Key, e.Value)
	}
	changed.Set("description", value.FromString(fmt.Sprintf("Updated %d", i)))
	return [2]string{"updateGraphTool", fmt.Sprintf(`{"toolName":%q,"tool":%s}`, name, changed.Value().JSON())}, nil
}

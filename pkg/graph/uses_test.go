package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

// usesSource names the node "list" in every way that a file can.
const usesSource = `version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    catch: {next: list}
    nodes:
      - {id: entry, type: entry, next: "list"}
      - {id: list, type: transform, transform: {expr: "1"}, next: each}
      - id: each
        type: map
        items: {expr: "$.list.names"}
        nodes:
          - {id: inner, type: transform, transform: {expr: "$.` + "`list`" + ` & $string($nodeExecution(\"list\", 0))"}}
        next: pick
      - id: pick
        type: switch
        conditions:
          - {rule: {">": [{var: list.0.x}, 1]}, next: list}
        next: exit
      - {id: exit, type: exit}
`

func TestUnitsListEveryPlaceThatNamesANode(t *testing.T) {
	set, _ := graph.Build(parse(t, usesSource), nodes.All)
	units := set.Units()
	if len(units) != 1 || len(units[0].Graphs) != 1 {
		t.Fatalf("%d units", len(units))
	}
	unit := &units[0]
	list := unit.Node("list")
	var got []string
	for _, u := range unit.Uses {
		if u.Node == list {
			reader := u.Reader.ID
			got = append(got, fmt.Sprintf("%d %s %s", u.Kind, reader, u.Text.String()[u.From:u.To]))
		}
	}
	want := []string{
		"1 entry list", "0 list list", "2 each list", "2 inner `list`", `3 inner "list"`, "1 pick list", "2 pick list", "1  list",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if inner := unit.Node("inner"); !slices.Equal(inner.Graph.Variables(), []string{"item", "index"}) {
		t.Errorf("variables %q", inner.Graph.Variables())
	}
	if unit.Node("nowhere") != nil {
		t.Error("a node that does not exist is found")
	}
}

func TestUnitOfTheFlatLayoutIsTheFile(t *testing.T) {
	source := `version: "1.0"
server: {name: test, version: "1"}
tools:
  - {name: a, description: A, inputSchema: {type: object}}
  - {name: b, description: B, inputSchema: {type: object}}
nodes:
  - {id: in_a, type: entry, tool: a, next: out_a}
  - {id: out_a, type: exit, tool: a}
  - {id: in_b, type: entry, tool: b, next: out_b}
  - {id: out_b, type: exit, tool: b}
`
	set, _ := graph.Build(parse(t, source), nodes.All)
	units := set.Units()
	if len(units) != 1 || len(units[0].Graphs) != 2 || len(units[0].Nodes) != 4 {
		t.Fatalf("units: %+v", units)
	}
}

func TestFieldsOfAKind(t *testing.T) {
	var names []string
	for _, f := range graph.FieldsOf(nodes.MCP, false, false) {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "server tool args output next timeoutMs retry catch" {
		t.Error(got)
	}
	for _, f := range graph.FieldsOf(nodes.Entry, true, false) {
		if f.Name == "tool" {
			return
		}
	}
	t.Error("an entry of the flat layout has no tool")
}

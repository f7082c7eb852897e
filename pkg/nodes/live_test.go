package nodes_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Of arguments that hold expressions only that is reported which no value of
// them can mend.
func TestKnownArgumentsAreComparedWithTheToolsSchema(t *testing.T) {
	const hole = "{expr: $.entry.x}"
	tests := []struct{ name, schema, args, want string }{
		{"fits", `{"required":["a"],"properties":{"a":{"type":"string"}}}`, `{a: x}`, ""},
		{"unknown value", `{"required":["a"],"properties":{"a":{"type":"string","minLength":3}}}`, `{a: ` + hole + `}`, ""},
		{"all unknown", `{"required":["a"],"additionalProperties":false}`, hole, ""},
		{"missing", `{"required":["a"]}`, `{b: ` + hole + `}`, `requires the argument "a"`},
		{"missing below", `{"properties":{"o":{"required":["a"]}}}`, `{o: {b: ` + hole + `}}`, `requires the argument "o.a"`},
		{"no such argument", `{"properties":{"a":{}},"additionalProperties":false}`, `{aa: ` + hole + `}`, `does not take the argument "aa"`},
		{"wrong type", `{"properties":{"a":{"type":"integer"}}}`, `{a: x, b: ` + hole + `}`, `the argument "a" of tool "t" of server "s": expected an integer, found the string "x"`},
		{"object around an expression", `{"properties":{"a":{"type":"array"}}}`, `{a: {b: ` + hole + `}}`, `expected an array, found an object`},
		{"list around an expression", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{a: [` + hole + `, 5]}`, `the argument "a.1"`},
		{"enum around an expression", `{"properties":{"a":{"enum":[{"b":1}]}}}`, `{a: {b: ` + hole + `}}`, ""},
		{"alternative that an expression may choose", `{"anyOf":[{"required":["k"],"properties":{"x":{"const":1}}},{"properties":{"x":{"const":2}}}]}`, `{x: ` + hole + `}`, ""},
		{"alternatives without expressions", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`, `{a: true, b: ` + hole + `}`, "expected a string or a number"},
		{"condition that an expression decides", `{"if":{"properties":{"x":{"type":"null"}}},"then":{"required":["k"]}}`, `{x: ` + hole + `}`, ""},
		{"condition without expressions", `{"if":{"properties":{"x":{"const":1}},"required":["x"]},"then":{"required":["k"]}}`, `{x: 1}`, `requires the argument "k"`},
		{"reference", `{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}`, `{a: x, b: ` + hole + `}`, "expected a number"},
		{"not", `{"not":{"required":["x"]}}`, `{x: ` + hole + `}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := `
version: "1.0"
server: {name: t, version: "1"}
mcpServers: {s: {command: x}}
tools:
  - name: one
    description: Calls
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: call}
      - {id: call, type: mcp, server: s, tool: t, args: ` + tt.args + `, next: exit}
      - {id: exit, type: exit}
`
			file, ds := config.Parse("f.yaml", []byte(source), config.Options{})
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			set, ds := graph.Build(file, nodes.All)
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			tools, err := value.Parse(`[{"name":"t","inputSchema":` + tt.schema + `}]`)
			if err != nil {
				t.Fatal(err)
			}
			found := set.CheckTools("s", tools.Elems(), false)
			if tt.want == "" {
				if len(found) > 0 {
					t.Errorf("found %v", found)
				}
				return
			}
			if len(found) != 1 || !strings.Contains(found[0].Message, tt.want) || found[0].Pos.Line != 11 {
				t.Errorf("found %v, want %s", found, tt.want)
			}
			if other := set.CheckTools("other", tools.Elems(), false); other != nil {
				t.Errorf("of a server that is not in the file: %v", other)
			}
		})
	}
}

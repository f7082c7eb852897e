package graph_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestToolInputsNameArgumentsWithoutTheirValues compares arguments with schemas of upstream
// tools.
func TestToolInputsNameArgumentsWithoutTheirValues(t *testing.T) {
	const schema = `{"type":"object","required":["path","mode"],"additionalProperties":false,"properties":{
		"path":{"type":"string","pattern":"^/"},"mode":{"enum":["r","w"],"default":"r"},
		"in":{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"default":1}}},
		"list":{"type":"array","items":{"type":"boolean"}}}}`
	for _, test := range []struct{ args, wrong, at string }{
		{`{"path":"/x"}`, "", ""},
		{`{}`, `missing required property "path"`, "path"},
		{`{"path":"secret-1"}`, "path: expected a string that matches ^/, found a string", "path"},
		{`{"path":"/x","in":{"a":1}}`, "", ""},
		{`{"path":"/x","in":{"a":"secret-1"}}`, "in.a: expected an integer, found a string", "in.a"},
		{`{"path":"/x","list":[true,98765,null]}`, "list[1]: expected a boolean, found a number; list[2]: expected a boolean, found null", "list[1],list[2]"},
		{`{"path":"/x","mode":true}`, `mode: expected "r" or "w", found a boolean`, "mode"},
		{`{"path":"/x","more":1}`, `unexpected property "more"`, "more"},
	} {
		in, err := graph.NewToolInput(parsed(t, schema))
		if err != nil {
			t.Fatal(err)
		}
		wrong, at, err := in.Check(context.Background(), parsed(t, test.args))
		if err != nil || wrong != test.wrong || !slices.Equal(at, strings.FieldsFunc(test.at, func(r rune) bool { return r == ',' })) {
			t.Errorf("%s: %q at %q, %v", test.args, wrong, at, err)
		}
	}
	deep := strings.Repeat(`{"properties":{"a":`, 300) + `{}` + strings.Repeat(`}}`, 300)
	if _, err := graph.NewToolInput(parsed(t, deep)); err == nil {
		t.Error("a schema of any depth is used")
	}
}

// TestToolInputsTakeWhatServersFillIn leaves out required properties that have a default,
// wherever they are.
func TestToolInputsTakeWhatServersFillIn(t *testing.T) {
	const filled = `{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"default":1}}}`
	for _, test := range []struct {
		schema, args string
		fits         bool
	}{
		{`{"properties":{"x":{"items":` + filled + `}}}`, `{"x":[{"a":1}]}`, true},
		{`{"properties":{"x":{"items":` + filled + `}}}`, `{"x":[{"b":1}]}`, false},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"x":{"items":[` + filled + `]}}}`, `{"x":[{"a":1}]}`, true},
		{`{"properties":{"x":{"prefixItems":[` + filled + `]}}}`, `{"x":[{"a":1}]}`, true},
		{`{"properties":{"x":{"anyOf":[` + filled + `,{"type":"null"}]}}}`, `{"x":{"a":1}}`, true},
		{`{"allOf":[` + filled + `]}`, `{"a":1}`, true},
		{`{"additionalProperties":` + filled + `}`, `{"x":{"a":1}}`, true},
		{`{"patternProperties":{"^x":` + filled + `}}`, `{"x":{"a":1}}`, true},
		{`{"not":` + filled + `}`, `{"a":1}`, true},
		{`{"oneOf":[{"required":["a"]},` + filled + `]}`, `{"a":1}`, true},
		{`{"if":` + filled + `,"then":false}`, `{"a":1}`, true},
	} {
		in, err := graph.NewToolInput(parsed(t, test.schema))
		if err != nil {
			t.Fatal(err)
		}
		if wrong, _, err := in.Check(context.Background(), parsed(t, test.args)); err != nil || (wrong == "") != test.fits {
			t.Errorf("%s, %s: %q, %v", test.schema, test.args, wrong, err)
		}
	}
}

func parsed(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestUnsentArgumentsAndTheirPlaces looks for what a call left out, and for where
// arguments are written.
func TestUnsentArgumentsAndTheirPlaces(t *testing.T) {
	const text = `version: "1.0"
server: {name: x, version: "1"}
mcpServers: {s: {command: nope}}
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: n}
      - id: n
        type: mcp
        server: s
        tool: t
        args:
          path: {expr: $.a}
          in: {deep: {expr: $.b}, "odd key": {expr: $.c}, fixed: 1}
          list: [{x: {expr: $.d}}, {expr: $.e}]
        next: whole
      - {id: whole, type: mcp, server: s, tool: t, args: {expr: $.f}, next: none}
      - {id: none, type: mcp, server: s, tool: t, next: exit}
      - {id: exit, type: exit}
`
	set, _ := build(t, text)
	g := set.Graphs[0]
	for _, test := range []struct{ node, sent, want string }{
		{"n", `{"path":1,"in":{"deep":2,"odd key":3,"fixed":1},"list":[{"x":4},5]}`, ""},
		{"n", `{"in":{"fixed":1},"list":[{},null]}`, `path: the expression $.a gave nothing|in.deep: the expression $.b gave nothing|in["odd key"]: the expression $.c gave nothing|list[0].x: the expression $.d gave nothing|list[1]: the expression $.e gave nothing or null, and null was sent`},
		{"whole", `{}`, "args: the expression $.f gave no arguments"},
		{"whole", `{"a":1}`, ""},
		{"none", `{}`, ""},
	} {
		var got []string
		for _, u := range g.Node(test.node).Unsent(parsed(t, test.sent)) {
			got = append(got, u.String())
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s with %s: %q", test.node, test.sent, got)
		}
	}
	lines := strings.Split(text, "\n")
	for _, test := range []struct{ node, path, want string }{
		{"n", "path", "$.a"}, {"n", "in.deep", "$.b"}, {"n", "in.deep.er", "$.b"}, {"n", `in["odd key"]`, "$.c"},
		{"n", "in.fixed", "1}"}, {"n", "in.other", "{deep"}, {"n", "list[0].x", "$.d"}, {"n", "list[1]", "$.e"}, {"n", "pat", "path:"},
		{"whole", "any", "$.f"}, {"none", "any", "t, next: exit"},
	} {
		pos, _ := g.Node(test.node).ArgumentPlace(test.path)
		if at := lines[pos.Line-1][pos.Col-1:]; !strings.HasPrefix(at, test.want) {
			t.Errorf("%s of %s is at %s: %s", test.path, test.node, pos, at)
		}
	}
}

package suite

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func lockedStock(t *testing.T) *lock.File {
	t.Helper()
	listed, err := value.Parse(`{"name": "look_up",
		"inputSchema": {"type": "object", "required": ["article", "where"], "additionalProperties": false,
			"properties": {"article": {"type": "string"}, "count": {"type": "integer"}, "where": {"type": "string"}}},
		"outputSchema": {"type": "object", "required": ["pieces"], "properties": {"pieces": {"type": "integer"}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	other, err := value.Parse(`{"name": "count", "inputSchema": {"type": "object"}}`)
	if err != nil {
		t.Fatal(err)
	}
	return (&lock.File{}).With(lock.NewServer("stock", "", []value.Value{listed, other}, []string{"look_up"}))
}

func TestMocksFitTheLockFile(t *testing.T) {
	locked := lockedStock(t)
	for mock, want := range map[string]string{
		`{server: stock, tool: look_up, arguments: {article: pen}, reply: {structured: {pieces: 3}}}`:    "",
		`{server: stock, tool: look_up, arguments: {article: {match: p}, count: 1}, reply: {error: no}}`: "",
		`{server: stock, tool: look_up, replies: [{failure: timeout}, {expr: '{"text": ""}'}]}`:          "",
		`{server: stock, tool: look_up, times: 0}`:                                                       "",
		`{server: stock, tool: count, arguments: {any: 1}, reply: {text: ""}}`:                           "",
		`{server: stock, tool: "look*", reply: {text: ""}}`:                                              "",
		`{server: other, tool: look, reply: {text: ""}}`:                                                 "",
		`{server: stock, tool: lookup, reply: {text: ""}}`:                                               `4:27: server "stock" has no tool "lookup"; did you mean "look_up"?`,
		`{server: stock, tool: look_up, arguments: {artcle: pen}, reply: {structured: {pieces: 3}}}`:     `4:48: tool "look_up" of server "stock" does not take the argument "artcle"; did you mean "article"?`,
		`{server: stock, tool: look_up, arguments: {x: pen}, reply: {structured: {pieces: 3}}}`:          `the argument does not fit the inputSchema of tool "look_up"`,
		`{server: stock, tool: look_up, arguments: {count: many}, reply: {structured: {pieces: 3}}}`:     `4:55: the argument does not fit the inputSchema of tool "look_up": count: expected an integer`,
		`{server: stock, tool: look_up, reply: {structured: {pieces: none}}}`:                            `4:43: the reply does not fit the outputSchema of tool "look_up": pieces: expected an integer`,
		`{server: stock, tool: look_up, replies: [{structured: {pieces: 1}}, {structured: {}}]}`:         `the reply does not fit the outputSchema of tool "look_up": missing required property "pieces"`,
		`{server: stock, tool: look_up, reply: {text: "3"}}`:                                             `tool "look_up" has an outputSchema, so its results have structured content; write reply: {structured: …}`,
	} {
		file, ds := Parse("a.test.yaml", []byte("tests:\n  - {name: n, tool: t}\nmocks:\n  - "+mock+"\n"))
		if len(ds) > 0 {
			t.Fatalf("%s: %v", mock, ds)
		}
		var got []string
		for _, d := range file.CheckLock(locked) {
			got = append(got, strings.TrimSuffix(d.Pos.String()+": "+d.Message+"; "+d.Hint, "; "))
		}
		if text := strings.Join(got, "\n"); want == "" && text != "" || !strings.Contains(text, want) || len(got) > 1 {
			t.Errorf("%s\n got %s\nwant %s", mock, text, want)
		}
		if len(file.CheckLock(nil)) > 0 {
			t.Errorf("%s: checked without a lock file", mock)
		}
	}
}

package language

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// locked returns options with a lock file of the server files.
func locked(t testing.TB) Options {
	t.Helper()
	listed, err := value.Parse(`[
		{"name": "list_directory", "description": "Lists a folder",
		 "inputSchema": {"type": "object", "properties": {"path": {"type": "string", "description": "The folder"}, "deep": {"type": "boolean"}}, "required": ["path"]},
		 "outputSchema": {"type": "object", "properties": {"content": {"type": "array", "items": {"type": "object", "properties": {"size": {"type": "integer"}}}}}}},
		{"name": "read_file", "inputSchema": {"type": "object"}}]`)
	if err != nil {
		t.Fatal(err)
	}
	file := (*lock.File)(nil).With(lock.NewServer("files", "", listed.Elems(), []string{"list_directory"}))
	return Options{Lock: func(path string) *lock.File {
		if path == "house.lock.json" {
			return file
		}
		return nil
	}}
}

func TestWhatTheLockFileKnows(t *testing.T) {
	opts := locked(t)
	for _, c := range []struct{ line, by, want string }{
		{"        tool: list_directory\n", "        tool: ‸\n", "list_directory read_file"},
		{"        args: {path: {expr: $.entry.directory}}\n", "        args: {‸}\n", "expr path deep"},
		{"        args: {path: {expr: $.entry.directory}}\n", "        args:\n          path: x\n          ‸\n", "expr deep"},
		{"items: {expr: $.list.content}", "items: {expr: $.list.‸}", "content"},
		{"items: {expr: $.list.content}", "items: {expr: $.list.content.‸}", "size"},
		{"items: {expr: $.list.content}", "items: {expr: $previousNode().‸}", "content"},
		{"{expr: $item}", "{expr: $item.‸}", "size"},
		{"        next: exit\n", "        next: last\n      - id: last\n        type: transform\n        transform: {expr: '{\"a\": 1, \"b\": $.list}'}\n        next: after\n      - id: after\n        type: transform\n        transform: {expr: $.last.‸}\n        next: exit\n", "a b"},
	} {
		text, offset := edited(t, c.line, c.by)
		items, _ := Complete(New("house.yaml", text, opts, nil), offset)
		if got := labels(items); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q: got %q, want %q", c.by, got, c.want)
		}
	}
	wrong := New("house.yaml", strings.Replace(house, "$.list.content", "$.list.contents", 1), opts, nil)
	if actions := Actions(wrong, Span{0, len(wrong.Text)}); len(actions) != 1 || actions[0].Edits[0].New != "content" {
		t.Errorf("%v: %v", wrong.Diagnostics, actions)
	}
	doc := New("house.yaml", house, opts, nil)
	for at0, want := range map[string]string{
		"  tool: list_‸directory": "`path`: string; required; The folder",
		"$.list.con‸tent":         "`content`",
		"id: l‸ist":               "`content`",
	} {
		if text, _, _ := Hover(doc, at(t, house, at0)); !strings.Contains(text, want) {
			t.Errorf("%s: %q", at0, text)
		}
	}
	text, offset := cut(t, "config: house.yaml\ntests:\n  - name: x\n    tool: count\n    mocks:\n      - server: files\n        tool: list_directory\n        arguments: {‸}\n")
	opts.Open = func(string) *Document { return doc }
	items, _ := Complete(New("house.test.yaml", text, opts, nil), offset)
	if got := labels(items); !slices.Equal(got, []string{"path", "deep"}) {
		t.Errorf("arguments of a mock: %q", got)
	}
}

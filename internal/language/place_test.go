package language

import (
	"fmt"
	"strings"
	"testing"
)

// cut returns a text without its cursor mark, and where that was.
func cut(t testing.TB, marked string) (text string, offset int) {
	t.Helper()
	before, after, ok := strings.Cut(marked, "‸")
	if !ok {
		t.Fatalf("no cursor in %q", marked)
	}
	return before + after, len(before)
}

func TestFindPlace(t *testing.T) {
	const head = "version: \"1.0\"\ntools:\n  - name: a\n    nodes:\n      - id: entry\n        type: entry\n        next: list\n"
	for _, c := range []struct{ name, text, want string }{
		{"key at the root", "ver‸", "[] key value \"ver\""},
		{"value at the root", "version: ‸", "[version] value \"\""},
		{"value without a space", "version:‸", "[version] value \"\" space"},
		{"key of a map", "server:\n  na‸", "[server] key value \"na\""},
		{"key before its value", "server:\n  na‸me: x", "[server] key \"name\" colon"},
		{"empty line of a map", "server:\n  name: x\n  ‸", "[server] key value \"\""},
		{"empty line at the root", "server:\n  name: x\n‸", "[] key value \"\""},
		{"key of a node", head + "      - id: list\n        ne‸", "[tools 0 nodes 1] key value \"ne\""},
		{"first key of a node", head + "      - ‸", "[tools 0 nodes 1] key value \"\""},
		{"first key of a node, begun", head + "      - i‸\n        type: x", "[tools 0 nodes 1] key value \"i\""},
		{"between the dash and the first key", head + "      -‸ id: list", "[]"},
		{"between the dash and a key far away", head + "      - ‸  id: list", "[]"},
		{"between the dash and a value", head + "      - ‸  id", "[tools 0 nodes 1] key value \"  id\""},
		{"value of the first key", head + "      - id: li‸", "[tools 0 nodes 1 id] value \"li\""},
		{"value of a node", head + "      - id: list\n        next: ‸", "[tools 0 nodes 1 next] value \"\""},
		{"value inside", head + "      - id: list\n        next: e‸x\n        type: mcp", "[tools 0 nodes 1 next] value \"ex\""},
		{"node of the second tool", head + "  - name: b\n    nodes:\n      - id: x\n        ‸", "[tools 1 nodes 0] key value \"\""},
		{"unindented list", "tools:\n- name: a\n  nodes:\n  - id: x\n    ‸", "[tools 0 nodes 0] key value \"\""},
		{"after an unindented list", "tools:\n- name: a\n  nodes:\n  - id: x\n  ca‸", "[tools 0] key value \"ca\""},
		{"lists of lists", "a:\n  - - x\n    - ‸", "[a 0 1] key value \"\""},
		{"double quotes", "a:\n  b: \"x ‸y\" # z", "[a b] value \"x y\" quote"},
		{"single quotes", "a:\n  b: 'it''s ‸'", "[a b] value \"it''s \" quote"},
		{"open quotes", "a:\n  b: \"x‸", "[a b] value \"x\" quote"},
		{"behind the quotes", "a:\n  b: \"x\" ‸", "[]"},
		{"comment", "a: 1 # x‸", "[]"},
		{"comment line", "# x‸", "[]"},
		{"quoted key", "a:\n  \"b‸c\": 1", "[a] key \"bc\" quote colon"},
		{"behind a quoted key", "a:\n  \"b\"‸: 1", "[]"},
		{"flow key", "a: {b‸", "[a] key \"b\" flow"},
		{"flow key after another", "a: {b: 1, ‸}", "[a] key \"\" flow"},
		{"flow key before its value", "a: {b: 1, c‸c: 2}", "[a] key \"cc\" flow colon"},
		{"flow value", "a: {b: ‸}", "[a b] value \"\" flow"},
		{"flow value without a space", "a: {b:‸}", "[a b] value \"\" flow space"},
		{"flow value inside", "a: {b: c‸d, e: f}", "[a b] value \"cd\" flow"},
		{"flow list", "a: [x, y‸]", "[a 1] value \"y\" flow"},
		{"map in a flow list", "a: [{b: 1}, {c: ‸}]", "[a 1 c] value \"\" flow"},
		{"flow in a list", head + "      - {id: list, ‸}", "[tools 0 nodes 1] key \"\" flow"},
		{"flow value in a list", head + "      - {id: list, next: ‸", "[tools 0 nodes 1 next] value \"\" flow"},
		{"flow over lines", "a: {b: 1,\n  c: ‸\n}", "[a c] value \"\" flow"},
		{"quoted flow value", "a: {b: \"x‸ y\", c: 1}", "[a b] value \"x y\" flow quote"},
		{"closed flow", "a: {b: 1}\nc‸", "[] key value \"c\""},
		{"behind a flow map", "a: {b: 1} ‸", "[a] value \"{b: 1} \""},
		{"block scalar", "a:\n  expr: |\n    {\n      \"b\": $.x‸\n    }\n  next: y\n", "[a expr] value \"    {\\n      \\\"b\\\": $.x\\n    }\" block"},
		{"block scalar in a list", "- >-\n  x‸", "[0] value \"  x\" block"},
		{"empty block scalar", "a: |\n  ‸", "[a] value \"  \" block"},
		{"behind a block scalar", "a:\n  expr: |\n    { x\n  ne‸", "[a] key value \"ne\""},
		{"block scalar that looks like keys", "a: |\n  b:\n    c: ‸", "[a] value \"  b:\\n    c: \" block"},
		{"indentation", "a:\n ‸ b: 1", "[]"},
		{"block scalar that ends with a carriage return", "a: |\n  b‸\r", "[a] value \"  b\" block"},
		{"block scalar of a carriage return", "a: |\n ‸\r", "[a] value \" \" block"},
		{"carriage returns", "a:\r\n  b: ‸\r\n", "[a b] value \"\""},
		{"colon in a plain word", "a: http://x‸", "[a] value \"http://x\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, offset := cut(t, c.text)
			p := findPlace(text, offset)
			got := fmt.Sprint(p.path)
			for _, flag := range []struct {
				is   bool
				word string
			}{
				{p.isKey, "key"}, {p.isValue, "value"}, {p.isKey || p.isValue, fmt.Sprintf("%q", text[p.from:p.to])},
				{p.flow, "flow"}, {p.block, "block"}, {p.quote != 0, "quote"}, {p.colon, "colon"}, {p.space, "space"},
			} {
				if flag.is {
					got += " " + flag.word
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if p.from > offset || p.to < offset && p.isValue {
				t.Errorf("the word from %d to %d does not hold %d", p.from, p.to, offset)
			}
		})
	}
}

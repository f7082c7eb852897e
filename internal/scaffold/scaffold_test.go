package scaffold_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/scaffold"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var target = scaffold.Target{Config: "c.yaml", Test: "c.test.yaml"}

func parsed(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func upstream(t testing.TB, input, output string) scaffold.Upstream {
	u := scaffold.Upstream{Server: "s", Tool: "t", Entry: parsed(t, `{"command": "x"}`), Description: "Does\nsomething"}
	if input != "" {
		u.Input = parsed(t, input)
	}
	if output != "" {
		u.Output = parsed(t, output)
	}
	return u
}

// TestPlans shows what is kept of schemas, the better the more.
func TestPlans(t *testing.T) {
	for _, c := range []struct {
		name, input, output string
		has                 string // in the configuration
		not                 string
		arguments           string // of the test
	}{
		{"all", `{"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}`, `{"type": "object"}`,
			"{type: integer, minimum: 3}", "outputSchema:", `{"n":3}`},
		{"an output that cannot be made up", `{"type": "object"}`, `{"type": "object", "properties": {"x": {"type": "string", "pattern": "^never$"}}, "required": ["x"]}`,
			"inputSchema: {type: object}", "outputSchema:", `{}`},
		{"an input that cannot be made up", `{"type": "object", "properties": {"x": {"type": "string", "pattern": "^never$"}}, "required": ["x"]}`, "",
			"properties: {x: {type: string}}", "pattern", `{"x":"text"}`},
		{"a schema that does not compile", `{"type": "object", "properties": {"x": {"$ref": "#/none"}}}`, "",
			"x: {}", "$ref", `{}`},
		{"no object", `{"type": "string"}`, "", "inputSchema: {type: object}", "", `{}`},
		{"no schema", ``, "", "inputSchema: {type: object}", "", `{}`},
		{"an enormous schema", `{"type": "object", "properties": {"x": {"enum": ["` + strings.Repeat("x", 60000) + `"]}}}`, "",
			"inputSchema: {type: object}", "xxxx", `{}`},
		{"deep references", `{"type": "object", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}, "required": ["b"]}}, "properties": {"b": {"$ref": "#/$defs/a"}}, "required": ["b"]}`, "",
			"b: {}", "$ref", `{"b":"text"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := scaffold.New(upstream(t, c.input, c.output), scaffold.Call{}, target)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(files.Config); !strings.Contains(text, c.has) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("want %q and not %q in\n%s", c.has, c.not, text)
			}
			if got := files.Arguments.JSON(); got != c.arguments {
				t.Errorf("arguments %s, want %s", got, c.arguments)
			}
		})
	}
}

// TestReplies shows what of a real reply stands in the test.
func TestReplies(t *testing.T) {
	for reply, want := range map[string]string{
		`{"content": [{"type": "text", "text": "a\nb"}]}`:                                  "reply:\n          text: |-\n            a\n            b\n",
		`{"content": [], "structuredContent": {"a": 1}}`:                                   "reply: {structured: {a: 1}}",
		`{"content": [{"type": "image", "data": "x"}]}`:                                    "reply: {result: {content: [{type: image, data: x}]}}",
		`{"isError": true, "content": [{"type": "text", "text": "no"}]}`:                   "made up",
		`{"content": [{"type": "text", "text": "` + strings.Repeat("long ", 2000) + `"}]}`: "made up",
		`{"content": {"type": "text"}}`:                                                    "made up",
	} {
		call := scaffold.Call{Arguments: value.FromEntries(nil), Reply: parsed(t, reply)}
		files, err := scaffold.New(upstream(t, "", ""), call, target)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(files.Test); !strings.Contains(text, want) || files.Real == (want == "made up") {
			t.Errorf("%s\nwant %q in\n%s", reply, want, text)
		}
	}
}

func TestEntryWithProblemsIsAnError(t *testing.T) {
	u := upstream(t, "", "")
	u.Entry = parsed(t, `{"nonsense": 1}`)
	if _, err := scaffold.New(u, scaffold.Call{}, target); err == nil || !strings.Contains(err.Error(), "the file would have problems") {
		t.Errorf("got %v", err)
	}
}

// TestExampleHasNoProblems also shows that its test is one that can be read.
func TestExampleHasNoProblems(t *testing.T) {
	files := scaffold.Example(scaffold.Target{Config: "a.yaml", Test: "a.test.yaml", ConfigSchema: "a.json"})
	for path, text := range map[string][]byte{"a.yaml": files.Config, "a.test.yaml": files.Test} {
		if formatted, err := edit.Format(path, text); err != nil || !bytes.Equal(formatted, text) {
			t.Errorf("%s is not formatted: %v\n%s", path, err, formatted)
		}
	}
	if _, ds := suite.Parse("a.test.yaml", files.Test); len(ds) > 0 {
		t.Error(ds)
	}
	if !strings.Contains(string(files.Test), "mcpgraph test a.test.yaml") {
		t.Error("the test does not say how it is run")
	}
	if !strings.Contains(string(files.Test), "[FILE] notes.md") {
		t.Error("the reply of the mock has changed")
	}
}

// FuzzNew makes files from whatever a server says of its tool. They are always
// without problems.
func FuzzNew(f *testing.F) {
	f.Add("read", "Reads", `{"type": "object", "properties": {"a": {"type": "string"}}}`, `{}`, `{"content": []}`)
	f.Add("a b\x00", "\x1b[2J: #", `{"type": "object", "properties": {"": {}, "a: b": {"default": 1}, "a.b": {"type": ["x"]}}, "required": ["z"]}`, `[]`, `{"structuredContent": {"is": 1}}`)
	f.Add("", "", `{"type": "object", "additionalProperties": {"$ref": "#"}, "allOf": [{"required": ["a"]}]}`, `{"type": "object", "const": {"a": "\u0007"}}`, `7`)
	f.Fuzz(func(t *testing.T, name, description, input, output, reply string) {
		u := scaffold.Upstream{Server: "s", Tool: name, Description: description, Entry: parsed(t, `{"command": "x"}`)}
		u.Input, _ = value.ParseStrict(input)
		u.Output, _ = value.ParseStrict(output)
		call := scaffold.Call{}
		call.Reply, _ = value.ParseStrict(reply)
		if call.Reply.Kind() != value.Object {
			call.Reply = value.Undef
		}
		if name == "" {
			return // an entry without a name is refused
		}
		if _, err := scaffold.New(u, call, target); err != nil {
			t.Error(err)
		}
	})
}

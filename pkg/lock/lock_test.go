package lock_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func list(t testing.TB, text string) []value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v.Elems()
}

const listed = `[
	{"name":"fs_read","description":"Reads","inputSchema":{"type":"object","required":["b","a"],"properties":{"b":{"type":"string"},"a":{"type":"integer"}}},"annotations":{"readOnlyHint":true}},
	{"name":"fs_write","inputSchema":{"type":"object"}},
	{"name":"other","inputSchema":{}}
]`

func example(t testing.TB) *lock.File {
	s := lock.NewServer("files", "fs_", list(t, listed), []string{"read", "gone"})
	s.ServerName, s.Version, s.Protocol = "fs", "1.0.0", "2025-11-25"
	return (*lock.File)(nil).With(s)
}

const written = `{
  "lockVersion": 1,
  "digest": "sha256-DIGEST",
  "servers": {
    "files": {
      "name": "fs",
      "version": "1.0.0",
      "protocol": "2025-11-25",
      "toolNames": [
        "read",
        "write"
      ],
      "tools": {
        "read": {
          "description": "Reads",
          "inputSchema": {
            "properties": {
              "a": {
                "type": "integer"
              },
              "b": {
                "type": "string"
              }
            },
            "required": [
              "a",
              "b"
            ],
            "type": "object"
          },
          "annotations": {
            "readOnlyHint": true
          }
        }
      }
    }
  }
}
`

func TestFileIsWrittenAndReadAgain(t *testing.T) {
	f := example(t)
	text := f.Encode()
	if want := strings.Replace(written, "sha256-DIGEST", f.Digest(), 1); string(text) != want {
		t.Errorf("wrote\n%s\nwant\n%s", text, want)
	}
	again, ds := lock.Parse("x.lock.json", text)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if !bytes.Equal(again.Encode(), text) {
		t.Errorf("what was read is written as\n%s", again.Encode())
	}
	if d := f.Diff(again); len(d) > 0 {
		t.Errorf("it differs from what was written: %v", d)
	}
	read := again.Tool("files", "read")
	if read == nil || read.Description != "Reads" || !read.Annotations.Get("readOnlyHint").Bool() {
		t.Errorf("read is %+v", read)
	}
	s := again.Server("files")
	if !s.Has("write") || s.Has("other") || s.Has("fs_read") || s.Tool("write") != nil || again.Tool("none", "x") != nil {
		t.Error("the names of tools are wrong")
	}
	if (*lock.File)(nil).Tool("files", "read") != nil || (*lock.Server)(nil).Has("x") {
		t.Error("no file has something")
	}
}

// TestOrderDoesNotMatter shows that a server that lists its tools, and the keys of
// schemas, in another order writes the same file.
func TestOrderDoesNotMatter(t *testing.T) {
	other := lock.NewServer("files", "fs_", list(t, `[
		{"inputSchema":{},"name":"other"},
		{"inputSchema":{"type":"object"},"name":"fs_write","annotations":{}},
		{"annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a","b"],"type":"object"},"description":"Reads","name":"fs_read","outputSchema":null}
	]`), []string{"read"})
	other.ServerName, other.Version, other.Protocol = "fs", "1.0.0", "2025-11-25"
	if got := (*lock.File)(nil).With(other).Encode(); !bytes.Equal(got, example(t).Encode()) {
		t.Errorf("got\n%s", got)
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	good := string(example(t).Encode())
	edit := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, test := range []struct{ text, want string }{
		{"", "1:1: error: the lock file is not JSON"},
		{"[]", "1:1: error: the lock file must be an object"},
		{"{\n  \"lockVersion\": 1, }", "2:21: error: the lock file is not JSON"},
		{"{}", `1:1: error: the lock file has no "lockVersion"`},
		{`{"lockVersion": 2}`, "1:17: error: the lock file has version 2; this mcpgraph reads version 1"},
		{`{"lockVersion": 1}`, `1:1: error: "servers" must be an object`},
		{edit(`"integer"`, `"number"`), "3:13: error: the content of the lock file does not match its digest"},
		{edit(`"readOnlyHint": true`, `"readOnlyHint": true, "readOnlyHint": false`), "twice"},
		{"{\"lockVersion\": 1, \"digest\": \"" + "x\"\n, \"servers\": {}}", "1:30: error: the content"},
	} {
		f, ds := lock.Parse("x.lock.json", []byte(test.text))
		if f != nil || len(ds) != 1 || !strings.Contains(ds[0].Error(), test.want) || ds[0].Hint == "" {
			t.Errorf("%q: got %v, want %s", test.text, ds, test.want)
		}
	}
}

// TestWrongMembersHaveTheirPlaces reads files whose digest is right.
func TestWrongMembersHaveTheirPlaces(t *testing.T) {
	for _, test := range []struct{ servers, want string }{
		{`{"a":1}`, `"a" must be an object`},
		{`{"a":{"toolNames":["x",1],"tools":{}}}`, `"toolNames" must be a list of names`},
		{`{"a":{"toolNames":[]}}`, `"tools" must be an object`},
		{`{"a":{"toolNames":["x"],"tools":{"x":{"description":1}}}}`, `"description" must be a string`},
		{`{"a":{"tasks":1,"toolNames":[],"tools":{}}}`, `"tasks" must be true or false`},
	} {
		text := fmt.Sprintf(`{"lockVersion":1,"digest":%q,"servers":%s}`, digestOf(test.servers), test.servers)
		_, ds := lock.Parse("x", []byte(text))
		if len(ds) != 1 || ds[0].Message != test.want || ds[0].Pos.Col < strings.Index(text, `"servers"`) {
			t.Errorf("%s: got %v, want %s", test.servers, ds, test.want)
		}
	}
}

func TestDifferences(t *testing.T) {
	was := example(t)
	tool := func(text string) []string {
		now := lock.NewTool("read", list(t, "["+text+"]")[0])
		var lines []string
		for _, d := range was.Tool("files", "read").Diff(now) {
			line := d.String()
			if d.Documentation {
				line += " (documentation)"
			}
			lines = append(lines, line)
		}
		return lines
	}
	const schema = `"inputSchema":{"type":"object","required":["b","a"],"properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`
	for _, test := range []struct{ now, want string }{
		{`{"description":"Reads",` + schema + `,"annotations":{"readOnlyHint":true}}`, ``},
		{`{` + schema + `,"annotations":{"readOnlyHint":true}}`, `description: removed "Reads" (documentation)`},
		{`{"description":"Reads",` + schema + `,"annotations":{"readOnlyHint":false}}`, `annotations/readOnlyHint: was true, is false`},
		{`{"description":"Reads",` + schema + `}`, `annotations: removed {"readOnlyHint":true}`},
		{`{"description":"Reads",` + strings.Replace(schema, "integer", "number", 1) + `,"annotations":{"readOnlyHint":true}}`,
			`inputSchema/properties/a/type: was "integer", is "number"`},
		{`{"description":"Reads",` + strings.Replace(schema, `"b","a"`, `"a"`, 1) + `,"annotations":{"readOnlyHint":true},"outputSchema":{"type":"object"}}`,
			`inputSchema/required: was ["a","b"], is ["a"]; outputSchema: added {"type":"object"}`},
	} {
		if got := strings.Join(tool(test.now), "; "); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.now, got, test.want)
		}
	}

	now := lock.NewServer("files", "fs_", list(t, `[{"name":"fs_read"},{"name":"fs_new"}]`), []string{"new"})
	now.Version = "2.0.0"
	var lines []string
	for _, d := range was.Diff((*lock.File)(nil).With(now).With(&lock.Server{Name: "more"})) {
		lines = append(lines, fmt.Sprintf("%s %s %s %v", d.Server, d.Tool, d, d.Note))
	}
	want := `files  name: removed "fs" true
files  version: was "1.0.0", is "2.0.0" true
files  protocol: removed "2025-11-25" true
files new added false
files read no node calls it any more false
files write removed false
more  added false`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDifferencesAreBounded compares schemas that have nothing in common.
func TestDifferencesAreBounded(t *testing.T) {
	var properties []string
	for i := range 10_000 {
		properties = append(properties, fmt.Sprintf(`"p%d":{}`, i))
	}
	big := lock.NewTool("t", list(t, `[{"inputSchema":{"x":{`+strings.Join(properties, ",")+`}}}]`)[0])
	small := lock.NewTool("t", list(t, `[{"inputSchema":{"x":{"y":1}}}]`)[0])
	if n := len(small.Diff(big)); n != 100 {
		t.Errorf("%d differences", n)
	}
}

// TestDeepSchemas locks schemas that are nested more and more deeply: the file grows as
// they do, and so do the differences.
func TestDeepSchemas(t *testing.T) {
	deep := func(n int, leaf string) *lock.File {
		schema := strings.Repeat(`{"properties":{"a":`, n) + leaf + strings.Repeat("}}", n)
		return (*lock.File)(nil).With(lock.NewServer("s", "", list(t, `[{"name":"t","inputSchema":`+schema+`}]`), []string{"t"}))
	}
	for _, n := range []int{10, 100, 1000, 4000} {
		was, is := deep(n, `{"type":"string"}`), deep(n, `{"type":"number"}`)
		text := was.Encode()
		if compact := len(was.Server("s").Tool("t").InputSchema.JSON()); len(text) > 20*1000+compact {
			t.Errorf("%d levels: a schema of %d bytes makes a lock file of %d", n, compact, len(text))
		}
		again, ds := lock.Parse("x", text)
		if len(ds) > 0 || len(was.Diff(again)) > 0 {
			t.Errorf("%d levels: the file was read as another: %v", n, ds)
		}
		all := was.Diff(is)
		if len(all) != 1 || len(all[0].String()) > 2000 {
			t.Errorf("%d levels: differences %v", n, all)
		}
	}
}

func TestPath(t *testing.T) {
	for config, want := range map[string]string{
		"tools.yaml": "tools.lock.json", "a.b/tools.yml": "a.b/tools.lock.json", "a.b/tools": "a.b/tools.lock.json", "x.test.yaml": "x.test.lock.json",
	} {
		if got := lock.Path(config); got != want {
			t.Errorf("%s: %s, want %s", config, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example(f).Encode())
	f.Add([]byte(`{"lockVersion":1,"digest":"","servers":{"a":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, ds := lock.Parse("x", text)
		if (file == nil) != (len(ds) > 0) {
			t.Fatal("neither or both")
		}
		if file != nil {
			if again, ds := lock.Parse("x", file.Encode()); again == nil {
				t.Fatal(ds)
			}
		}
	})
}

// Another authorization server is a difference; one that the configuration now names is
// shown.
func TestIssuersAreCompared(t *testing.T) {
	with := func(issuer string) *lock.File {
		f := example(t)
		f.Servers[0].Issuer = issuer
		again, ds := lock.Parse("x.lock.json", f.Encode())
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		return again
	}
	for _, c := range []struct {
		was, is, want string
		note          bool
	}{
		{"https://a.example", "https://a.example", "", false},
		{"https://a.example", "https://b.example", `issuer: was "https://a.example", is "https://b.example"`, false},
		{"", "https://b.example", `issuer: added "https://b.example"`, false},
		{"https://a.example", "", `issuer: removed "https://a.example"`, true},
	} {
		text := ""
		for _, d := range with(c.was).Diff(with(c.is)) {
			if text += d.String(); d.Note != c.note || d.Server != "files" {
				t.Errorf("%+v", d)
			}
		}
		if text != c.want {
			t.Errorf("got %q, want %q", text, c.want)
		}
	}
}

// Of long texts the part around the first difference is shown.
func TestLongTextsAreShownWhereTheyDiffer(t *testing.T) {
	long := strings.Repeat("ä same text ", 50)
	for _, c := range []struct{ was, is, want string }{
		{`"` + long + `in /home/ann"`, `"` + long + `in /home/bob"`, `… "`},
		{`"` + long + `"`, `"` + long + `and more"`, `and more"`},
		{`["` + long + `","a"]`, `["` + long + `","b","c"]`, `"b","c"]`},
		{`"x"`, `"` + long + `"`, `was "x"`},
		{`"a"`, `"b"`, `was "a", is "b"`},
	} {
		was, err := value.Parse(c.was)
		if err != nil {
			t.Fatal(err)
		}
		is, err := value.Parse(c.is)
		if err != nil {
			t.Fatal(err)
		}
		got := lock.Difference{Path: "/description", Was: was, Is: is}.String()
		shown, now, _ := strings.Cut(got, ", is ")
		if !strings.Contains(got, c.want) || strings.TrimPrefix(shown, "description: was ") == now || len(got) > 400 || !utf8.ValidString(got) {
			t.Errorf("%s", got)
		}
	}
}

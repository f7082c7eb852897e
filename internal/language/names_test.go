package language

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// at returns the offset of a cursor in the text above, which stands in a part of it
// that is there once.
func at(t testing.TB, text, marked string) int {
	t.Helper()
	plain, offset := cut(t, marked)
	if strings.Count(text, plain) != 1 {
		t.Fatalf("%q is there %d times", plain, strings.Count(text, plain))
	}
	return strings.Index(text, plain) + offset
}

const houseTest = `config: house.yaml
tests:
  - name: counts
    tool: count
    arguments: {directory: /srv}
    mocks: [{server: files, tool: list_directory, reply: {text: x}}]
    answers: {list: accept}
    expect:
      path: [entry, list, each: [[inner]], exit]
      outputs: {list: {x: 1}}
      attempts: {"list": 2}
      error: {node: list}
`

// files returns documents that know each other.
func files(t testing.TB, texts map[string]string) map[string]*Document {
	t.Helper()
	docs := map[string]*Document{}
	opts := Options{
		Open: func(path string) *Document { return docs[filepath.Base(path)] },
		Read: func(path string) ([]byte, error) { return []byte(texts[filepath.Base(path)]), nil },
	}
	for _, tests := range []bool{false, true} {
		for name, text := range texts {
			if strings.Contains(name, ".test.") == tests {
				docs[name] = New(name, text, opts, nil)
			}
		}
	}
	return docs
}

func texts(docs map[string]*Document, list []Location) []string {
	var out []string
	for _, l := range list {
		d := docs[l.Path]
		line, _, _ := strings.Cut(d.Text[strings.LastIndexByte(d.Text[:l.From], '\n')+1:], "\n")
		out = append(out, d.Text[l.From:l.To]+" in "+strings.TrimSpace(line))
	}
	return out
}

func TestDefinitionAndReferences(t *testing.T) {
	docs := files(t, map[string]string{"house.yaml": house, "house.test.yaml": houseTest})
	doc, test := docs["house.yaml"], docs["house.test.yaml"]
	if len(test.Diagnostics) != 0 {
		t.Fatal(test.Diagnostics)
	}
	for _, c := range []struct {
		doc    *Document
		at     string
		define string
		places int
	}{
		{doc, "type: entry, next: li‸st", "list in - id: list", 8},
		{doc, "items: {expr: $.li‸st.content}", "list in - id: list", 8},
		{doc, "- id: l‸ist", "list in - id: list", 8},
		{doc, "path: {expr: $.entry‸.directory}", "entry in - {id: entry, type: entry, next: list}", 3},
		{doc, "server: ‸files", "files in files: {command: x}", 3},
		{test, "tool: co‸unt", "count in - name: count", 2},
		{test, "attempts: {\"l‸ist\": 2}", "list in - id: list", 8},
		{test, "each: [[in‸ner]]", "inner in - id: inner", 2},
		{test, "{server: fi‸les", "files in files: {command: x}", 3},
	} {
		t.Run(c.at, func(t *testing.T) {
			offset := at(t, c.doc.Text, c.at)
			if got := texts(docs, c.doc.Definition(offset)); !slices.Equal(got, []string{c.define}) {
				t.Errorf("defined at %q, want %q", got, c.define)
			}
			if got := c.doc.References(offset, true, []*Document{test}); len(got) != c.places {
				t.Errorf("%d places, want %d: %q", len(got), c.places, texts(docs, got))
			}
			if all, used := c.doc.References(offset, true, nil), c.doc.References(offset, false, nil); len(all) != len(used)+1 {
				t.Errorf("%d places with the definition, %d without", len(all), len(used))
			}
		})
	}
	if got := doc.Definition(at(t, house, "vers‸ion: \"1.0\"")); got != nil {
		t.Errorf("a key is defined at %v", got)
	}
}

// applied returns the texts with edits applied.
func applied(docs map[string]*Document, edits []Edit) map[string]string {
	out := map[string]string{}
	for name, d := range docs {
		out[name] = d.Text
	}
	slices.SortFunc(edits, func(a, b Edit) int { return b.From - a.From })
	for _, e := range edits {
		out[e.Path] = out[e.Path][:e.From] + e.New + out[e.Path][e.To:]
	}
	return out
}

func TestRename(t *testing.T) {
	config := strings.Replace(house, "transform: {expr: $item}", "transform: {expr: \"$.`list` & $string($nodeExecution('list', 0))\"}", 1)
	docs := files(t, map[string]string{"house.yaml": config, "house.test.yaml": houseTest})
	doc, test := docs["house.yaml"], docs["house.test.yaml"]
	edits, err := Rename(doc, at(t, config, "next: li‸st"), "listing", []*Document{test})
	if err != nil {
		t.Fatal(err)
	}
	done := applied(docs, edits)
	want := strings.NewReplacer("next: list", "next: listing", "id: list", "id: listing", "$.list.content", "$.listing.content",
		"$.`list`", "$.listing", "'list'", "'listing'").Replace(config)
	if done["house.yaml"] != want {
		t.Errorf("got\n%s\nwant\n%s", done["house.yaml"], want)
	}
	wantTest := strings.NewReplacer("{list: accept}", "{listing: accept}", "entry, list,", "entry, listing,", "outputs: {list:", "outputs: {listing:",
		"\"list\"", "\"listing\"", "node: list", "node: listing").Replace(houseTest)
	if done["house.test.yaml"] != wantTest {
		t.Errorf("got\n%s\nwant\n%s", done["house.test.yaml"], wantTest)
	}
	again := files(t, done)
	if ds := again["house.test.yaml"].Diagnostics; len(ds) != 0 {
		t.Error(ds)
	}
}

func TestRenameIsRefused(t *testing.T) {
	docs := files(t, map[string]string{"house.yaml": house})
	doc := docs["house.yaml"]
	id := at(t, house, "- id: l‸ist")
	for _, c := range []struct {
		name   string
		offset int
		id     string
		want   string
	}{
		{"taken", id, "exit", `node "exit" already exists`},
		{"taken in a body", id, "inner", `node "inner" already exists`},
		{"no id", id, "two words", "cannot be an id"},
		{"empty", id, "", "cannot be an id"},
		{"keyword", id, "true", "cannot be an id"},
		{"not on an id", at(t, house, "vers‸ion: \"1.0\""), "x", "no id of a node"},
		{"on a server", at(t, house, "server: ‸files"), "x", "no id of a node"},
	} {
		if _, err := Rename(doc, c.offset, c.id, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if edits, err := Rename(doc, id, "list", nil); err != nil || len(edits) != 0 {
		t.Errorf("the same id: %v, %v", edits, err)
	}
	broken := New("house.yaml", house+"\n  - {", Options{}, doc)
	if _, err := Rename(broken, id, "x", nil); err == nil || !strings.Contains(err.Error(), "YAML error") {
		t.Error(err)
	}
	if span, name, err := Renamed(doc, id); err != nil || name != "list" || house[span.From:span.To] != "list" {
		t.Error(span, name, err)
	}
}

func TestHover(t *testing.T) {
	docs := files(t, map[string]string{"house.yaml": house, "house.test.yaml": houseTest})
	doc, test := docs["house.yaml"], docs["house.test.yaml"]
	for _, c := range []struct {
		doc      *Document
		at, want string
	}{
		{doc, "type: m‸cp", "Calls a tool of an upstream MCP server"},
		{doc, "  tool: list_‸directory", "called"},
		{doc, "next: ea‸ch", "**each** (map node)"},
		{doc, "$.en‸try.directory", "**entry** (entry node)"},
		{doc, "$.entry.dir‸ectory", "`directory`: string; required; The folder"},
		{doc, "mcpSer‸vers:", "Upstream MCP servers"},
		{doc, "server: fi‸les", "**files** (server, stdio)"},
		{doc, "requ‸ired: [directory]", "Names of the properties"},
		{test, "tool: co‸unt", "`directory`: string; required"},
		{test, "exp‸ect:", "What must hold"},
		{test, "answers: {li‸st: accept}", "**list** (mcp node)"},
	} {
		text, span, ok := Hover(c.doc, at(t, c.doc.Text, c.at))
		if c.want == "called" {
			continue
		}
		if !ok || !strings.Contains(text, c.want) || span.To <= span.From {
			t.Errorf("%s: %v %q", c.at, ok, text)
		}
	}
	withFunction := strings.Replace(house, "{expr: $item}", "{expr: $count($item)}", 1)
	if text, _, ok := Hover(New("x.yaml", withFunction, Options{}, nil), at(t, withFunction, "$cou‸nt(")); !ok || !strings.Contains(text, "$count(array)") {
		t.Error(text)
	}
	if text, _, ok := Hover(doc, at(t, house, "  ‸- name: other")); ok {
		t.Error(text)
	}
}

func TestSymbols(t *testing.T) {
	docs := files(t, map[string]string{"house.yaml": house, "house.test.yaml": houseTest})
	var walk func(d *Document, list []Symbol) string
	walk = func(d *Document, list []Symbol) string {
		var parts []string
		for _, s := range list {
			if s.Selection.From < s.Span.From || s.Selection.To > s.Span.To || s.Name == "" {
				t.Errorf("%q: its name is not inside of it", s.Name)
			}
			part := s.Name
			if s.Children != nil {
				part += "(" + walk(d, s.Children) + ")"
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, " ")
	}
	doc, test := docs["house.yaml"], docs["house.test.yaml"]
	if got := walk(doc, Symbols(doc)); got != "mcpServers(files web) tools(count(entry list each(inner) exit) other(begin end))" {
		t.Error(got)
	}
	if got := walk(test, Symbols(test)); got != "counts" {
		t.Error(got)
	}
}

// TestActionsSolveTheProblem applies what each diagnostic proposes and expects it
// to be gone.
func TestActionsSolveTheProblem(t *testing.T) {
	for _, c := range []struct{ line, by string }{
		{"        next: each\n", "        next: eahc\n"},
		{"        next: each\n", "        next: \"eahc\"\n"},
		{"        next: each\n", "        nxet: each\n"},
		{"        type: mcp\n", "        type: mpc\n"},
		{"        server: files\n", "        server: 'fils'\n"},
		{"{expr: $.list.content}", "{expr: $.lits.content}"},
		{"{expr: $.list.content}", "{expr: lits.content}"},
		{"{expr: $.list.content}", "{expr: '$count($.lits)'}"},
		{"{expr: $.list.content}", "{expr: '$nodeExecution(\"lits\", 0)'}"},
		{"{expr: $.list.content}", "{expr: $cuont($.list)}"},
		{"{expr: $.list.content}", "{expr: count($.list)}"},
		{"{expr: $.list.content}", "{expr: $list.content}"},
		{"{expr: $.entry.directory}", "{expr: $.entry.dirctory}"},
		{"{expr: $.entry.directory}", "{expr: \"$.entry.dirctory\"}"},
		{"{expr: $item}", "{expr: $itme}"},
		{"    description: Other\n", "    descripton: Other\n"},
		{"      required: [directory]", "      required: [dirctory]"},
		{"        next: each\n", "        next: each\n        catch: {errors: [timeuot], next: exit}\n"},
	} {
		text := strings.Replace(house, c.line, c.by, 1)
		doc := New("test.yaml", text, Options{}, nil)
		actions := Actions(doc, Span{0, len(text)})
		if len(actions) == 0 {
			t.Errorf("%q: nothing to do about %v", c.by, doc.Diagnostics)
			continue
		}
		before := doc.Diagnostics[actions[0].Diagnostic]
		done := applied(map[string]*Document{"test.yaml": doc}, actions[0].Edits)["test.yaml"]
		for _, d := range New("test.yaml", done, Options{}, nil).Diagnostics {
			if d.Code == before.Code && d.Message == before.Message || d.Code == "yaml-syntax" || d.Code == "bad-expression" {
				t.Errorf("%q, %q: %v\n%s", c.by, actions[0].Title, d, done)
			}
		}
	}
}

package ui

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// put saves a text.
func (s *served) put(revision, text, query string) (int, value.Value) {
	s.t.Helper()
	r := s.request("PUT", "/api/file"+query, text)
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if revision != "" {
		r.Header.Set("If-Match", `"`+revision+`"`)
	}
	status, answer := s.do(r)
	v, err := value.Parse(answer)
	if err != nil {
		s.t.Fatal(err)
	}
	return status, v
}

func (s *served) text() string {
	s.t.Helper()
	b, err := os.ReadFile(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *served) revision() string {
	s.t.Helper()
	return s.get("/api/state").Get("file").Get("revision").Str()
}

func TestFileIsSaved(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	events := s.follow("")
	revision := s.revision()
	if status, v := s.put("", tools, ""); status != http.StatusPreconditionRequired {
		t.Errorf("without a revision: %d %s", status, v.JSON())
	}
	changed := strings.Replace(tools, "Doubles", "Two times", 1)
	status, v := s.put(revision, changed, "")
	if status != http.StatusOK || s.text() != changed || v.Get("problems").Kind() != value.Array {
		t.Fatalf("%d %s", status, v.JSON())
	}
	next := v.Get("revision").Str()
	until(t, events, func(e value.Value) bool {
		return e.Get("type").Str() == "reloaded" && e.Get("generation").Float() == 2 && e.Get("revision").Str() == next
	})
	if at := s.get("/api/state"); at.Get("tools").Elems()[1].Get("description").Str() != "Two times" || at.Get("revision").Str() != next {
		t.Errorf("the state is %s", at.JSON())
	}
	status, v = s.put(revision, tools, "")
	if status != http.StatusPreconditionFailed || v.Get("current").Str() != changed || v.Get("revision").Str() != next {
		t.Errorf("a revision that is old: %d %s", status, v.JSON())
	}
	bad := strings.Replace(changed, "expr: $.entry.n * 2", "expr: $.entry.n *", 1)
	status, v = s.put(next, bad, "")
	problem := v.Get("error").Get("problems").Elems()
	if status != http.StatusUnprocessableEntity || len(problem) != 2 || s.text() != changed {
		t.Fatalf("a bad text: %d %s", status, v.JSON())
	}
	if p := problem[1]; p.Get("node").Str() != "double#times" || p.Get("tool").Str() != "double" || p.Get("code").Str() != "bad-expression" ||
		!strings.HasPrefix(bad[int(p.Get("from").Float()):], "}") {
		t.Errorf("the problem is %s", p.JSON())
	}
	if status, _ = s.put(next, bad, "?force=1"); status != http.StatusOK || s.text() != bad {
		t.Errorf("a bad text that was meant: %d", status)
	}
	until(t, events, func(e value.Value) bool { return e.Get("type").Str() == "file" && e.Get("problems").Len() == 2 })
	at := s.get("/api/state")
	if at.Get("generation").Float() != 2 || at.Get("problems").Len() != 2 || at.Get("tools").Len() != 5 || at.Get("revision").Str() != next {
		t.Errorf("the state after a bad text is %s", at.JSON())
	}
}

func TestFileWithErrorsCanBeCorrected(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(tools, "type: exit}", "type: exut}", 1)
	s := serve(t, bad, nil)
	if at := s.get("/api/state"); at.Get("generation").Float() != 0 || at.Get("tools").Len() != 0 || at.Get("problems").Len() == 0 {
		t.Errorf("the state is %s", at.JSON())
	}
	if status, code := s.code("POST", "/api/sessions", `{"tool":"asks"}`); status != http.StatusConflict || code != "no_program" {
		t.Errorf("a run of no program: %d %s", status, code)
	}
	events := s.follow("")
	if status, v := s.put(s.revision(), tools, ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, v.JSON())
	}
	until(t, events, func(e value.Value) bool { return e.Get("type").Str() == "reloaded" })
	id := s.start(`{"tool":"double","args":{"n":2}}`)
	inState(t, events, id, "done")
}

func TestFileIsGone(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if at := s.get("/api/state"); at.Get("problems").Elems()[0].Get("code").Str() != "unreadable-file" || at.Get("tools").Len() != 5 {
		t.Errorf("the state is %s", at.JSON())
	}
	if status, code := s.code("GET", "/api/file", ""); status != http.StatusNotFound || code != "not_found" {
		t.Errorf("%d %s", status, code)
	}
}

func TestGraphsAreEdited(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	edit := func(dry string) string {
		return `{"revision":"` + s.revision() + `","tool":"double","operations":[{"op":"renameNode","node":"times","to":"product"}],"dryRun":` + dry + `}`
	}
	v := s.post("/api/file/edit", edit("true"))
	if !strings.Contains(v.Get("diff").Str(), "+      - {id: product,") || s.text() != tools {
		t.Errorf("the edit would be %s", v.JSON())
	}
	v = s.post("/api/file/edit", edit("false"))
	want := strings.ReplaceAll(strings.ReplaceAll(tools, "next: times", "next: product"), "id: times", "id: product")
	if s.text() != want || v.Get("text").Str() != want || v.Get("revision").Str() != s.revision() {
		t.Errorf("the edit made\n%s", s.text())
	}
	for body, code := range map[string]string{
		strings.Replace(edit("false"), s.revision(), "old", 1): "conflict",
		edit("false"): "bad_edit",
		`{"revision":"` + s.revision() + `","tool":"double","operations":[{"op":"removeNode","node":"product"}]}`: "file_errors",
		`{"operations":[{"op":"what"}]}`: "bad_request",
	} {
		if _, got := s.code("POST", "/api/file/edit", body); got != code {
			t.Errorf("%s: %s, want %s", body, got, code)
		}
	}
	if s.text() != want {
		t.Error("a refused edit changed the file")
	}
}

// TestTextIsUnderstood asks what editors ask, with characters of several lengths before.
func TestTextIsUnderstood(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, nil)
	given := "# é😀\n" + tools
	at := func(word string) string {
		u := newUnits(given)
		return text(u.count(strings.Index(given, word)))
	}
	body := func(word string) string { return `{"text":` + text(given) + `,"offset":` + at(word) + `}` }
	v := s.post("/api/file/hover", body("description: Sizes"))
	if !strings.Contains(v.Get("markdown").Str(), "description") || text(int(v.Get("from").Float())) != at("description: Sizes") {
		t.Errorf("hover: %s", v.JSON())
	}
	if v := s.post("/api/file/hover", body("comment")); v.JSON() != "{}" {
		t.Errorf("hover of a comment: %s", v.JSON())
	}
	v = s.post("/api/file/complete", body("each\n        type: map"))
	found := false
	for _, i := range v.Get("items").Elems() {
		found = found || i.Get("label").Str() != "" && i.Get("kind").Str() != ""
	}
	v = s.post("/api/file/complete", body("transform, transform"))
	for _, i := range v.Get("items").Elems() {
		found = found || i.Get("insert").Str() == "switch" && i.Get("kind").Str() == "value"
	}
	if !found {
		t.Errorf("complete: %s", v.JSON())
	}
	v = s.post("/api/file/format", `{"text":"version:   \"1.0\"\ntools: []\n"}`)
	if v.Get("text").Str() != "version: \"1.0\"\ntools: []\n" {
		t.Errorf("format: %s", v.JSON())
	}
	if _, code := s.code("POST", "/api/file/format", `{"text":"tools: ["}`); code != "not_formatted" {
		t.Errorf("format of what is no YAML: %s", code)
	}
	v = s.post("/api/file/check", `{"text":`+text(strings.Replace(given, "type: map", "type: mapp", 1))+`}`)
	p := v.Get("problems").Elems()[1]
	if fix := p.Get("fixes").Elems(); len(fix) != 1 || text(int(fix[0].Get("edits").Elems()[0].Get("from").Float())) != at("map\n") ||
		fix[0].Get("edits").Elems()[0].Get("text").Str() != "map" {
		t.Errorf("the problem is %s", p.JSON())
	}
}

// TestEmptyFileHasItsProblem: a text without keys may become anything in an editor; the
// file of the page is a configuration.
func TestEmptyFileHasItsProblem(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"", "# nothing yet\n", "\n\n"} {
		s := serve(t, given, nil)
		state := s.get("/api/state").Get("problems").Elems()
		if len(state) != 1 || state[0].Get("code").Str() != "empty-file" || !strings.Contains(state[0].Get("hint").Str(), "version") {
			t.Errorf("%q: the problems are %v", given, state)
		}
		if checked := s.post("/api/file/check", `{"text":`+text(given)+`}`).Get("problems"); checked.Len() != 1 {
			t.Errorf("%q: checked: %s", given, checked.JSON())
		}
		if formatted := s.post("/api/file/format", `{"text":`+text(given)+`}`).Get("text").Str(); formatted != given {
			t.Errorf("%q is formatted as %q", given, formatted)
		}
		if items := s.post("/api/file/complete", `{"text":`+text(given)+`,"offset":`+text(len(given))+`}`).Get("items"); items.Len() == 0 {
			t.Errorf("%q: nothing can be written there", given)
		}
	}
}

// TestEditsMakeNoErrors: an edit that would add an error says so before, and is refused,
// also in a file that has errors already; one that adds none is saved there.
func TestEditsMakeNoErrors(t *testing.T) {
	t.Parallel()
	worse := strings.Replace(tools, "description: Asks a model", "descriptoin: Asks a model", 1)
	for name, given := range map[string]string{"good": tools, "with errors": worse} {
		s := serve(t, given, nil)
		edit := func(operation string, dry bool) string {
			return `{"revision":"` + s.revision() + `","tool":"double","operations":[` + operation + `],"dryRun":` + text(dry) + `}`
		}
		const bad = `{"op":"addNode","node":{"id":"new","type":"call","tool":"nothing","args":{}},"after":"double#times","via":"next"}`
		v := s.post("/api/file/edit", edit(bad, true))
		if refused := v.Get("refused").Elems(); len(refused) != 1 || !strings.Contains(refused[0].Get("message").Str(), "nothing") {
			t.Errorf("%s: it would be refused for %s", name, v.Get("refused").JSON())
		}
		status, code := s.code("POST", "/api/file/edit", edit(bad, false))
		if status != http.StatusUnprocessableEntity || code != "file_errors" || s.text() != given {
			t.Errorf("%s: a bad edit: %d %s", name, status, code)
		}
		const good = `{"op":"renameNode","node":"times","to":"product"}`
		if v := s.post("/api/file/edit", edit(good, true)); v.Has("refused") {
			t.Errorf("%s: a good edit would be refused: %s", name, v.Get("refused").JSON())
		}
		if s.post("/api/file/edit", edit(good, false)); !strings.Contains(s.text(), "id: product") {
			t.Errorf("%s: a good edit was not saved", name)
		}
	}
}

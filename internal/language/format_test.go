package language

import (
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	text := strings.Replace(house, "        type: mcp\n        server: files\n", "        server:   files\n        type: mcp\n", 1)
	doc := New("test.yaml", text, Options{}, nil)
	edits, err := Format(doc)
	if err != nil || len(edits) != 1 {
		t.Fatal(edits, err)
	}
	if !strings.HasPrefix(edits[0].New, "        type: mcp\n") {
		t.Errorf("the edit begins too early or too late: %q", edits[0].New)
	}
	done := applied(map[string]*Document{"test.yaml": doc}, edits)["test.yaml"]
	if !strings.Contains(done, "        type: mcp\n        server: files\n") {
		t.Error(done)
	}
	if again, err := Format(New("test.yaml", done, Options{}, nil)); err != nil || len(again) != 0 {
		t.Error(again, err)
	}
	if _, err := Format(New("test.yaml", house+"\n  - {", Options{}, doc)); err == nil || !strings.Contains(err.Error(), "YAML error") {
		t.Error(err)
	}
	if edits, err := Format(New("x.yaml", "services:   {}\n", Options{}, nil)); err != nil || edits != nil {
		t.Error(edits, err)
	}
}

func TestChangesAreWholeLines(t *testing.T) {
	for _, c := range [][2]string{
		{"a\nb\nc\n", "a\nx\nc\n"}, {"a\n", "a\nb\n"}, {"a\nb\n", "a\n"}, {"", "a\n"}, {"a", "a\n"}, {"aa\naa\naa\n", "aa\naa\n"},
		{"é\n", "è\n"}, {"x: 🏠\ny\n", "x: 🏡\ny\n"}, {"a\nb", "b"},
	} {
		e := changes("", c[0], c[1])
		if got := c[0][:e[0].From] + e[0].New + c[0][e[0].To:]; got != c[1] {
			t.Errorf("%q to %q: got %q", c[0], c[1], got)
		}
		if f := e[0].From; f > 0 && c[0][f-1] != '\n' {
			t.Errorf("%q to %q begins at %d", c[0], c[1], f)
		}
	}
	if changes("", "a", "a") != nil {
		t.Error("equal texts have an edit")
	}
}

// TestVariablesThatAreNotSet checks that they are no problem, whatever they stand
// for.
func TestVariablesThatAreNotSet(t *testing.T) {
	text := strings.Replace(house, "  web: {url: \"http://x\"}\n", `  web: {url: "${BASE}/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
  more: {url: "https://${HOST}/x", auth: {type: oauth2, flow: clientCredentials, tokenUrl: "${input:TOKEN_URL}", clientId: "${ID}", clientSecret: "${SECRET}"}}
`, 1)
	text = strings.Replace(text, `version: "1"}`, `version: "1", auth: {type: bearer, tokens: {bob: "${BOB}"}}}`, 1)
	for _, d := range New("test.yaml", text, Options{Getenv: func(string) (string, bool) { return "", false }}, nil).Diagnostics {
		if d.Code != "unused-server" {
			t.Error(d)
		}
	}
	set := func(name string) (string, bool) { return "ftp://x", name == "BASE" }
	for _, d := range New("test.yaml", text, Options{Getenv: set}, nil).Diagnostics {
		if d.Code == "bad-value" {
			return
		}
	}
	t.Error("a variable with a wrong value is no problem")
}

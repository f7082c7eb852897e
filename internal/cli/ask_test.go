package cli

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestQuestionsCannotMoveTheCursorOrTurnText(t *testing.T) {
	for text, want := range map[string]string{
		"Delete \x1b[2Ka\r?":                   "Delete  [2Ka ?",
		"Delete \u202egpj.exe\u2066":           "Delete  gpj.exe ",
		"Löschen\t\U0001f469\u200d\U0001f4bb?": "Löschen\t\U0001f469\u200d\U0001f4bb?",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is shown as %q, expected %q", text, got, want)
		}
	}
}

// lines answers with one line after the other.
type lines struct{ left []string }

func (l *lines) possible() bool { return true }

func (l *lines) line(context.Context, string) (string, error) {
	if len(l.left) == 0 {
		return "", io.EOF
	}
	one := l.left[0]
	l.left = l.left[1:]
	return one, nil
}

func TestFieldsAreAskedForUntilTheyFit(t *testing.T) {
	schema, err := value.Parse(`{"type":"object","required":["name","size","mail"],"properties":{
	  "name":{"type":"string"},"size":{"type":"string","enum":["S","L"]},"mail":{"type":"string","minLength":3},"note":{"type":"string"},"n":{"type":"integer","default":7}}}`)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := &answers{app: &app{terminal: terminal{stderr: &out}}, prompt: &lines{left: []string{"", "Ann", "M", "", "L", "a", "a@b", "", ""}}}
	got, err := s.fields(t.Context(), schema)
	if want := `{"name":"Ann","size":"L","mail":"a@b","n":7}`; err != nil || got.JSON() != want {
		t.Errorf("got %s, %v, want %s", got.JSON(), err, want)
	}
	if said := out.String(); strings.Count(said, "a value is required") != 2 || strings.Count(said, "\n") != 4 {
		t.Errorf("it said:\n%s", said)
	}
}

package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// TestManyProblemsAreBounded opens a file with more problems than an editor can show.
// All stand in one line, with a name of 40,000 characters.
func TestManyProblemsAreBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: \"1.0\"\nserver: {name: é, version: \"1\"}\ntools: [")
	long := strings.Repeat("é", 20_000)
	for i := range 3000 {
		fmt.Fprintf(&text, "{bad%d: 1}, ", i)
	}
	fmt.Fprintf(&text, "{%s: 1}]\n%s: 1\n", long, long)
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		c.open("file:///x.yaml", text.String())
		ds := c.diagnostics("file:///x.yaml")
		if len(ds) != maxProblem {
			t.Errorf("%d diagnostics", len(ds))
		}
		for _, d := range ds {
			if d.Severity != 1 {
				t.Fatalf("a warning took the place of an error: %+v", d)
			}
		}
		if sent, _ := json.Marshal(ds); len(sent) > maxAnswer {
			t.Errorf("the diagnostics have %d bytes", len(sent))
		}
		c.end()
	})
}

func TestFittingDiagnostics(t *testing.T) {
	list := make([]diagnostic, maxProblem)
	for i := range list {
		list[i] = diagnostic{Message: strings.Repeat("\"", 4000), Related: []relatedInfo{{Message: strings.Repeat("x", 2000)}}}
	}
	some := fitting(list)
	if text, _ := json.Marshal(some); len(text) > maxAnswer || len(some) < 300 {
		t.Errorf("%d diagnostics have %d bytes", len(some), len(text))
	}
	if all := fitting(list[:100]); len(all) != 100 {
		t.Errorf("%d of 100 fit", len(all))
	}
}

// TestLongAnswersAreRefused asks for the outline of a file with very many nodes.
func TestLongAnswersAreRefused(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: \"1.0\"\nserver: {name: s, version: \"1\"}\ntools:\n  - name: t\n    description: d\n    nodes:\n")
	for i := range 30_000 {
		fmt.Fprintf(&text, "      - {id: a_node_that_has_a_long_name_%d, type: exit}\n", i)
	}
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{})
		c.initialize(nil)
		c.open("file:///x.yaml", text.String())
		m := c.call("textDocument/documentSymbol", object{"textDocument": object{"uri": "file:///x.yaml"}})
		if m.Error == nil || !strings.Contains(m.Error.Message, "at most 5000000 are sent") || len(m.Result) > 0 {
			t.Errorf("the answer has %d bytes: %+v", len(m.Result), m.Error)
		}
		c.end()
	})
}

// TestPlacesInLongLines compares the index with a count from the start of the line.
func TestPlacesInLongLines(t *testing.T) {
	text := "first\r\n" + strings.Repeat("aé🏠\t", 2000) + "\rlast 🏠\n"
	for _, encoding := range []string{utf8Units, utf16Units, utf32Units} {
		x := newLineIndex(text, encoding)
		start, end := x.line(1)
		units := 0
		for i, r := range text[start:end] {
			p := x.position(start + i)
			if p.Line != 1 || int(p.Character) != units {
				t.Fatalf("%s: byte %d is at %+v, want %d", encoding, start+i, p, units)
			}
			if at := x.offset(p); at != start+i {
				t.Fatalf("%s: %+v is byte %d, want %d", encoding, p, at, start+i)
			}
			switch {
			case encoding == utf8Units:
				units += len(string(r))
			case encoding == utf16Units && r > 0xFFFF:
				units += 2
			default:
				units++
			}
		}
		if at := x.offset(Position{1, 1 << 30}); at != end {
			t.Errorf("%s: the end is byte %d, want %d", encoding, at, end)
		}
	}
}

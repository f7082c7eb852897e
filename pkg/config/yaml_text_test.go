package config

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// scalars calls f for every string, number, boolean and null of a tree, keys
// included.
func scalars(n *Node, f func(*Node)) {
	switch n.Kind() {
	case Scalar:
		f(n)
	case List:
		for _, item := range n.Items() {
			scalars(item, f)
		}
	case Map:
		for _, field := range n.Fields() {
			f(field.Key.node)
			scalars(field.Value, f)
		}
	}
}

// checkAlignment reports where the map from a value to the file is not exact:
// every byte of the value has to come from the same byte of the file, or be a
// line break, an escape or a doubled quote there.
func checkAlignment(n *Node) error {
	text, src := n.raw, n.doc.source
	a := n.doc.align(&n.written)
	for i, p := range a.pieces {
		end := len(text)
		if i+1 < len(a.pieces) {
			end = a.pieces[i+1].value
		}
		if p.value < 0 || end > len(text) || p.value >= end {
			return fmt.Errorf("piece %d covers %d to %d of %d bytes", i, p.value, end, len(text))
		}
		got := text[p.value:end]
		if p.width == 0 {
			if p.source+len(got) > len(src) || string(src[p.source:p.source+len(got)]) != got {
				return fmt.Errorf("bytes %d to %d of the value are %q, the file has something else at %d", p.value, end, got, p.source)
			}
			continue
		}
		written := string(src[min(p.source, len(src)):min(p.source+p.width, len(src))])
		switch {
		case strings.HasPrefix(written, `\`):
			if want, ok := unescape(written); !ok || want != got {
				return fmt.Errorf("%q in the file became %q", written, got)
			}
		case written == "''":
			if got != "'" {
				return fmt.Errorf("%q in the file became %q", written, got)
			}
		case written == "\n", written == "\r\n", written == "\r", written == "":
			if got != "\n" && got != " " {
				return fmt.Errorf("a line break became %q", got)
			}
		default:
			return fmt.Errorf("%q in the file does not mean %q", written, got)
		}
	}
	if len(a.pieces) > 0 && a.pieces[0].value != 0 || len(a.pieces) == 0 && text != "" {
		return fmt.Errorf("the beginning of %q is not covered", text)
	}
	return nil
}

// unescape reads one escape of a double-quoted string the slow way.
func unescape(e string) (string, bool) {
	_, root, _ := read("", []byte(`"`+e+`"`), nil)
	if root == nil {
		return "", false
	}
	return root.raw, true
}

func TestTextOfEveryStyleHasExactPlaces(t *testing.T) {
	tests := []struct {
		name, source string
		find         string // in the value
		want         diag.Pos
	}{
		{"plain", "a: foo $bar\n", "$", diag.Pos{Line: 1, Col: 8}},
		{"plain over lines", "a: foo\n  bar\n\n  $baz\n", "$", diag.Pos{Line: 4, Col: 3}},
		{"plain fold", "a: foo\n  bar\n", " bar", diag.Pos{Line: 1, Col: 7}},
		{"plain behind wide characters", "a: 日本é😀 $x\n", "$", diag.Pos{Line: 1, Col: 9}},
		{"single quoted", "a: 'it''s $x'\n", "$", diag.Pos{Line: 1, Col: 11}},
		{"single quoted quote", "a: 'it''s $x'\n", "'", diag.Pos{Line: 1, Col: 7}},
		{"single quoted over lines", "a: 'foo \n   \n  $bar'\n", "$", diag.Pos{Line: 3, Col: 3}},
		{"double quoted escapes", `a: "\t\x41\u00e9\U0001F600\\ $x"`, "$", diag.Pos{Line: 1, Col: 30}},
		{"double quoted escape itself", `a: "ab\u00e9"`, "é", diag.Pos{Line: 1, Col: 7}},
		{"double quoted surrogates", `a: "\ud83d\ude00$x"`, "$", diag.Pos{Line: 1, Col: 17}},
		{"double quoted lone surrogate", `a: "\ud83d $x"`, "$", diag.Pos{Line: 1, Col: 12}},
		{"double quoted continuation", "a: \"foo \\\n    \\ $bar\"\n", "$", diag.Pos{Line: 2, Col: 7}},
		{"double quoted fold", "a: \"foo\n\n  $bar\"\n", "\n", diag.Pos{Line: 2, Col: 1}},
		{"literal", "a: |\n  foo\n    $bar\n", "$", diag.Pos{Line: 3, Col: 5}},
		{"literal indent of the value", "a: |\n  foo\n    $bar\n", "  $", diag.Pos{Line: 3, Col: 3}},
		{"literal with indicator", "a: |1-\n   foo\n $bar", "$", diag.Pos{Line: 3, Col: 2}},
		{"literal break", "a: |\n  foo\n  bar\n", "\n", diag.Pos{Line: 2, Col: 6}},
		{"literal CRLF", "a: |\r\n  foo\r\n  $bar\r\n", "$", diag.Pos{Line: 3, Col: 3}},
		{"literal with empty lines first", "a: |\n\n \n  $x\n", "$", diag.Pos{Line: 4, Col: 3}},
		{"literal comment in header", "a: |+ # comment\n  $x\n\n", "$", diag.Pos{Line: 2, Col: 3}},
		{"folded", "a: >\n  foo\n  bar\n\n  $baz\n", "$", diag.Pos{Line: 5, Col: 3}},
		{"folded space", "a: >\n  foo\n  bar\n", " bar", diag.Pos{Line: 2, Col: 6}},
		{"folded empty line", "a: >\n  foo\n\n  bar\n", "\n", diag.Pos{Line: 3, Col: 1}},
		{"folded indented", "a: >-\n  foo\n    more\n  $bar\n", "$", diag.Pos{Line: 4, Col: 3}},
		{"behind anchor and tag", "a: &x !!str\n  'foo $'\n", "$", diag.Pos{Line: 2, Col: 8}},
		{"block behind anchor", "a: &x |\n  foo $\n", "$", diag.Pos{Line: 2, Col: 7}},
		{"byte order mark", "\ufeffa: $x\n", "$", diag.Pos{Line: 1, Col: 4}},
		{"line separator is no break", "a: x\u2028$y\n", "$", diag.Pos{Line: 1, Col: 6}},
		{"next line is no break", "a: \"x\u0085$y\"\n", "$", diag.Pos{Line: 1, Col: 7}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, root, ds := read("f.yaml", []byte(tt.source), nil)
			if root == nil || len(ds) > 0 {
				t.Fatalf("cannot read %q: %v", tt.source, ds)
			}
			n := root.Get("a")
			i := strings.Index(n.Text().String(), tt.find)
			if i < 0 {
				t.Fatalf("%q is not in %q", tt.find, n.Text().String())
			}
			if got := n.Text().At(i); got != tt.want {
				t.Errorf("byte %d of %q is at %v, want %v", i, n.Text().String(), got, tt.want)
			}
			if err := checkAlignment(n); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTextEndsJustBehindItsLastCharacter(t *testing.T) {
	tests := []struct {
		name, source string
		at, end      diag.Pos
	}{
		{"plain", "a: foo # x\n", diag.Pos{Line: 1, Col: 7}, diag.Pos{Line: 1, Col: 7}},
		{"quoted", "a: \"foo\"\n", diag.Pos{Line: 1, Col: 8}, diag.Pos{Line: 1, Col: 9}},
		{"literal", "a: |\n  foo\n\n", diag.Pos{Line: 2, Col: 6}, diag.Pos{Line: 2, Col: 6}},
		{"kept line breaks", "a: |+\n  foo\n\n", diag.Pos{Line: 2, Col: 6}, diag.Pos{Line: 2, Col: 6}},
		{"empty block", "a: |\n", diag.Pos{Line: 1, Col: 5}, diag.Pos{Line: 1, Col: 5}},
		{"empty quotes", "a: ''\n", diag.Pos{Line: 1, Col: 5}, diag.Pos{Line: 1, Col: 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, root, _ := read("f.yaml", []byte(tt.source), nil)
			text := root.Get("a").Text()
			if got := text.At(len(text.String())); got != tt.at {
				t.Errorf("At(len) is %v, want %v", got, tt.at)
			}
			if got := text.End(); got != tt.end {
				t.Errorf("End is %v, want %v", got, tt.end)
			}
		})
	}
}

func TestTextRangeEndsBehindTheLastCharacterOfTheRange(t *testing.T) {
	_, root, _ := read("f.yaml", []byte("a: \"x\\u00e9y\"\nb: |\n  one\n  two\n"), nil)
	a := root.Get("a").Text()
	if got, want := a.After(3), (diag.Pos{Line: 1, Col: 12}); got != want {
		t.Errorf("After the escape is %v, want %v", got, want)
	}
	if got, want := a.After(2), (diag.Pos{Line: 1, Col: 12}); got != want {
		t.Errorf("After a byte inside the character is %v, want %v", got, want)
	}
	b := root.Get("b").Text()
	if got, want := b.After(3), (diag.Pos{Line: 3, Col: 6}); got != want {
		t.Errorf("After the last character of a line is %v, want %v", got, want)
	}
}

func TestNodesKnowWhereTheyEnd(t *testing.T) {
	source := "a: {b: [1, 'two' ], c: *x , } # {\nd:\n  - e: f\n    g:\n"
	source = "x: &x {y: 1}\n" + source
	_, root, ds := read("f.yaml", []byte(source), nil)
	if root == nil {
		t.Fatal(ds)
	}
	tests := []struct {
		path []any
		want diag.Pos
	}{
		{[]any{"x"}, diag.Pos{Line: 1, Col: 13}},
		{[]any{"a"}, diag.Pos{Line: 2, Col: 30}},
		{[]any{"a", "b"}, diag.Pos{Line: 2, Col: 19}},
		{[]any{"a", "b", 1}, diag.Pos{Line: 2, Col: 17}},
		{[]any{"d", 0, "e"}, diag.Pos{Line: 4, Col: 9}},
	}
	for _, tt := range tests {
		if got := root.At(tt.path...).End(); got != tt.want {
			t.Errorf("%v ends at %v, want %v", tt.path, got, tt.want)
		}
	}
}

// randomYAML writes one scalar in a style and with contents taken at random.
func randomYAML(r *rand.Rand) string {
	words := []string{"foo", "b", "é", "日本", "😀", "$x.y", "'", "''", "\\", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\x41",
		" ", "  ", "\t", "#", ": ", "-", "\"", "\\\"", "{", "]", ",", "\u2028", "\u0085"}
	breaks := []string{"\n", "\r\n", "\n", "\n\n", "\n \n"}
	line := func() string {
		var b strings.Builder
		for range r.IntN(5) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	var b strings.Builder
	b.WriteString([]string{"a: ", "- ", "a:\n  - ", "? ", "a: {b: ", "a: &x ", "a: !!str "}[r.IntN(7)])
	switch r.IntN(4) {
	case 0:
		b.WriteString("p" + line())
		for range r.IntN(4) {
			b.WriteString(breaks[r.IntN(len(breaks))] + "      " + line())
		}
	case 1, 2:
		quote := []string{"'", "\""}[r.IntN(2)]
		b.WriteString(quote + line())
		for range r.IntN(4) {
			b.WriteString([]string{"", "\\", " "}[r.IntN(3)] + breaks[r.IntN(len(breaks))] + "     " + line())
		}
		b.WriteString(quote)
	default:
		b.WriteString([]string{"|", ">"}[r.IntN(2)] + []string{"", "-", "+", "2", "1-", "+3"}[r.IntN(6)] + "\n")
		for range r.IntN(6) {
			b.WriteString(strings.Repeat(" ", 3+r.IntN(4)) + line() + breaks[r.IntN(len(breaks))])
		}
	}
	if r.IntN(2) == 0 {
		b.WriteString("\n")
	}
	return b.String()
}

func TestEveryByteOfRandomScalarsHasItsPlace(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	checked, sources := 0, testscale.Of(10_000, 100_000)
	for range sources {
		source := randomYAML(r)
		_, root, _ := read("f.yaml", []byte(source), nil)
		if root == nil {
			continue
		}
		scalars(root, func(n *Node) {
			checked++
			if err := checkAlignment(n); err != nil {
				t.Fatalf("in %q: %v", source, err)
			}
		})
	}
	if checked < sources/10 {
		t.Errorf("only %d scalars were checked", checked)
	}
}

func FuzzText(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add([]byte(randomYAML(r)))
	}
	f.Add([]byte("a: |+\n\n  b\n\nc: >2-\n    d\n   e\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		_, root, _ := read("f.yaml", source, nil)
		if root == nil {
			return
		}
		budget := 10_000
		scalars(root, func(n *Node) {
			if budget--; budget < 0 {
				return
			}
			if err := checkAlignment(n); err != nil {
				t.Fatal(err)
			}
			text := n.Text()
			for i := range len(text.String()) + 2 {
				if text.At(i).IsZero() || text.After(i).Before(text.Pos()) {
					t.Fatalf("byte %d of %q has no place", i, text.String())
				}
			}
		})
	})
}

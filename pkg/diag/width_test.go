package diag

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// at returns what stands in a column of a printed line.
func at(line string, column int) string {
	for _, r := range line {
		if column <= 0 && columns(r) > 0 {
			return string(r)
		}
		column -= columns(r)
	}
	return ""
}

func TestTextFitsTheTerminal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	parts := []string{"a", "bc ", "日", "é", "e\u0301", "😀", "\t", "x-y: ", "語語", "."}
	for range 3000 {
		var b strings.Builder
		for range r.IntN(120) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		before := b.String()
		b.WriteString("§")
		for range r.IntN(120) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		col := len([]rune(before)) + 1
		d := Diagnostic{
			File: "f.yaml", Pos: Pos{1, col}, End: Pos{1, col + 1 + r.IntN(30)}, Code: "some-code",
			Message: strings.Repeat("what is wrong ", 1+r.IntN(12)), Hint: strings.Repeat("what to do ", 1+r.IntN(12)),
			Related: []Related{{Pos: Pos{1, 1}, Message: strings.Repeat("more of it ", 1+r.IntN(9))}},
		}
		width := 40 + r.IntN(160)
		lines := strings.Split(strings.TrimSuffix(text(t, b.String(), TextOptions{Width: width}, d), "\n"), "\n")
		marked := false
		for i, line := range lines {
			if n := columnsOf(line); n > width {
				t.Fatalf("%d columns for a width of %d: %q", n, width, line)
			}
			if caret := strings.IndexByte(line, '^'); !marked && strings.HasPrefix(line, "     |") {
				marked = true
				if got := at(lines[i-1], caret); got != "§" {
					t.Fatalf("width %d marks %q\n%s\n%s", width, got, lines[i-1], line)
				}
			}
		}
		if !marked {
			t.Fatal("nothing is marked")
		}
	}
}

func TestTextBreaksSentencesAtSpaces(t *testing.T) {
	d := Diagnostic{
		File: "f.yaml", Pos: Pos{1, 2}, Code: "some-code", Message: "node \"a\" leads to node \"b\", which does not exist",
		Hint: "did you mean another one of the nodes of this tool?", Related: []Related{{Message: "an-address-that-is-longer-than-a-line-of-this-terminal"}},
	}
	want := `f.yaml:1:2: error: node "a" leads to node "b",
    which does not exist [some-code]
   1 | abc
     |  ^
     = hint: did you mean another one of the
             nodes of this tool?
  f.yaml: note:
    an-address-that-is-longer-than-a-line-of-this-terminal
`
	if got := text(t, "abc", TextOptions{Width: 46}, d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := text(t, "abc", TextOptions{}, d); strings.Count(got, "\n") != 5 {
		t.Errorf("without a width\n%s", got)
	}
}

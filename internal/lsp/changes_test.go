package lsp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestChangesAreThoseOfTheWholeText makes many changes and compares the text with one
// whose lines are found again after each change. Some changes are inside a line break
// of two characters.
func TestChangesAreThoseOfTheWholeText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "é", "😀", "\n", "\r", "\r\n", ""}
	some := func(n int) string {
		var b strings.Builder
		for range random.IntN(n + 1) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for _, encoding := range []string{utf8Units, utf16Units, utf32Units} {
		for range 2000 {
			whole := some(12)
			c := newChangedText(whole, encoding)
			for range 5 {
				place := func() Position { return Position{uint32(random.IntN(6)), uint32(random.IntN(6))} }
				r, text := Range{place(), place()}, some(3)
				x := newLineIndex(whole, encoding)
				from, to := x.offset(r.Start), x.offset(r.End)
				before := whole
				whole = whole[:min(from, to)] + text + whole[max(from, to):]
				if !c.replace(r, text) || c.String() != whole || !slices.Equal(c.lines, splitLines(whole)) {
					t.Fatalf("%s: %q, %v becomes %q: got %q, want %q", encoding, before, r, text, c.lines, splitLines(whole))
				}
			}
		}
	}
}

// TestManyChangesCostTheirLines makes a change in each line: the bytes that are moved
// grow with the lines, and not with their square.
func TestManyChangesCostTheirLines(t *testing.T) {
	moved := func(lines int) int {
		c := newChangedText(strings.Repeat("0123456789\n", lines), utf16Units)
		for i := range lines {
			at := Position{uint32(i), 5}
			if !c.replace(Range{at, at}, fmt.Sprint(i%10)) {
				t.Fatal("too much")
			}
		}
		return c.moved
	}
	if n, twice := moved(2000), moved(4000); twice > 3*n {
		t.Errorf("%d bytes for 2,000 changes, %d for 4,000", n, twice)
	}
	long := newChangedText(strings.Repeat("x", 4<<20), utf16Units)
	changes := 0
	for long.replace(Range{Position{0, 5}, Position{0, 5}}, "y") {
		changes++
	}
	if changes > maxChangeBytes>>20 {
		t.Errorf("%d changes of a line of 4 MiB", changes)
	}
}

// TestManyNewLinesAreBounded adds lines at the begin of a long text, which moves all others.
func TestManyNewLinesAreBounded(t *testing.T) {
	const lines = 1 << 20
	c := newChangedText(strings.Repeat("\n", lines), utf16Units)
	changes := 0
	for c.replace(Range{}, "a\n") {
		if changes++; changes > maxChangeBytes/lineBytes/lines {
			t.Fatalf("%d changes moved %d lines each", changes, lines)
		}
	}
	if changes < 10 {
		t.Errorf("only %d changes are allowed", changes)
	}
}

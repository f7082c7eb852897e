package config

import (
	"sort"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Text is a string of a file that knows where each of its bytes was written,
// whatever way YAML has of writing it. It is immutable and safe for concurrent
// use. The zero Text is empty and nowhere.
type Text struct{ node *Node }

// String returns the string.
func (t Text) String() string {
	if t.node == nil {
		return ""
	}
	return t.node.raw
}

// File returns the path of the file that the string was read from.
func (t Text) File() string { return t.node.File() }

// Pos returns the place of the first character that belongs to the string: its
// opening quote or, in a block scalar, the | or >.
func (t Text) Pos() diag.Pos { return t.node.Pos() }

// End returns the place just behind the last character that belongs to the
// string, its closing quote included.
func (t Text) End() diag.Pos { return t.node.End() }

// At returns the place in the file where byte i of the string was written. A
// byte that an escape stands for has the place of the escape, a folded line
// break that of the break. At the length of the string, and behind it, it is
// the place just after the last character; in a block scalar, the end of its
// last line that is not empty.
func (t Text) At(i int) diag.Pos {
	if t.node == nil {
		return diag.Pos{}
	}
	return t.node.doc.lines.Pos(t.node.alignment().offset(t.String(), i))
}

// After returns the place just behind the character that byte i-1 of the string
// was written as: the end of a range of bytes that ends before i.
func (t Text) After(i int) diag.Pos {
	if t.node == nil {
		return diag.Pos{}
	}
	if i <= 0 {
		return t.At(0)
	}
	return t.node.doc.lines.Pos(t.node.alignment().after(t.String(), i))
}

// alignment maps the bytes of a value to those of the file.
type alignment struct {
	pieces []piece
	tail   int // offset just after the last character of the value
	end    int // offset just after the scalar
}

// piece is a stretch of a value. Where width is 0 each byte from value on was
// written as the byte at the same distance from source; else all of them stand
// for the width bytes at source.
type piece struct{ value, source, width int }

func (a *alignment) offset(text string, i int) int {
	if i >= len(text) || len(a.pieces) == 0 {
		return a.tail
	}
	p, i := a.find(text, i)
	if p.width > 0 {
		return p.source
	}
	return p.source + i - p.value
}

func (a *alignment) after(text string, i int) int {
	if len(a.pieces) == 0 {
		return a.tail
	}
	p, i := a.find(text, min(i, len(text))-1)
	if p.width > 0 {
		return p.source + p.width
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return p.source + i - p.value + size
}

// find returns the piece that holds byte i, and the first byte of the character
// that i belongs to.
func (a *alignment) find(text string, i int) (piece, int) {
	i = max(0, i)
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	k := sort.Search(len(a.pieces), func(k int) bool { return a.pieces[k].value > i })
	return a.pieces[max(0, k-1)], i
}

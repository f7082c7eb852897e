package lsp

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Position is a place in a text (LSP 3.17, Position): the line from 0, and the
// character from 0 in the units that client and server agreed on.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is what is between two places (LSP 3.17, Range).
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Encodings of characters in positions (LSP 3.17, PositionEncodingKind).
const (
	utf8Units  = "utf-8"
	utf16Units = "utf-16"
	utf32Units = "utf-32"
)

// lineIndex finds places in a text, at a cost that does not depend on the length of
// its lines.
type lineIndex struct {
	text     string
	starts   []int
	encoding string
	marks    []mark // before each blockSize bytes; nil if all is ASCII
}

// mark is how many code points, and units of the encoding, stand before a byte.
type mark struct{ points, units int }

const blockSize = 1024

func newLineIndex(text, encoding string) *lineIndex {
	x := &lineIndex{text: text, starts: []int{0}, encoding: encoding}
	ascii := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n', c == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			x.starts = append(x.starts, i+1)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if ascii {
		return x
	}
	var m mark
	for i := range text {
		for len(x.marks)*blockSize <= i {
			x.marks = append(x.marks, m)
		}
		m = x.after(m, i)
	}
	return x
}

// after returns the mark behind the character that begins at a byte.
func (x *lineIndex) after(m mark, i int) mark {
	r, size := utf8.DecodeRuneInString(x.text[i:])
	m.points++
	switch {
	case x.encoding == utf8Units:
		m.units += size
	case x.encoding == utf16Units && r > 0xFFFF:
		m.units += 2
	default:
		m.units++
	}
	return m
}

// line returns the bytes of a line without its line break.
func (x *lineIndex) line(n int) (start, end int) {
	start, end = x.starts[n], len(x.text)
	if n+1 < len(x.starts) {
		end = x.starts[n+1]
	}
	for end > start && (x.text[end-1] == '\n' || x.text[end-1] == '\r') {
		end--
	}
	return start, end
}

// find returns the first byte in a line before which a number of code points or
// units stand, as of counts them from the begin of the line, or the line's end.
func (x *lineIndex) find(start, end, n int, of func(mark) int) int {
	if x.marks == nil {
		return min(start+n, end)
	}
	want := of(x.before(start)) + n
	i, m := start, x.before(start)
	// The last block that does not begin behind it.
	block := sort.Search(len(x.marks), func(b int) bool { return of(x.marks[b]) > want }) - 1
	if at := x.begin(block); at > start {
		i, m = at, x.marks[block]
	}
	for i < end {
		next := x.after(m, i)
		if of(next) > want {
			break
		}
		_, size := utf8.DecodeRuneInString(x.text[i:])
		i, m = i+size, next
	}
	return min(i, end)
}

// begin returns the first byte of a block at which a character begins.
func (x *lineIndex) begin(block int) int {
	i := max(block, 0) * blockSize
	for i < len(x.text) && !utf8.RuneStart(x.text[i]) {
		i++
	}
	return i
}

// before returns the mark before a byte, or before the character that it is part of.
func (x *lineIndex) before(offset int) mark {
	if x.marks == nil {
		return mark{offset, offset}
	}
	block := min(offset/blockSize, len(x.marks)-1)
	m := x.marks[block]
	for i := x.begin(block); i < offset; {
		_, size := utf8.DecodeRuneInString(x.text[i:])
		if i+size > offset {
			break
		}
		m, i = x.after(m, i), i+size
	}
	return m
}

// offset returns the byte at a position. One behind the end of its line is the end
// of the line; one behind the last line is the end of the text.
func (x *lineIndex) offset(p Position) int {
	if int64(p.Line) >= int64(len(x.starts)) {
		return len(x.text)
	}
	start, end := x.line(int(p.Line))
	return x.find(start, end, int(p.Character), func(m mark) int { return m.units })
}

// position returns the position of a byte.
func (x *lineIndex) position(offset int) Position {
	offset = min(max(offset, 0), len(x.text))
	n := sort.SearchInts(x.starts, offset+1) - 1
	start, end := x.line(n)
	return Position{uint32(n), uint32(x.before(min(offset, end)).units - x.before(start).units)}
}

func (x *lineIndex) span(s language.Span) Range {
	return Range{x.position(s.From), x.position(s.To)}
}

// place returns the position of a place of a diagnostic.
func (x *lineIndex) place(p diag.Pos) Position {
	if p.Line < 1 || p.Line > len(x.starts) {
		return Position{}
	}
	start, end := x.line(p.Line - 1)
	return x.position(x.find(start, end, max(p.Col-1, 0), func(m mark) int { return m.points }))
}

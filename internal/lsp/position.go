package lsp

import (
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

// lineIndex finds the lines of a text.
type lineIndex struct {
	text     string
	starts   []int
	encoding string
}

func newLineIndex(text, encoding string) *lineIndex {
	x := &lineIndex{text: text, starts: []int{0}, encoding: encoding}
	for i := 0; i < len(text); {
		n := strings.IndexAny(text[i:], "\r\n")
		if n < 0 {
			break
		}
		if i += n; strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		i++
		x.starts = append(x.starts, i)
	}
	return x
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

// offset returns the byte at a position. One behind the end of its line is the end
// of the line; one behind the last line is the end of the text.
func (x *lineIndex) offset(p Position) int {
	if int64(p.Line) >= int64(len(x.starts)) {
		return len(x.text)
	}
	i, end := x.line(int(p.Line))
	for units := uint32(0); i < end; {
		r, size := utf8.DecodeRuneInString(x.text[i:end])
		if units += x.width(r, size); units > p.Character {
			break
		}
		i += size
	}
	return i
}

// width returns how many units a character has.
func (x *lineIndex) width(r rune, size int) uint32 {
	switch {
	case x.encoding == utf8Units:
		return uint32(size)
	case x.encoding == utf16Units && r > 0xFFFF:
		return 2
	}
	return 1
}

// position returns the position of a byte.
func (x *lineIndex) position(offset int) Position {
	offset = min(max(offset, 0), len(x.text))
	lo, hi := 0, len(x.starts) // the line is in [lo, hi)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; x.starts[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	start, end := x.line(lo)
	p := Position{Line: uint32(lo)}
	for i := start; i < min(offset, end); {
		r, size := utf8.DecodeRuneInString(x.text[i:end])
		if i+size > offset {
			break
		}
		p.Character += x.width(r, size)
		i += size
	}
	return p
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
	i := start
	for n := 1; n < p.Col && i < end; n++ {
		_, size := utf8.DecodeRuneInString(x.text[i:end])
		i += size
	}
	return x.position(i)
}

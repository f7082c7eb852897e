package diag

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// blockSize is how many bytes lie between two places whose code points were
// counted beforehand. It bounds what a look-up costs in a file of one long line.
const blockSize = 1024

// Lines is an index over the text of a file that turns byte offsets into
// positions and back at a cost that depends neither on the length of the file
// nor on that of its lines. Lines end with LF, CR LF or CR (YAML 1.2.2, 5.4).
// It is immutable and safe for concurrent use; the text must not change.
type Lines struct {
	text   []byte
	starts []int // byte offset of each line
	runes  []int // code points before byte i*blockSize; nil where all is ASCII
}

// NewLines indexes text.
func NewLines(text []byte) *Lines {
	l := &Lines{text: text, starts: []int{0}}
	ascii := true
	for i, c := range text {
		switch {
		case c == '\n', c == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			l.starts = append(l.starts, i+1)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if ascii {
		return l
	}
	l.runes = make([]int, 0, len(text)/blockSize+1)
	n := 0
	for i := 0; i < len(text); i += blockSize {
		l.runes = append(l.runes, n)
		n += countStarts(text[i:min(i+blockSize, len(text))])
	}
	return l
}

// countStarts counts the bytes that begin a code point, so that a block may end
// in the middle of one.
func countStarts(b []byte) int {
	n := 0
	for _, c := range b {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// Count is the number of lines, at least one.
func (l *Lines) Count() int { return len(l.starts) }

// Pos returns the position of the byte at offset; offsets outside the text are
// moved to its nearest end.
func (l *Lines) Pos(offset int) Pos {
	offset = max(0, min(offset, len(l.text)))
	line := sort.SearchInts(l.starts, offset+1)
	return Pos{Line: line, Col: l.runesBefore(offset) - l.runesBefore(l.starts[line-1]) + 1}
}

// Offset returns the byte offset of a position. A column behind the end of its
// line yields the line's end, a line behind the last the text's end.
func (l *Lines) Offset(p Pos) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(l.starts) {
		return len(l.text)
	}
	start, end := l.span(p.Line)
	if l.runes == nil {
		return max(start, min(start+p.Col-1, end))
	}
	if at := start + p.Col - 1; p.Col >= 1 && p.Col <= blockSize && at <= end && isASCII(l.text[start:at]) {
		return at // as most places are
	}
	want := l.runesBefore(start) + p.Col - 1
	// The last block that does not begin behind the wanted code point.
	block := sort.Search(len(l.runes), func(i int) bool { return l.runes[i] > want }) - 1
	at, n := start, l.runesBefore(start)
	if block >= 0 && block*blockSize > start {
		at, n = block*blockSize, l.runes[block]
	}
	for at < end && (n < want || !utf8.RuneStart(l.text[at])) {
		if utf8.RuneStart(l.text[at]) {
			n++
		}
		at++
	}
	return at
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Line returns the text of a line, counted from 1, without its line break, or
// nil if there is no such line.
func (l *Lines) Line(n int) []byte {
	if n < 1 || n > len(l.starts) {
		return nil
	}
	start, end := l.span(n)
	return l.text[start:end]
}

// span returns the offsets of a line's first byte and of its line break.
func (l *Lines) span(n int) (start, end int) {
	start, end = l.starts[n-1], len(l.text)
	if n < len(l.starts) {
		end = l.starts[n]
		end -= len(l.text[start:end]) - len(bytes.TrimRight(l.text[start:end], "\r\n"))
	}
	return start, end
}

func (l *Lines) runesBefore(offset int) int {
	if l.runes == nil {
		return offset
	}
	block := min(offset/blockSize, len(l.runes)-1)
	return l.runes[block] + countStarts(l.text[block*blockSize:offset])
}

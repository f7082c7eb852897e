package diag

import (
	"strings"
)

// proseLine is a line for people that goes on in the next one, indented, where
// it would be wider than the terminal.
type proseLine struct {
	t      *TextWriter
	column int
	indent int
}

// minProse is how many columns a word may always take.
const minProse = 30

// line begins a line whose further lines are indented.
func (t *TextWriter) line(indent int) *proseLine {
	if t.opts.Width-indent < minProse {
		indent = 0
	}
	return &proseLine{t: t, indent: indent}
}

// put adds text, broken at its spaces. A word that is wider than a line is left
// as it is.
func (l *proseLine) put(s style, text string) {
	width := l.t.opts.Width
	if width <= 0 || l.column+columnsOf(text) <= width {
		l.column += columnsOf(text)
		l.t.paint(s, text)
		return
	}
	for len(text) > 0 {
		// A piece is the spaces before a word, and the word.
		start := len(text) - len(strings.TrimLeft(text, " "))
		end := len(text)
		if i := strings.IndexByte(text[start:], ' '); i >= 0 {
			end = start + i
		}
		piece := text[:end]
		if start == end && l.column+columnsOf(piece) > width {
			return // spaces at the end
		}
		if start < end && l.column+columnsOf(piece) > width && l.column > l.indent {
			l.t.out.WriteString("\n" + strings.Repeat(" ", l.indent))
			l.column = l.indent
			piece = text[start:end]
		}
		l.t.paint(s, piece)
		l.column += columnsOf(piece)
		text = text[end:]
	}
}

func (l *proseLine) end() { l.t.out.WriteByte('\n') }

// columnsOf is how many columns a text takes.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

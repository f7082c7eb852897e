package edit

import (
	"bytes"
	"unicode/utf8"
)

// note is a line between two values: a comment, or a blank line if text is
// empty. col is the offset of the comment in its line.
type note struct {
	text string
	col  int
}

// gap is what stands between two values.
type gap struct {
	inline string // a comment on the first line, with the space before it
	notes  []note // the lines behind it
	broken bool   // there is a line break
	odd    bool   // there is something else than comments and white space
}

// hasComments reports whether a comment stands in the gap.
func (g gap) hasComments() bool {
	if g.inline != "" {
		return true
	}
	for _, n := range g.notes {
		if n.text != "" {
			return true
		}
	}
	return false
}

// gap reads the text from one offset to another.
func (p *printer) gap(from, to int) gap {
	var g gap
	for at := from; at < to; {
		end := lineEnd(p.src, at)
		whole := end < to // the line ends in the gap
		text := bytes.TrimRight(p.src[at:min(end, to)], " \t")
		content := bytes.TrimLeft(text, " \t")
		first := at == from && !p.isLineStart(from)
		switch {
		case len(content) > 0 && content[0] != '#':
			g.odd = true
		case first:
			if len(content) > 0 {
				g.inline = string(text)
			}
		case len(content) > 0 || whole:
			g.notes = append(g.notes, note{string(content), len(text) - len(content)})
		}
		g.broken = g.broken || whole
		at = end + 1
	}
	return g
}

func (p *printer) isLineStart(at int) bool { return at == 0 || p.src[at-1] == '\n' }

// lineEnd returns the offset of the line break at or behind an offset.
func lineEnd(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(src)
}

// lineStart returns the offset of the first byte of a line.
func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// column returns how many bytes stand before an offset in its line.
func (p *printer) column(at int) int { return at - lineStart(p.src, at) }

// indentOf returns the indentation of the line of an offset.
func indentOf(src []byte, at int) int {
	start := lineStart(src, at)
	n := start
	for n < len(src) && src[n] == ' ' {
		n++
	}
	return n - start
}

// newline ends the line that was written last.
func (p *printer) newline() {
	if p.fresh {
		p.fresh = false
		return
	}
	p.out = append(p.out, '\n')
}

// line begins a line with its indentation.
func (p *printer) line(col int) {
	p.newline()
	p.indent(col)
}

func (p *printer) indent(col int) {
	for range col {
		p.out = append(p.out, ' ')
	}
}

func (p *printer) write(s string) { p.out = append(p.out, s...) }

// notes writes comments and blank lines. Several blank lines become one.
func (p *printer) notes(notes []note, col int) {
	for i, n := range notes {
		if n.text == "" {
			if i == 0 || notes[i-1].text != "" {
				p.newline()
			}
			continue
		}
		p.line(col)
		p.write(n.text)
	}
}

// endLine writes the comment behind a value, and the comments below it that are
// indented further than the map or list of the value, whose column was oldCol.
func (p *printer) endLine(oldCol, newCol int) {
	oldInline, newInline := -1, 0
	if !p.isLineStart(p.pos) {
		if g := p.gap(p.pos, lineEnd(p.src, p.pos)); g.inline != "" {
			space := len(g.inline) - len(bytes.TrimLeft([]byte(g.inline), " \t"))
			oldInline = p.column(p.pos) + space
			newInline = utf8.RuneCount(p.out[lineStart(p.out, len(p.out)):]) + space
			p.write(g.inline)
			p.pos = lineEnd(p.src, p.pos)
		}
	}
	p.tail(oldCol, newCol, oldInline, newInline)
}

// tail writes the comments that follow and are indented further than oldCol. One
// that continues the comment behind a value stays below it.
func (p *printer) tail(oldCol, newCol, oldInline, newInline int) {
	at := p.pos
	if !p.isLineStart(at) {
		at = lineEnd(p.src, at) + 1
	}
	var pending []note
	for at < len(p.src) {
		end := lineEnd(p.src, at)
		text := bytes.TrimRight(p.src[at:end], " \t")
		content := bytes.TrimLeft(text, " \t")
		col := len(text) - len(content)
		switch {
		case len(content) == 0:
			pending = append(pending, note{})
			oldInline = -1
		case content[0] != '#' || col <= oldCol:
			return
		default:
			to := newCol + indentation
			if col == oldInline {
				to = newInline
			} else {
				oldInline = -1
			}
			p.notes(append(pending, note{text: string(content)}), to)
			pending, p.pos = nil, end
		}
		at = end + 1
	}
}

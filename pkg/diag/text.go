package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Sources holds the contents of files by the names that diagnostics use, for
// the lines shown under them. A file that is missing shows no line.
type Sources map[string][]byte

// TextOptions says how WriteText prints.
type TextOptions struct {
	// Color switches terminal colours on.
	Color bool
}

const (
	tabStop = 4
	// maxColumns is how much of a long line is shown; leadColumns of it stand
	// before the place.
	maxColumns  = 120
	leadColumns = 40
)

type style string

const (
	bold   style = "1"
	red    style = "1;31"
	yellow style = "1;33"
	blue   style = "1;34"
	cyan   style = "1;36"
)

type textWriter struct {
	out     bytes.Buffer
	color   bool
	sources Sources
	lines   map[string]*Lines
}

// WriteText prints problems for people, each with the line it is about, a mark
// under the very characters, its hint and the places related to it. It returns
// the first error of w.
func WriteText(w io.Writer, ds []Diagnostic, sources Sources, opts TextOptions) error {
	t := &textWriter{color: opts.Color, sources: sources, lines: map[string]*Lines{}}
	for _, d := range ds {
		t.diagnostic(d)
		if _, err := t.out.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

func (t *textWriter) diagnostic(d Diagnostic) {
	tone := map[Severity]style{Error: red, Warning: yellow, Info: cyan}[d.Severity]
	t.paint(bold, clean(d.place()))
	t.paint(tone, d.Severity.String()+":")
	t.out.WriteString(" ")
	t.paint(bold, clean(d.Message))
	if d.Code != "" {
		t.out.WriteString(" [" + clean(d.Code) + "]")
	}
	t.out.WriteByte('\n')
	gutter := t.snippet(d.File, d.Pos, d.End, tone)
	if d.Hint != "" {
		t.out.WriteString(strings.Repeat(" ", gutter))
		t.paint(blue, "= ")
		t.out.WriteString("hint: " + clean(d.Hint) + "\n")
	}
	for _, r := range d.Related {
		file := r.File
		if file == "" {
			file = d.File
		}
		t.out.WriteString("  ")
		t.paint(bold, clean(placeOf(file, r.Pos)))
		t.paint(cyan, "note:")
		t.out.WriteString(" " + clean(r.Message) + "\n")
		t.snippet(file, r.Pos, Pos{}, cyan)
	}
}

// snippet prints a line of a file with a mark under the characters from pos to
// end, and gives the width of the gutter before it.
func (t *textWriter) snippet(file string, pos, end Pos, tone style) int {
	index := t.index(file)
	if index == nil || pos.IsZero() || pos.Line > index.Count() {
		return 2
	}
	line := index.Line(pos.Line)
	start, _ := index.span(pos.Line)
	from := min(index.Offset(pos)-start, len(line))
	to := from
	switch {
	case end.Line == pos.Line && end.Col > pos.Col:
		to = min(index.Offset(end)-start, len(line))
	case end.Line > pos.Line:
		to = len(bytes.TrimRight(line, " \t"))
	}
	code, mark := window(line, from, max(from, to))
	number := fmt.Sprintf("%4d", pos.Line)
	t.paint(blue, number+" |")
	t.out.WriteString(" " + code + "\n")
	t.paint(blue, strings.Repeat(" ", len(number))+" |")
	t.out.WriteByte(' ')
	t.out.WriteString(strings.Repeat(" ", mark.column))
	t.paint(tone, "^"+strings.Repeat("~", mark.width-1))
	t.out.WriteByte('\n')
	return len(number) + 1
}

func (t *textWriter) index(file string) *Lines {
	if l, ok := t.lines[file]; ok {
		return l
	}
	text, ok := t.sources[file]
	if !ok {
		return nil
	}
	l := NewLines(bytes.TrimPrefix(text, []byte("\ufeff")))
	t.lines[file] = l
	return l
}

func (t *textWriter) paint(s style, text string) {
	if t.color && text != "" {
		t.out.WriteString("\x1b[" + string(s) + "m" + text + "\x1b[0m")
		return
	}
	t.out.WriteString(text)
}

// mark is the part of a printed line that is underlined, in columns.
type mark struct{ column, width int }

// window gives what to print of line around its bytes from up to to, with tabs
// expanded, and where those bytes then stand. Of a line of megabytes only what
// is printed is looked at.
func window(line []byte, from, to int) (string, mark) {
	var b strings.Builder
	first := windowStart(line, from)
	column := 0
	if first > 0 {
		b.WriteString("… ")
		column = 2
	}
	m := mark{column: -1}
	end := 0
	i := first
	for i < len(line) && column < maxColumns {
		if i >= from && m.column < 0 {
			m.column = column
		}
		r, size := utf8.DecodeRune(line[i:])
		w := 1
		if r == '\t' {
			w = tabStop - column%tabStop
			b.WriteString(strings.Repeat(" ", w))
		} else {
			r = printable(r)
			w = columns(r)
			b.WriteRune(r)
		}
		column += w
		i += size
		if i <= to {
			end = column
		}
	}
	if m.column < 0 {
		m.column = column
	}
	if i < len(line) {
		b.WriteString(" …")
	}
	m.width = max(1, end-m.column)
	return strings.TrimRight(b.String(), " "), m
}

// windowStart gives the byte at which the printed part of a line begins: the
// line's own where the place is not far from it.
func windowStart(line []byte, from int) int {
	column, i := 0, from
	for i > 0 && column < maxColumns*2/3 {
		r, size := utf8.DecodeLastRune(line[:i])
		column += columns(r)
		i -= size
	}
	if i == 0 {
		return 0
	}
	column, i = 0, from
	for column < leadColumns {
		r, size := utf8.DecodeLastRune(line[:i])
		column += columns(r)
		i -= size
	}
	return i
}

// clean makes one line that is safe to print out of any text.
func clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return printable(r) != r }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return printable(r)
	}, s)
}

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

// TextOptions configures WriteText.
type TextOptions struct {
	// Color switches terminal colours on.
	Color bool
	// Width is how many columns a line may take; 0 is for where no terminal
	// shows it. Then only source lines of more than about 120 columns are cut.
	Width int
	// MaxProblems is how many problems of one file are printed, the errors first,
	// before the number of the others; 0 prints all.
	MaxProblems int
}

// DefaultMaxProblems is the usual MaxProblems: more than a person reads.
const DefaultMaxProblems = 200

const (
	tabStop = 4
	// maxColumns is how much of a long line is shown if there is no terminal, and
	// minColumns how much at least. A third of what is shown stands before the
	// place.
	maxColumns = 120
	minColumns = 20
)

type style string

const (
	bold   style = "1"
	red    style = "1;31"
	yellow style = "1;33"
	blue   style = "1;34"
	cyan   style = "1;36"
)

// TextWriter prints problems for people. It indexes each source once, however often
// it prints. For one goroutine.
type TextWriter struct {
	w       io.Writer
	out     bytes.Buffer
	opts    TextOptions
	sources Sources
	lines   map[string]*Lines
}

// NewTextWriter returns a TextWriter that prints to w.
func NewTextWriter(w io.Writer, sources Sources, opts TextOptions) *TextWriter {
	return &TextWriter{w: w, opts: opts, sources: sources, lines: map[string]*Lines{}}
}

// WriteText prints problems once; see [TextWriter.Write].
func WriteText(w io.Writer, ds []Diagnostic, sources Sources, opts TextOptions) error {
	return NewTextWriter(w, sources, opts).Write(ds)
}

// Write prints problems, each with the line it is about, a mark under the very
// characters, its hint and the places related to it. It returns the first error of
// the writer.
func (t *TextWriter) Write(ds []Diagnostic) error {
	left := map[string]int{} // problems of a file that are still to come
	for _, d := range ds {
		left[d.File]++
	}
	for file, n := range left {
		if most := t.opts.MaxProblems; most <= 0 || n <= most {
			delete(left, file)
		}
	}
	done := map[string]bool{}
	for _, d := range ds {
		switch {
		case left[d.File] == 0:
			t.diagnostic(d.bounded())
		case done[d.File]:
			continue
		default:
			done[d.File] = true
			t.most(d.File, ds)
		}
		if _, err := t.out.WriteTo(t.w); err != nil {
			return err
		}
	}
	return nil
}

// most prints the worst problems of a file that has too many, and how many others
// there are.
func (t *TextWriter) most(file string, ds []Diagnostic) {
	var all []Diagnostic
	for _, d := range ds {
		if d.File == file {
			all = append(all, d)
		}
	}
	errorsFirst(all)
	shown := all[:t.opts.MaxProblems]
	for _, d := range shown {
		t.diagnostic(d.bounded())
	}
	var more []string
	for s := Error; s <= Info; s++ {
		n := 0
		for _, d := range all[len(shown):] {
			if d.Severity == s {
				n++
			}
		}
		if n > 0 {
			more = append(more, fmt.Sprintf("%d %ss", n, s))
		}
	}
	l := t.line(4)
	l.put(bold, clean(placeOf(file, Pos{})))
	l.put("", fmt.Sprintf("%s (%s); `mcpgraph validate --max-problems 0` shows all",
		notShown(len(all)-len(shown), len(all)), strings.Join(more, ", ")))
	l.end()
}

func (t *TextWriter) diagnostic(d Diagnostic) {
	tone := map[Severity]style{Error: red, Warning: yellow, Info: cyan}[d.Severity]
	l := t.line(4)
	l.put(bold, clean(d.place()))
	l.put(tone, d.Severity.String()+":")
	l.put(bold, " "+clean(d.Message))
	if d.Code != "" {
		l.put("", " ["+clean(d.Code)+"]")
	}
	l.end()
	gutter := t.snippet(d.File, d.Pos, d.End, tone)
	if d.Hint != "" {
		const label = "hint: "
		l := t.line(gutter + 2 + len(label))
		l.put("", strings.Repeat(" ", gutter))
		l.put(blue, "= ")
		l.put("", label+clean(d.Hint))
		l.end()
	}
	for _, r := range d.Related {
		file := r.File
		if file == "" {
			file = d.File
		}
		l := t.line(4)
		l.put("", "  ")
		l.put(bold, clean(placeOf(file, r.Pos)))
		l.put(cyan, "note:")
		l.put("", " "+clean(r.Message))
		l.end()
		t.snippet(file, r.Pos, Pos{}, cyan)
	}
}

// snippet prints a line of a file with a mark under the characters from pos to
// end, and returns the width of the gutter before it.
func (t *TextWriter) snippet(file string, pos, end Pos, tone style) int {
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
	number := fmt.Sprintf("%4d", pos.Line)
	shown := maxColumns
	if t.opts.Width > 0 {
		shown = max(minColumns, t.opts.Width-len(number)-len(" | ")-2)
	}
	code, mark := window(line, from, max(from, to), shown)
	t.paint(blue, number+" |")
	t.out.WriteString(" " + code + "\n")
	t.paint(blue, strings.Repeat(" ", len(number))+" |")
	t.out.WriteByte(' ')
	t.out.WriteString(strings.Repeat(" ", mark.column))
	t.paint(tone, "^"+strings.Repeat("~", mark.width-1))
	t.out.WriteByte('\n')
	return len(number) + 1
}

func (t *TextWriter) index(file string) *Lines {
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

func (t *TextWriter) paint(s style, text string) {
	if t.opts.Color && s != "" && text != "" {
		t.out.WriteString("\x1b[" + string(s) + "m" + text + "\x1b[0m")
		return
	}
	t.out.WriteString(text)
}

// mark is the part of a printed line that is underlined, in columns.
type mark struct{ column, width int }

// window returns what to print of line around its bytes from up to to, with
// tabs expanded, and where those bytes then stand: up to shown columns and the
// mark that the line goes on. Of a line of megabytes only what is printed is
// looked at.
func window(line []byte, from, to, shown int) (string, mark) {
	var b strings.Builder
	first := windowStart(line, from, shown)
	column := 0
	if first > 0 {
		b.WriteString("… ")
		column = 2
	}
	if fits(line[first:], column, shown+2) {
		shown += 2 // as many columns as the mark would take
	}
	m := mark{column: -1}
	end := 0
	i := first
	for i < len(line) {
		r, size := utf8.DecodeRune(line[i:])
		w := columnsAt(r, column)
		if column+w > shown {
			break
		}
		if i >= from && m.column < 0 {
			m.column = column
		}
		if r == '\t' {
			b.WriteString(strings.Repeat(" ", w))
		} else {
			b.WriteRune(printable(r))
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

// columnsAt is how many columns a character takes that begins at a column.
func columnsAt(r rune, column int) int {
	if r == '\t' {
		return tabStop - column%tabStop
	}
	return columns(printable(r))
}

// fits reports whether the rest of a line, from a column on, ends before the
// column limit.
func fits(line []byte, column, limit int) bool {
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if column += columnsAt(r, column); column > limit {
			return false
		}
		i += size
	}
	return true
}

// windowStart returns the byte at which the printed part of a line begins: the
// line's own where the place is not far from it.
func windowStart(line []byte, from, shown int) int {
	back := func(limit int) int {
		column, i := 0, from
		for i > 0 && column < limit {
			r, size := utf8.DecodeLastRune(line[:i])
			if column += columnsAt(r, 0); column > limit {
				break
			}
			i -= size
		}
		return i
	}
	if back(shown*2/3) == 0 {
		return 0
	}
	return back(shown / 3)
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

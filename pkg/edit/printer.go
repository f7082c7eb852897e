package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

const (
	// indentation is how many spaces a level is indented.
	indentation = 2
	// width is the column beyond which an expression becomes a block.
	width = 100
)

// printer writes a file again, value by value. src has LF as its only line break.
type printer struct {
	src     []byte
	pos     int // everything before it is written
	out     []byte
	fresh   bool // out ends with a line break, or is empty
	grammar *grammar
}

// file writes the whole file and reports whether it could.
func (p *printer) file(root *config.Layout, kind part) bool {
	start := lineStart(p.src, root.Start)
	if len(bytes.TrimSpace(p.src[start:root.Start])) > 0 || root.HasProperties() || root.Kind == config.Scalar {
		return false
	}
	p.fresh = true
	p.outside(p.src[:start])
	p.pos = start
	if len(p.out) > 0 && bytes.HasSuffix(p.src[:start], []byte("\n\n")) {
		p.newline()
	}
	if root.Style == config.FlowStyle {
		p.line(0)
		p.write(p.flow(root, kind))
		p.pos = root.End
		p.endLine(0, -indentation)
	} else {
		p.block(root, kind, 0, nil, false)
	}
	rest := p.src[p.pos:]
	if !p.isLineStart(p.pos) {
		end := lineEnd(p.src, p.pos)
		if len(bytes.TrimSpace(p.src[p.pos:end])) > 0 {
			return false
		}
		rest = p.src[min(end+1, len(p.src)):]
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		if rest[0] == '\n' {
			p.newline()
		}
		p.outside(rest)
	}
	if !p.fresh {
		p.out = append(p.out, '\n')
	}
	return true
}

// outside writes what stands before or behind the document.
func (p *printer) outside(text []byte) {
	var notes []note
	for line := range strings.Lines(string(bytes.TrimSpace(text))) {
		notes = append(notes, note{text: strings.TrimSpace(line)})
	}
	p.notes(notes, 0)
}

// block writes a map or list in block style, its items at a column. lead are the
// comments before the first item. It begins on the current line if inline is
// set. It returns the comments that belong above the line on which it began.
func (p *printer) block(l *config.Layout, kind part, col int, lead []note, inline bool) []note {
	switch {
	case !p.isRegular(l):
		p.notes(lead, col)
		if !inline {
			p.line(col)
		}
		p.write(shift(string(p.src[l.Start:l.End]), col-p.column(l.Start), 0))
		p.pos = l.End
		p.fresh = p.isLineStart(l.End)
		p.endLine(p.column(l.Start), col)
		return nil
	case l.Kind == config.Map:
		return p.blockMap(l, kind, col, lead, inline)
	default:
		return p.blockList(l, kind, col, lead, inline)
	}
}

// isRegular reports whether a block is written as usual: keys on one line with
// their colons, nothing but comments in between.
func (p *printer) isRegular(l *config.Layout) bool {
	at := l.Content
	for i, item := range l.Items {
		if l.Kind == config.Map && i%2 == 1 {
			continue
		}
		if l.Kind == config.List {
			dash := p.dash(at)
			if dash < 0 || item.Start < dash || !item.IsEmpty() && p.oddProperties(item, dash+1) {
				return false
			}
			at = item.End
			continue
		}
		if item.Start < at || i > 0 && p.gap(at, item.Start).odd || item.Kind != config.Scalar ||
			bytes.IndexByte(p.src[item.Start:item.End], '\n') >= 0 {
			return false
		}
		colon := p.colon(item.End)
		value := l.Items[i+1]
		if colon < 0 || !value.IsEmpty() && p.oddProperties(value, colon+1) {
			return false
		}
		at = max(value.End, colon+1)
	}
	return len(l.Items) > 0
}

// oddProperties reports whether something unusual stands before a value, or
// between its anchor and itself.
func (p *printer) oddProperties(l *config.Layout, from int) bool {
	if p.gap(from, l.Start).odd {
		return true
	}
	if !l.HasProperties() {
		return false
	}
	end := propertiesEnd(p.src, l.Start)
	return l.Style != config.BlockStyle && end < l.Content && p.gap(end, l.Content).broken
}

// dash returns the offset of the next dash behind comments, or -1.
func (p *printer) dash(at int) int {
	for at < len(p.src) {
		switch c := p.src[at]; {
		case c == ' ' || c == '\t' || c == '\n':
			at++
		case c == '#':
			at = lineEnd(p.src, at)
		case c == '-':
			return at
		default:
			return -1
		}
	}
	return -1
}

// colon returns the offset of the colon behind a key, or -1.
func (p *printer) colon(at int) int {
	for at < len(p.src) && (p.src[at] == ' ' || p.src[at] == '\t') {
		at++
	}
	if at < len(p.src) && p.src[at] == ':' {
		return at
	}
	return -1
}

// propertiesEnd returns the offset behind the anchor and the tag at an offset.
func propertiesEnd(src []byte, at int) int {
	end := at
	for at < len(src) && (src[at] == '&' || src[at] == '!') {
		for at < len(src) && src[at] != ' ' && src[at] != '\t' && src[at] != '\n' {
			at++
		}
		end = at
		for at < len(src) && (src[at] == ' ' || src[at] == '\t') {
			at++
		}
	}
	return end
}

// entry is a key with its value, written but not yet put in its place.
type entry struct {
	lead []note
	text []byte
	open bool // text ends with a line break
}

func (p *printer) blockMap(l *config.Layout, kind part, col int, lead []note, inline bool) []note {
	order := p.grammar.order(l, kind)
	oldCol := p.column(l.Items[0].Start)
	entries := make([]entry, 0, len(order))
	for i := 0; i < len(l.Items); i += 2 {
		key, v := l.Items[i], l.Items[i+1]
		if i > 0 {
			lead = p.gap(p.pos, key.Start).notes
		}
		if order == nil {
			p.notes(lead, col)
		}
		mark, fresh := len(p.out), p.fresh
		if i > 0 || !inline {
			p.line(col)
		}
		start := len(p.out)
		p.write(string(p.src[key.Start:key.End]) + ":")
		p.value(v, place{after: p.colon(key.End) + 1, kind: p.grammar.child(kind, l, key.Text), oldCol: oldCol, col: col})
		if order != nil {
			entries = append(entries, entry{lead, bytes.Clone(p.out[start:]), p.fresh})
			p.out, p.fresh = p.out[:mark], fresh
		}
	}
	var hoisted []note
	for at, i := range order {
		e := entries[i]
		switch {
		case at > 0 || !inline:
			if at == 0 {
				e.lead = withoutLeadingBlank(e.lead)
			}
			p.notes(e.lead, col)
			p.line(col)
		case i > 0:
			hoisted = slices.DeleteFunc(slices.Clone(e.lead), func(n note) bool { return n.text == "" })
		}
		p.out, p.fresh = append(p.out, e.text...), e.open
	}
	return hoisted
}

func withoutLeadingBlank(notes []note) []note {
	for len(notes) > 0 && notes[0].text == "" {
		notes = notes[1:]
	}
	return notes
}

func (p *printer) blockList(l *config.Layout, kind part, col int, lead []note, inline bool) []note {
	var above []note
	at := l.Content
	oldCol := p.column(p.dash(at))
	for i, item := range l.Items {
		dash := p.dash(at)
		if i > 0 {
			lead = p.gap(p.pos, dash).notes
		}
		p.notes(lead, col)
		if i > 0 || !inline {
			p.newline()
		}
		start := len(p.out)
		if i > 0 || !inline {
			p.indent(col)
		}
		p.write("-")
		hoisted := p.value(item, place{after: dash + 1, kind: p.grammar.item(kind), oldCol: oldCol, col: col, item: true})
		if i == 0 && inline {
			above = hoisted
		} else if hoisted != nil {
			var b bytes.Buffer
			for _, n := range hoisted {
				b.WriteString(strings.Repeat(" ", col) + n.text + "\n")
			}
			p.out = slices.Insert(p.out, start, b.Bytes()...)
		}
		at = max(item.End, dash+1)
	}
	return above
}

// place is where a value stands: behind an offset, in a map or list whose column
// was oldCol and is now col.
type place struct {
	after       int
	kind        part
	oldCol, col int
	item        bool // in a list
}

// value writes a value behind its key or dash, and the comments that belong to
// it. It returns the comments that belong above the line.
func (p *printer) value(v *config.Layout, at place) []note {
	p.pos = at.after
	if v.IsEmpty() {
		p.endLine(at.oldCol, at.col)
		return nil
	}
	g := p.gap(at.after, v.Start)
	if v.Style == config.BlockStyle {
		return p.blockValue(v, g, at)
	}
	if !g.hasComments() && p.asBlock(v, at) {
		p.tail(at.oldCol, at.col, -1, 0)
		return nil
	}
	indent := at.col + indentation
	if g.broken && (g.hasComments() || !at.item && !isBlockScalar(v)) {
		p.write(g.inline)
		p.notes(g.notes, indent)
		p.line(indent)
	} else {
		p.write(" ")
	}
	p.pos = v.End
	switch {
	case isBlockScalar(v):
		blockScalar(p, v, at)
	case v.Style == config.FlowStyle:
		text := p.flow(v, at.kind)
		p.write(shift(text, indentOf(p.out, len(p.out))-indentOf(p.src, v.Start), 0))
	default:
		p.write(continued(string(p.src[v.Start:v.End]), indent))
	}
	p.endLine(at.oldCol, at.col)
	return nil
}

// blockValue writes a map or list in block style behind its key or dash.
func (p *printer) blockValue(v *config.Layout, g gap, at place) []note {
	if v.HasProperties() {
		end := propertiesEnd(p.src, v.Start)
		p.write(" " + string(p.src[v.Start:end]))
		more := p.gap(end, v.Content)
		if g.inline == "" {
			g.inline = more.inline
		} else if more.inline != "" {
			g.notes = append(g.notes, note{text: strings.TrimSpace(more.inline)})
		}
		g.notes = append(g.notes, more.notes...)
	}
	col := at.col + indentation
	if at.item && !v.HasProperties() && !g.hasComments() {
		p.write(" ")
		hoisted := p.block(v, at.kind, col, nil, true)
		p.tail(at.oldCol, at.col, -1, 0)
		return hoisted
	}
	p.write(g.inline)
	p.block(v, at.kind, col, g.notes, false)
	p.tail(at.oldCol, at.col, -1, 0)
	return nil
}

// shift indents the lines of a text behind the first one by delta columns, but
// not less than lowest.
func shift(text string, delta, lowest int) string {
	if delta == 0 || !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
			content := strings.TrimLeft(line, " ")
			if content == "" {
				continue
			}
			b.WriteString(strings.Repeat(" ", max(lowest, len(line)-len(content)+delta)))
			line = content
		}
		b.WriteString(line)
	}
	return b.String()
}

// continued puts the lines of a plain or quoted scalar behind the first one at a
// column. The white space before them is not part of the scalar.
func continued(text string, col int) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if line = strings.TrimLeft(line, " \t"); line != "" {
			line = strings.Repeat(" ", col) + line
		}
		lines[i+1] = line
	}
	return strings.Join(lines, "\n")
}

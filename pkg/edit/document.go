package edit

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Document is a configuration or test file that is edited. It is immutable and
// safe for concurrent use.
type Document struct {
	path   string
	source []byte // as it was read
	mark   int    // the length of the byte order mark
	// returns are the offsets, in the version's text, of the line breaks that are
	// CR LF in the source.
	returns []int
	breaks  string
	version
}

// Parse reads a file for edits. The error is an *InvalidError if it is not valid
// YAML.
func Parse(path string, source []byte) (*Document, error) {
	d, text := newDocument(path, source)
	v, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	d.version = v
	return d, nil
}

// newDocument returns a document that is not parsed, and its text with LF as line
// break.
func newDocument(path string, source []byte) (*Document, []byte) {
	text, _ := bytes.CutPrefix(source, byteOrderMark)
	d := &Document{path: path, source: source, mark: len(source) - len(text), breaks: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		clean := make([]byte, 0, len(text))
		for i, c := range text {
			if c == '\r' && i+1 < len(text) && text[i+1] == '\n' {
				d.returns = append(d.returns, len(clean))
				continue
			}
			clean = append(clean, c)
		}
		text, d.breaks = clean, "\r\n"
	}
	return d, text
}

// Source returns the text of the file. The caller must not change it.
func (d *Document) Source() []byte { return d.source }

// Revision returns the revision of the text, for Write.
func (d *Document) Revision() Revision { return RevisionOf(d.source) }

// Value returns the file as a JSON value.
func (d *Document) Value() value.Value { return d.value }

// TextEdit replaces the bytes of a text from Start to End.
type TextEdit struct {
	Start, End int
	Text       string
}

// Edit applies operations, one after the other: the path of each is that in the
// result of those before it. It returns the edits of the source, in its order and
// apart from each other, and the document that they make.
//
// After an error nothing has changed. The error wraps ErrUnsafe if an edit would
// change something else too, such as the other places where an anchor is used.
// What an edit does not concern stays as it is, byte for byte.
func (d *Document) Edit(operations ...Operation) ([]TextEdit, *Document, error) {
	pieces := []piece{{from: 0, to: len(d.text)}}
	now := d.version
	for i, op := range operations {
		e := &editor{printer: printer{src: now.text, grammar: theGrammar()}, now: now, kind: rootPart(d.path, now.layout)}
		next, err := e.run(d.path, op)
		if err != nil {
			return nil, nil, fmt.Errorf("operation %d, %s: %w", i+1, op, err)
		}
		for _, edit := range slices.Backward(e.edits) {
			pieces = replace(pieces, edit)
		}
		now = next
	}
	edits := d.editsOf(pieces)
	result, text := newDocument(d.path, Apply(d.source, edits))
	if !bytes.Equal(text, now.text) {
		return nil, nil, fmt.Errorf("%w: the line breaks of the file are mixed", ErrUnsafe)
	}
	result.version = now
	return edits, result, nil
}

// Apply returns a text after edits, which must be sorted and must not overlap.
func Apply(source []byte, edits []TextEdit) []byte {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, source[at:e.Start]...), e.Text...)
		at = e.End
	}
	return append(out, source[at:]...)
}

// piece is a part of a text that is edited: some of what was there, or new text.
type piece struct {
	from, to int
	text     string // if it is new
	isNew    bool
}

func (p piece) len() int {
	if p.isNew {
		return len(p.text)
	}
	return p.to - p.from
}

func (p piece) cut(from, to int) piece {
	if p.isNew {
		return piece{text: p.text[from:to], isNew: true}
	}
	return piece{from: p.from + from, to: p.from + to}
}

// replace applies one edit to the text that pieces make.
func replace(pieces []piece, e TextEdit) []piece {
	var out []piece
	at, inserted := 0, false
	insert := func() {
		if !inserted && e.Text != "" {
			out = append(out, piece{text: e.Text, isNew: true})
		}
		inserted = true
	}
	for _, p := range pieces {
		n := p.len()
		if before := min(n, e.Start-at); before > 0 {
			out = append(out, p.cut(0, before))
		}
		if at+n >= e.Start && at <= e.End && e.Start < at+n {
			insert()
		}
		if after := max(0, e.End-at); after < n && at+n > e.Start {
			out = append(out, p.cut(max(after, min(n, e.Start-at), 0), n))
		}
		at += n
	}
	insert()
	return out
}

// editsOf returns the edits of the source that lead to the pieces.
func (d *Document) editsOf(pieces []piece) []TextEdit {
	var edits []TextEdit
	at, text := 0, ""
	flush := func(to int) {
		if to > at || text != "" {
			if d.breaks != "\n" {
				text = string(bytes.ReplaceAll([]byte(text), []byte("\n"), []byte(d.breaks)))
			}
			edits = append(edits, TextEdit{d.offset(at), d.offset(to), text})
		}
		text = ""
	}
	for _, p := range pieces {
		switch {
		case p.isNew:
			text += p.text
		case p.to > p.from:
			flush(p.from)
			at = p.to
		}
	}
	flush(len(d.text))
	return edits
}

// offset returns the offset in the source of one in the text.
func (d *Document) offset(at int) int { return d.mark + at + sort.SearchInts(d.returns, at) }

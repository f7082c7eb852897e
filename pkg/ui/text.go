package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

type pos struct {
	Line int `json:"line"` // from 1
	Col  int `json:"col"`  // from 1, in characters
}

// place is a range of a file.
type place struct {
	From pos `json:"from"`
	To   pos `json:"to"` // behind the last character
}

func placeOf(from, to diag.Pos) place {
	if to.Before(from) {
		to = from
	}
	return place{pos(from), pos(to)}
}

type problem struct {
	File     string `json:"file"`
	Severity string `json:"severity" ts:"'error' | 'warning' | 'info'"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Span     place  `json:"span"`
	From     *int   `json:"from,omitempty"` // UTF-16 offset, as to; only of the page's own file
	To       *int   `json:"to,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Node     string `json:"node,omitempty"` // its key
	Fixes    []fix  `json:"fixes,omitempty"`
}

type fix struct {
	Title string     `json:"title"`
	Edits []textEdit `json:"edits"`
}

type textEdit struct {
	From int    `json:"from"` // UTF-16 offset in the text, as to
	To   int    `json:"to"`
	Text string `json:"text"`
}

// maxProblems bounds the problems of a text that are shown.
const maxProblems = 1000

// onDisk is the text of the file as it was read last.
type onDisk struct {
	text     []byte
	revision string
	err      error // that it could not be read
	doc      *language.Document
	problems []problem
}

// texts analyses the text of the file, saved or not, and changes it.
type texts struct {
	page   *Page
	saving sync.Mutex // one change of the file at a time

	mu   sync.Mutex
	disk *onDisk
	lock [2]int64 // modification time and size of the lock file that disk was checked with
	last *language.Document
}

func newTexts(p *Page) *texts { return &texts{page: p} }

// refresh returns the text on disk as it is now.
func (t *texts) refresh() *onDisk {
	// What is found is kept for all, so no request ends it.
	t.mu.Lock()
	defer t.mu.Unlock()
	text, err := boundedfile.Read(t.page.opts.Path)
	locked := t.stamp()
	if t.disk != nil && t.lock == locked && err == nil && t.disk.err == nil && string(text) == string(t.disk.text) {
		return t.disk
	}
	d := &onDisk{text: text, revision: string(edit.RevisionOf(text)), err: err, problems: []problem{}}
	if err != nil {
		d.revision = ""
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		d.problems = append(d.problems, problem{
			File: t.page.opts.Path, Severity: diag.Error.String(), Code: diag.CodeFile, Message: "cannot read the file: " + err.Error(),
			Span: place{pos{1, 1}, pos{1, 1}},
		})
	} else {
		d.doc, _ = t.analyse(context.Background(), string(text)) // it has a problem if there is no memory
		d.problems = t.problems(d.doc)
	}
	t.disk, t.lock = d, locked
	return d
}

// check returns a text that is not saved, analysed, until ctx ends: then nobody waits
// for it.
func (t *texts) check(ctx context.Context, text string) *language.Document {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil && t.last.Text == text {
		return t.last
	}
	d, _ := t.analyse(ctx, text)
	return d
}

func (t *texts) analyse(ctx context.Context, text string) (*language.Document, error) {
	o := &t.page.opts
	d, err := language.NewContext(ctx, o.Path, text, language.Options{
		Lock: t.locked, Read: boundedfile.Read, MCPFiles: o.MCPFiles, Getenv: o.Getenv, Inputs: o.Inputs, Config: true, Memory: o.Memory,
	}, t.last)
	if err == nil {
		t.last = d
	}
	return d, err
}

func (t *texts) lockPath() string {
	if t.page.opts.LockPath != "" {
		return t.page.opts.LockPath
	}
	return lock.Path(t.page.opts.Path)
}

func (t *texts) stamp() [2]int64 {
	info, err := os.Stat(t.lockPath())
	if err != nil {
		return [2]int64{}
	}
	return [2]int64{info.ModTime().UnixNano(), info.Size()}
}

// locked returns the lock file, or nil if there is none that can be read.
func (t *texts) locked(string) *lock.File {
	text, err := boundedfile.Read(t.lockPath())
	if err != nil {
		return nil
	}
	f, _ := lock.Parse(t.lockPath(), text)
	return f
}

// problems returns the diagnostics of a document.
func (t *texts) problems(d *language.Document) []problem {
	list := []problem{}
	units := newUnits(d.Text)
	fixes := map[int][]fix{}
	for _, a := range language.Actions(d, language.Span{To: len(d.Text)}) {
		f := fix{Title: t.page.redact(a.Title), Edits: []textEdit{}}
		for _, e := range a.Edits {
			s := units.span(e.Span)
			f.Edits = append(f.Edits, textEdit{s.From, s.To, e.New})
		}
		fixes[a.Diagnostic] = append(fixes[a.Diagnostic], f)
	}
	for i, found := range d.Diagnostics {
		if i == maxProblems {
			break
		}
		entry := problem{
			File: found.File, Severity: found.Severity.String(), Code: found.Code,
			Message: t.page.redact(found.Message), Hint: t.page.redact(found.Hint), Span: placeOf(found.Pos, found.End), Fixes: fixes[i],
		}
		if found.File == d.Path {
			at := language.DiagnosticSpan(d, found)
			s := units.span(at)
			entry.From, entry.To, entry.Span = &s.From, &s.To, placeOf(d.Pos(at.From), d.Pos(at.To))
			if n := d.NodeAt(found.Pos); n != nil {
				entry.Node, entry.Tool = n.Key(), n.Graph.Name
			}
		}
		list = append(list, entry)
	}
	return list
}

// units counts the UTF-16 code units of a text, as browsers do.
type units struct {
	text string
	at   int // byte
	n    int // units before it
}

func newUnits(text string) *units { return &units{text: text} }

// count returns how many units there are before a byte. It is quick if the bytes come
// in their order.
func (u *units) count(at int) int {
	at = min(at, len(u.text))
	if at < u.at {
		u.at, u.n = 0, 0
	}
	for u.at < at {
		r, size := utf8.DecodeRuneInString(u.text[u.at:])
		u.at += size
		u.n++
		if r > 0xffff {
			u.n++
		}
	}
	return u.n
}

func (u *units) span(s language.Span) span { return span{u.count(s.From), u.count(s.To)} }

// byteAt returns the byte before which there are n units.
func byteAt(text string, n int) int {
	at := 0
	for n > 0 && at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += size
		n--
		if r > 0xffff {
			n--
		}
	}
	return at
}

// name returns the name of the file.
func (t *texts) name() string { return filepath.Base(t.page.opts.Path) }

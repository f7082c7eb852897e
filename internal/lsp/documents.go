package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/language"
)

// Bounds of open files.
const (
	maxOpen      = 10_000
	maxOpenBytes = 256 << 20
)

// openFile is a file that the client has open.
type openFile struct {
	uri, path string
	number    int // the client's version
	timer     *time.Timer
	text      *text
}

// text is one version of an open file. It is analysed when somebody asks.
type text struct {
	path, content string
	server        *server
	ctx           context.Context    // of its analysis
	replaced      context.CancelFunc // ends ctx: there is a later version

	analysing sync.Mutex // held while the text is analysed, which may take long
	mu        sync.Mutex // guards the rest
	doc       *language.Document
	last      *language.Document // of an earlier version
	index     *lineIndex
}

// document returns the analysed text, and for one that was replaced what is known of an
// earlier version.
func (t *text) document() *language.Document {
	t.analysing.Lock()
	defer t.analysing.Unlock()
	t.mu.Lock()
	doc, last := t.doc, t.last
	t.mu.Unlock()
	if doc != nil {
		return doc
	}
	doc, _ = language.NewContext(t.ctx, t.path, t.content, t.server.language(), last)
	if t.ctx.Err() != nil {
		return doc // it is not complete
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doc, t.last = doc, nil
	return doc
}

// known returns the last document that was analysed, or nil.
func (t *text) known() *language.Document {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.doc != nil {
		return t.doc
	}
	return t.last
}

// lines returns the index of the lines of the text.
func (t *text) lines() *lineIndex {
	t.server.mu.Lock()
	encoding := t.server.encoding
	t.server.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index == nil {
		t.index = newLineIndex(t.content, encoding)
	}
	return t.index
}

// language returns what documents are analysed with.
func (s *server) language() language.Options {
	return language.Options{
		Open: s.document, Lock: s.files.lock, Read: s.readFile, MCPFiles: s.opts.MCPFiles, Getenv: s.opts.Getenv, Inputs: s.opts.Inputs,
		Memory: s.opts.Memory,
	}
}

// textOf returns the text of an open file, or nil.
func (s *server) textOf(path string) *text {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[path]; f != nil {
		return f.text
	}
	return nil
}

// document returns the document of a file, open or not, or nil if it cannot be
// read.
func (s *server) document(path string) *language.Document {
	if t := s.textOf(path); t != nil {
		return t.document()
	}
	return s.files.document(s.ctx, path, s.language())
}

// readFile returns the text of a file, with unsaved changes.
func (s *server) readFile(path string) ([]byte, error) {
	if t := s.textOf(path); t != nil {
		return []byte(t.content), nil
	}
	return readFile(path)
}

func (s *server) didOpen(p openParams) {
	path := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	f := s.open[path]
	if f == nil {
		if len(s.open) >= maxOpen || s.openBytes+len(p.TextDocument.Text) > maxOpenBytes {
			s.mu.Unlock()
			s.logProblem("too many files are open; " + filepath.Base(path) + " is not checked")
			return
		}
		f = &openFile{uri: p.TextDocument.URI, path: path}
		f.timer = time.AfterFunc(time.Hour, func() { publish(s, path) })
		s.open[path] = f
	}
	s.set(f, p.TextDocument.Text, p.TextDocument.Version)
	s.mu.Unlock()
	s.changed(path, 0)
}

// set gives an open file another text. The caller holds s.mu.
func (s *server) set(f *openFile, content string, number int) {
	content = strings.TrimPrefix(content, "\ufeff")
	next := &text{path: f.path, content: content, server: s}
	next.ctx, next.replaced = context.WithCancel(s.ctx)
	if f.text != nil {
		f.text.replaced()
		s.openBytes -= len(f.text.content)
		next.last = f.text.known()
	}
	s.openBytes += len(content)
	f.text, f.number = next, number
}

func (s *server) didChange(p changeParams) {
	path := pathOf(p.TextDocument.URI)
	s.mu.Lock()
	f := s.open[path]
	if f == nil {
		s.mu.Unlock()
		return
	}
	changed, fits := newChangedText(f.text.content, s.encoding), true
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			changed.lines = splitLines(c.Text)
		} else if fits = changed.replace(*c.Range, c.Text); !fits {
			break
		}
	}
	content := changed.String()
	if !fits {
		s.mu.Unlock()
		s.logProblem("too many changes of a long text at once; " + filepath.Base(path) + " is not checked any more, open it again")
		s.shut(path)
		return
	}
	if s.openBytes-len(f.text.content)+len(content) > maxOpenBytes {
		s.mu.Unlock()
		s.logProblem("the open files are too long together; " + filepath.Base(path) + " is not checked any more")
		s.shut(path)
		return
	}
	s.set(f, content, p.TextDocument.Version)
	s.mu.Unlock()
	s.changed(path, s.opts.Delay)
}

func (s *server) didClose(p documentParams) { s.shut(pathOf(p.TextDocument.URI)) }

// shut closes a file, and takes its diagnostics away.
func (s *server) shut(path string) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	f := s.open[path]
	if f == nil {
		s.mu.Unlock()
		return
	}
	f.timer.Stop()
	f.text.replaced()
	delete(s.open, path)
	s.openBytes -= len(f.text.content)
	updates := replaceFound(s, path, nil)
	if len(updates) == 0 {
		updates = []publishParams{{URI: f.uri, Diagnostics: []diagnostic{}}}
	}
	s.mu.Unlock()
	for _, u := range updates {
		if u.URI == uriOf(path) {
			u.URI = f.uri
		}
		s.notify("textDocument/publishDiagnostics", u)
	}
	s.changed(path, s.opts.Delay) // others see the file as it is on disk
}

func (s *server) didSave(p documentParams) { s.changed(pathOf(p.TextDocument.URI), 0) }

func (s *server) didChangeWatchedFiles(p watchedFilesParams) {
	s.files.forget()
	for i, c := range p.Changes {
		if i == 100 {
			break
		}
		s.changed(pathOf(c.URI), s.opts.Delay)
	}
}

func (s *server) didChangeFolders(p foldersEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range p.Event.Removed {
		s.folders = slices.DeleteFunc(s.folders, func(known string) bool { return known == pathOf(f.URI) })
	}
	for _, f := range p.Event.Added {
		s.addFolder(f.URI)
	}
}

// maxFolders bounds the folders of a workspace.
const maxFolders = 100

// addFolder adds a folder of the workspace. The caller holds s.mu.
func (s *server) addFolder(uri string) {
	if path := pathOf(uri); filepath.IsAbs(path) && len(s.folders) < maxFolders && !slices.Contains(s.folders, path) {
		s.folders = append(s.folders, path)
	}
}

// changed plans to check a file, and those that depend on it, after a while.
func (s *server) changed(path string, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	isMCP := slices.Contains(s.opts.MCPFiles, path)
	for _, f := range s.open {
		doc := f.text.known()
		switch {
		case f.path == path:
		case doc == nil || doc.Kind == language.Other:
			continue
		case isMCP && doc.Kind == language.Config, doc.Kind == language.Test, filepath.Ext(path) == ".json":
			s.set(f, f.text.content, f.number)
		default:
			continue
		}
		f.timer.Reset(delay)
	}
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

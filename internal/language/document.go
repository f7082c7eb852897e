// Package language knows configuration and test files as editors need it: what is
// wrong in a text, what can be written at a place of it, what a word means, where
// the things that it names are, and how to rename them.
//
// It knows no protocol: places are byte offsets, and who edits is elsewhere. A
// [Document] is immutable and safe for concurrent use. Nothing is connected to and
// no program is started.
package language

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

// MaxBytes is the length from which on a text is not analysed.
const MaxBytes = 4 << 20

// Kind is what a file is.
type Kind uint8

// The kinds of files.
const (
	// Other is a file that mcpgraph does not know, such as YAML of another program.
	Other Kind = iota
	// Blank is a file without any key, which may become a configuration.
	Blank
	// Config is a configuration.
	Config
	// Test is a test file.
	Test
)

// Span is a range of bytes of a text.
type Span struct{ From, To int }

// Location is a range of bytes in the text of a file.
type Location struct {
	Path string
	Span
}

// Options are what documents are analysed with.
type Options struct {
	// Open returns the document of another file, with unsaved changes, or nil if
	// it cannot be read. A nil Open knows no other files.
	Open func(path string) *Document
	// Lock returns a lock file, or nil if there is none that can be read. A nil Lock
	// knows none.
	Lock func(path string) *lock.File
	// Read returns the text of another file, with unsaved changes; nil knows none.
	Read func(path string) ([]byte, error)
	// MCPFiles are paths of further files of upstream servers.
	MCPFiles []string
	// Getenv looks up an environment variable; nil means os.LookupEnv. Variables
	// that are not set are no error.
	Getenv func(name string) (string, bool)
	// Inputs are the values of ${input:ID} by ID.
	Inputs map[string]string
	// Config says that the text is a configuration, also if nothing in it does yet:
	// one that is empty has the error that `mcpgraph validate` prints.
	Config bool
	// Memory bounds what the check of a text takes; nil: no bound.
	Memory *memory.Budget
}

// Document is a text of a file, analysed.
type Document struct {
	// Path is the path of the file.
	Path string
	// Text is the text, without a byte order mark.
	Text string
	Kind Kind
	// Diagnostics are the problems of this text, sorted by place. Those of other
	// files, such as a file of servers, are among them.
	Diagnostics []diag.Diagnostic

	opts    Options
	lines   *diag.Lines
	model   *model        // nil if this text cannot be read
	last    *model        // of an earlier text, if this one cannot be read
	repairs *repairMemory // of this text
}

// model is what is known from a text that can be read.
type model struct {
	root   *config.Node
	file   *config.File // nil for a test file
	set    *graph.Set   // nil for a test file
	units  []graph.Unit
	byNode map[*config.Node]*graph.Node
	suite  *suite.File // nil for a configuration
}

// New analyses a text. last is the document of an earlier text of the file, or nil:
// what it knew serves where this text cannot be read.
func New(path, text string, opts Options, last *Document) *Document {
	d, _ := NewContext(context.Background(), path, text, opts, last)
	return d
}

// NewContext is [New], and stops when ctx ends or when Options.Memory has no room. The
// error is the cause then: it is a *[memory.Error] if there was no room, which the only
// diagnostic of the document says. What the document knows is that of last.
func NewContext(ctx context.Context, path, text string, opts Options, last *Document) (*Document, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	d := &Document{Path: path, Text: text, opts: opts, lines: diag.NewLines([]byte(text)), repairs: &repairMemory{}}
	d.Kind = kindOfFile(path, text)
	if last != nil {
		if d.Kind == Other && last.Kind != Blank {
			d.Kind = last.Kind
		}
		if d.last = last.model; d.last == nil {
			d.last = last.last
		}
	}
	if opts.Config && (d.Kind == Other || d.Kind == Blank) {
		d.Kind = Config
	}
	switch {
	case d.Kind == Other || d.Kind == Blank:
	case len(text) > MaxBytes:
		d.Diagnostics = []diag.Diagnostic{{
			File: path, Pos: diag.Pos{Line: 1, Col: 1}, Severity: diag.Info, Code: diag.CodeFile,
			Message: "the file is too long to be checked while it is edited; use `mcpgraph validate`",
		}}
	default:
		var err error
		if d.model, d.Diagnostics, err = d.analyse(ctx, text); err != nil {
			return d, err
		}
		if d.model != nil {
			d.last = nil
		}
	}
	return d, nil
}

// analyse reads a text of the document on an account of its own. The model is nil if it
// cannot be read. The error is that of NewContext.
func (d *Document) analyse(ctx context.Context, text string) (*model, []diag.Diagnostic, error) {
	account := d.opts.Memory.Account("")
	defer account.Close()
	ctx, done := memory.WithAccount(ctx, account)
	defer done()
	read := d.analyseConfig
	if d.Kind == Test {
		read = d.analyseTest
	}
	m, ds := read(ctx, text)
	err := context.Cause(ctx)
	if err == nil {
		return m, ds, nil
	}
	ds = nil // they are incomplete
	var short *memory.Error
	if errors.As(err, &short) {
		ds = []diag.Diagnostic{{
			File: d.Path, Pos: diag.Pos{Line: 1, Col: 1}, Severity: diag.SeverityOf(diag.CodeFile), Code: diag.CodeFile,
			Message: "the file is not checked: " + short.ForFile("it"),
		}}
	}
	return nil, ds, err
}

func (d *Document) analyseConfig(ctx context.Context, text string) (*model, []diag.Diagnostic) {
	unset := map[string]bool{}
	opts := d.configOptions(unset)
	opts.Context = ctx
	file, ds := config.Parse(d.Path, []byte(text), opts)
	ds = d.withoutUnset(ds, unset)
	if file == nil || file.Root == nil {
		return nil, ds
	}
	m := &model{root: file.Root, file: file, byNode: map[*config.Node]*graph.Node{}}
	var more []diag.Diagnostic
	m.set, more = graph.BuildContext(ctx, file, nodes.All)
	if ctx.Err() != nil {
		return nil, nil
	}
	m.units = m.set.Units()
	for i := range m.units {
		for _, n := range m.units[i].Nodes {
			m.byNode[n.Source()] = n
		}
	}
	ds = append(ds, more...)
	if locked := lockOf(d); locked != nil && !diag.HasErrors(ds) {
		ds = append(ds, m.set.CheckLock(locked)...)
	}
	diag.Sort(ds)
	return m, ds
}

func (d *Document) analyseTest(ctx context.Context, text string) (*model, []diag.Diagnostic) {
	file, ds := suite.ParseContext(ctx, d.Path, []byte(text))
	if file == nil || file.Node == nil {
		return nil, ds
	}
	m := &model{root: file.Node, suite: file}
	if cfg := d.configOf(m); cfg != nil && cfg.model != nil && cfg.model.set != nil {
		ds = append(ds, file.Check(cfg.model.set)...)
		ds = append(ds, file.CheckLock(lockOf(cfg))...)
	} else if cfg == nil && d.opts.Open != nil {
		ds = append(ds, d.missingConfig(file))
	}
	diag.Sort(ds)
	return m, ds
}

// missingConfig reports that the configuration of a test file cannot be read.
func (d *Document) missingConfig(file *suite.File) diag.Diagnostic {
	if p := file.ConfigText; p.String() != "" {
		return p.Problem(diag.CodeFile, "cannot read the configuration "+filepath.ToSlash(file.Config))
	}
	return diag.Diagnostic{
		File: d.Path, Pos: diag.Pos{Line: 1, Col: 1}, Severity: diag.SeverityOf(diag.CodeFile), Code: diag.CodeFile,
		Message: "cannot read the configuration " + filepath.ToSlash(file.Config),
		Hint:    "name it with `config:`",
	}
}

// configOf returns the document of the configuration that a test file is about,
// or nil.
func (d *Document) configOf(m *model) *Document {
	if m == nil || m.suite == nil || d.opts.Open == nil || m.suite.Config == "" || suite.IsTestFile(m.suite.Config) {
		return nil
	}
	return d.opts.Open(filepath.Clean(m.suite.Config))
}

// ConfigPath returns the path of the configuration that a test file is about; it
// is empty for other files.
func (d *Document) ConfigPath() string {
	if m := d.current(); m != nil && m.suite != nil {
		return filepath.Clean(m.suite.Config)
	}
	return ""
}

// configOptions returns what a configuration is read with. Each variable without a
// value is noted in unset.
func (d *Document) configOptions(unset map[string]bool) config.Options {
	getenv := d.opts.Getenv
	if getenv == nil {
		getenv = os.LookupEnv
	}
	opts := config.Options{Inputs: d.opts.Inputs, AllowUnset: true, Getenv: func(name string) (string, bool) {
		if v, ok := getenv(name); ok {
			return v, true
		}
		unset[name] = true
		return "", false
	}}
	if d.opts.Read != nil {
		for _, path := range d.opts.MCPFiles {
			if text, err := d.opts.Read(path); err == nil {
				opts.MCPFiles = append(opts.MCPFiles, config.MCPFile{Path: path, Source: text})
			}
		}
	}
	return opts
}

// variables are references to variables without a default.
var variables = regexp.MustCompile(`\$\{(?:env:|input:)?([^}:]+)\}`)

// withoutUnset drops what is wrong with values only because variables in them are
// not set.
func (d *Document) withoutUnset(ds []diag.Diagnostic, unset map[string]bool) []diag.Diagnostic {
	if len(unset) == 0 {
		return ds
	}
	return slices.DeleteFunc(ds, func(p diag.Diagnostic) bool {
		if p.File != d.Path || p.Code != diag.CodeValue && p.Code != diag.CodeTransport {
			return false
		}
		s := DiagnosticSpan(d, p)
		for _, m := range variables.FindAllStringSubmatch(d.Text[s.From:s.To], -1) {
			if unset[m[1]] || unset[config.InputVariable(m[1])] {
				return true
			}
		}
		return false
	})
}

// current returns what is known of the document: of this text or, if it cannot be
// read, of the last one that could. It may be nil.
func (d *Document) current() *model {
	if d.model != nil {
		return d.model
	}
	return d.last
}

// repairMemory holds the last model that was made for a place.
type repairMemory struct {
	mu    sync.Mutex
	at    int
	model *model
}

// near returns a model whose lines and columns around a place are those of the
// text: that of the text itself or, if it cannot be read, that of the text without
// what stands at the place. If there is none it is the last known one. It may be
// nil.
func (d *Document) near(p place) *model {
	if d.model != nil || d.Kind == Other || d.Kind == Blank || len(d.Text) > MaxBytes {
		return d.current()
	}
	r := d.repairs
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.model == nil || r.at != p.from {
		r.at, r.model = p.from, d.repaired(p)
	}
	if r.model != nil {
		return r.model
	}
	return d.last
}

// maxRepairs is how many lines at most are left out of a text to read the others.
const maxRepairs = 4

// repaired returns a model of the text in which the flow collection at a place ends
// there or, if that is not enough, in which its line, and those that the reader
// stumbles over, are blank.
func (d *Document) repaired(p place) *model {
	if p.flow {
		_, end := lineAt(d.Text, p.from)
		from := p.from
		if p.quote != 0 {
			from--
		}
		if m, _, err := d.analyse(context.Background(), d.Text[:from]+p.closers+d.Text[end:]); m != nil || err != nil {
			return m
		}
	}
	text := []byte(d.Text)
	blank := func(at int) bool {
		from, to := lineAt(d.Text, at)
		if strings.TrimSpace(string(text[from:to])) == "" {
			return false
		}
		for i := from; i < to; i++ {
			text[i] = ' '
		}
		return true
	}
	blank(p.from)
	for range maxRepairs {
		m, ds, err := d.analyse(context.Background(), string(text))
		if m != nil || err != nil {
			return m
		}
		if len(ds) == 0 || !blank(d.lines.Offset(ds[0].Pos)) {
			return nil
		}
	}
	return nil
}

// kindOfFile returns what a file is (see [suite.KindOf]). One in which nothing of another
// program stands yet is blank.
func kindOfFile(path, text string) Kind {
	switch suite.KindOf(path, []byte(text)) {
	case suite.Tests:
		return Test
	case suite.Configuration:
		return Config
	}
	if suite.IsTestFile(path) {
		if text == "" {
			return Test
		}
		return Blank
	}
	for _, key := range suite.TopKeys([]byte(text)) {
		if !slices.ContainsFunc(config.Settings(), func(s config.Setting) bool { return s.Name == key }) {
			return Other
		}
	}
	return Blank
}

// Pos returns the place of a byte of the text.
func (d *Document) Pos(offset int) diag.Pos { return d.lines.Pos(offset) }

// Offset returns the byte offset of a place in the text.
func (d *Document) Offset(p diag.Pos) int { return d.lines.Offset(p) }

// span returns the bytes of the text between two places.
func (d *Document) span(from, to diag.Pos) Span {
	s := Span{d.lines.Offset(from), d.lines.Offset(to)}
	s.To = max(s.From, s.To)
	return s
}

// NodeAt returns the innermost node of a configuration around a place of the text, or
// nil if there is none.
func (d *Document) NodeAt(p diag.Pos) *graph.Node {
	if d.model == nil {
		return nil
	}
	var at *graph.Node
	for i := range d.model.units {
		for _, n := range d.model.units[i].Nodes {
			// Those of bodies come behind their owners.
			if !p.Before(n.Pos) && p.Before(n.End()) {
				at = n
			}
		}
	}
	return at
}

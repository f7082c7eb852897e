package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// File is a test file with its configuration.
type File struct {
	Path string
	// Diagnostics are what is wrong with the file, and the errors of its configuration.
	Diagnostics []diag.Diagnostic

	file      *suite.File
	config    *config // nil if the file could not be read
	sources   diag.Sources
	snapshots snapshots
	partial   bool // not all of its tests ran
	used      map[*suite.Mock]bool
	tapes     map[*suite.Test]*tape // of the tests with a cassette
}

// config is a configuration that test files name.
type config struct {
	engine  *engine.Engine // nil if it has errors
	err     error
	covered covered
}

func (f *File) failed() bool {
	return f.config == nil || f.config.engine == nil || diag.HasErrors(f.Diagnostics)
}

// Config returns the path of the configuration; empty if the file could not be read.
func (f *File) Config() string {
	if f.file == nil {
		return ""
	}
	return f.file.Config
}

// loader reads test files. Each configuration is compiled once.
type loader struct {
	ctx     context.Context
	options Options
	configs map[string]*config
}

// compiled returns a compiled configuration.
func (l *loader) compiled(path string) *config {
	c := l.configs[path]
	if c == nil {
		c = &config{covered: newCovered()}
		c.engine, c.err = compile(l.ctx, path, l.options)
		l.configs[path] = c
	}
	return c
}

// load reads a test file and compiles its configuration.
func (l *loader) load(path string) *File {
	text, err := l.options.read(path)
	if err != nil {
		return &File{Path: path, sources: diag.Sources{}, Diagnostics: []diag.Diagnostic{{
			File: path, Severity: diag.Error, Code: diag.CodeFile, Message: "cannot read the file: " + reason(err),
		}}}
	}
	return l.parse(path, text)
}

// parse reads the text of a test file and compiles its configuration.
func (l *loader) parse(path string, text []byte) *File {
	f := &File{Path: path, sources: diag.Sources{path: text}, used: map[*suite.Mock]bool{}}
	if f.file, f.Diagnostics = suite.Parse(path, text); f.file == nil {
		return f
	}
	if f.file.Config == path { // it names none, which has been reported
		f.snapshots = readSnapshots(path)
		return f
	}
	f.config = l.compiled(f.file.Config)
	var broken *engine.LoadError
	switch e, err := f.config.engine, f.config.err; {
	case errors.As(err, &broken):
		f.addConfig(broken)
	case err != nil:
		f.Diagnostics = append(f.Diagnostics, diag.Diagnostic{File: path, Severity: diag.Error, Code: diag.CodeFile, Message: err.Error()})
	default:
		_, sources := e.Current().Diagnostics()
		for name, text := range sources {
			f.sources[name] = text
		}
		f.Diagnostics = append(f.Diagnostics, f.file.Check(e.Current().Set())...)
		f.Diagnostics = append(f.Diagnostics, f.file.CheckLock(e.Current().Lock())...)
	}
	f.readTapes(l.options)
	diag.Sort(f.Diagnostics)
	f.snapshots = readSnapshots(path)
	f.Diagnostics = append(f.Diagnostics, f.snapshots.problems...)
	return f
}

// addConfig adds the errors of the configuration. If there is no such file, the place
// is where the test file names it.
func (f *File) addConfig(broken *engine.LoadError) {
	for name, text := range broken.Sources {
		f.sources[name] = text
	}
	for _, d := range broken.Diagnostics {
		if d.Severity != diag.Error {
			continue
		}
		if d.Code == diag.CodeFile && d.File == f.file.Config {
			node := f.file.Node
			message := fmt.Sprintf("cannot read the configuration %s: %s", d.File, d.Message)
			if node = node.Get("config"); node == nil {
				d = diag.Diagnostic{File: f.Path, Severity: diag.Error, Code: diag.CodeFile, Message: message}
				d.Hint = "name it in the test file: config: FILE"
			} else {
				d = node.Problem(diag.CodeFile, message)
			}
		}
		f.Diagnostics = append(f.Diagnostics, d)
	}
}

// reason returns the cause of an error of a file, without its name.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

// settle adds what came of a test to what is known of the file.
func (f *File) settle(r *Result, o Options) {
	if r.covered.nodes != nil {
		f.config.covered.add(r.covered)
	}
	for i, n := range r.used {
		f.used[r.Test.Mocks[i]] = f.used[r.Test.Mocks[i]] || n > 0
	}
	if r.snapshot != "" && r.Status == Passed {
		f.snapshots.compare(r, o.Update)
	}
	if o.Strict && r.Status == Passed {
		for _, w := range r.Warnings {
			if w.Code == CodeUnusedMock {
				w.Severity = diag.Error
				r.fail(Problem{Diagnostic: w})
			}
		}
		if r.Status == Failed {
			r.Warnings = nil
		}
	}
}

// finish looks at the file when all of its tests have ended.
func (f *File) finish(o Options) {
	if f.failed() {
		return
	}
	f.Diagnostics = append(f.Diagnostics, f.snapshots.finish(f, o.Update)...)
	if f.partial || o.Live || o.Record {
		return
	}
	for _, m := range f.file.Mocks {
		if f.used[m] || m.Max == 0 {
			continue
		}
		w := m.Node.Problem(CodeUnusedMock, fmt.Sprintf("no test calls the mock of %s", m.Name()))
		if !o.Strict {
			w.Severity = diag.Warning
		}
		f.Diagnostics = append(f.Diagnostics, w)
	}
}

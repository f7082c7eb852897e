package toolkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

// file is the configuration file, read again whenever it has changed.
type file struct {
	toolkit *Toolkit
	// lock is held while the file is read, or edited by this process.
	lock  sync.Mutex
	state *state
}

// state is the file as it was read once.
type state struct {
	stamp    string // of the file and those that it is read with
	text     []byte
	revision edit.Revision
	doc      *edit.Document
	program  *engine.Program   // nil if the file has errors
	broken   *engine.LoadError // why
	servers  error             // why the entries of servers cannot be read; their secrets are not known
	access   error             // why what the file says about access does not apply
}

func newFile(t *Toolkit) *file { return &file{toolkit: t} }

// stamp returns what tells apart the contents of the file, its lock file and those
// of other servers.
func (f *file) stamp(text []byte) string {
	sum := sha256.New()
	sum.Write(text)
	paths := append([]string{f.toolkit.engine.LockPath()}, f.toolkit.opts.MCPFiles...)
	if auth := f.toolkit.engine.Current().Set().File.Server.Auth; auth != nil && auth.TokensFile != "" {
		paths = append(paths, auth.TokensFile)
	}
	for _, path := range paths {
		more, err := boundedfile.Read(path)
		fmt.Fprintf(sum, "\n%s %v %d\n", path, err, len(more))
		sum.Write(more)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// read returns the file as it is now. The lock must be held.
func (f *file) read(ctx context.Context) (*state, error) {
	text, err := boundedfile.Read(f.toolkit.opts.Path)
	if err != nil {
		return nil, err
	}
	stamp := f.stamp(text)
	if f.state != nil && f.state.stamp == stamp {
		return f.state, nil
	}
	doc, err := edit.Parse(f.toolkit.opts.Path, text)
	if err != nil {
		return nil, fmt.Errorf("the file is not valid YAML: %w", err)
	}
	next := &state{stamp: stamp, text: text, revision: edit.RevisionOf(text), doc: doc}
	e := f.toolkit.engine
	servers, err := e.Compile(ctx)
	if isNotRead(err) {
		return nil, err
	}
	if next.servers = err; err == nil {
		if before, err := e.Replace(servers); err == nil {
			before.Release()
		}
		if web := f.toolkit.web.Load(); web != nil {
			next.access = f.toolkit.admit(web)
		}
	}
	next.program, err = e.CompileText(ctx, text)
	if err != nil && !errors.As(err, &next.broken) {
		return nil, err
	}
	f.replace(next)
	return next, nil
}

// isNotRead reports whether an error does not say what the file is: it was not read to
// its end.
func isNotRead(err error) bool {
	var broken *engine.LoadError
	return err != nil && !errors.As(err, &broken)
}

// replace makes another state the current one. The lock must be held.
func (f *file) replace(next *state) {
	if f.state != nil && f.state.program != nil {
		f.state.program.Release()
	}
	f.state = next
}

// saved makes what an edit has written the current state, with its program, which
// the file then owns. The lock must be held.
func (f *file) saved(ctx context.Context, r *graphedit.Result, program *engine.Program) {
	f.replace(&state{stamp: f.stamp(r.Text), text: r.Text, revision: r.Revision, doc: r.Document, program: program})
	if !slices.Equal(program.Set().File.Scopes(), f.toolkit.File().Scopes()) {
		f.state.stamp = "" // callers need other scopes
		_, _ = f.read(ctx) // the next reader gets an error, too
	}
}

// now returns the file as it is now.
func (f *file) now(ctx context.Context) (*state, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.read(ctx)
}

// use returns the program of the file as it is now, until release is called.
func (f *file) use(ctx context.Context) (p *engine.Program, release func(), err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	s, err := f.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if s.program == nil {
		return nil, nil, fmt.Errorf("the file has errors; validateGraphTool shows all of them: %w", s.broken)
	}
	return s.program, s.program.Retain(), nil
}

// compiled returns the program of a text in the place of the file, until release is
// called.
func (f *file) compiled(ctx context.Context, text []byte) (p *engine.Program, release func(), err error) {
	p, err = f.toolkit.engine.CompileText(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	return p, p.Release, nil
}

// shown returns the text of the file without secrets. It reports false if the file
// cannot be read.
func (f *file) shown(ctx context.Context) (string, bool) {
	s, err := f.now(ctx)
	switch {
	case err != nil:
		return "", false
	case s.servers != nil:
		return "# Not shown: the entries of servers have errors, so mcpgraph cannot tell which values\n# are secrets. validateGraphTool lists the errors.\n", true
	}
	return f.toolkit.engine.Redact(nil, string(s.text)), true
}

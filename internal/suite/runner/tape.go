package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// tape is what a test plays from its cassette, or records into it.
type tape struct {
	cassette *cassette.Cassette
	paths    *cassette.Paths
	recorder *cassette.Recorder // nil unless it is recorded
}

// readTapes reads the cassettes of the tests of a file.
func (f *File) readTapes(o Options) {
	f.tapes = map[*suite.Test]*tape{}
	read := map[string]*cassette.Cassette{}
	if o.tape != nil {
		read[o.tape.Path] = o.tape
	}
	for _, t := range f.file.Tests {
		if t.Cassette == "" || o.Live && !o.Record {
			continue
		}
		node := t.Node.Get("cassette")
		if node == nil {
			node = t.Node.Get("name")
		}
		c := read[t.Cassette]
		if c == nil {
			var err error
			c, err = cassette.Read(t.Cassette)
			if o.Record && errors.Is(err, fs.ErrNotExist) {
				c, err = &cassette.Cassette{Path: t.Cassette}, nil
			}
			if err != nil {
				p := node.Problem(diag.CodeFile, "cannot read the cassette: "+reason(err))
				p.Hint = "record it with mcpgraph test --record"
				f.Diagnostics = append(f.Diagnostics, p)
				continue
			}
			read[t.Cassette] = c
		}
		paths, err := cassette.NewPaths(t.Redact)
		if err != nil {
			f.Diagnostics = append(f.Diagnostics, node.Problem(diag.CodeValue, "redact: "+err.Error()))
			continue
		}
		f.tapes[t] = &tape{cassette: c, paths: paths}
	}
}

// live runs a test against the real servers, in real time.
func (p *play) live(ctx context.Context) {
	t := p.test
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	p.real = true
	p.stage, p.walk = newStage(p), newWalk(p.file.config.engine.Current().Set())
	if tape := p.file.tapes[t]; tape != nil {
		tape.recorder = &cassette.Recorder{}
	}
	e := p.file.config.engine
	o := e.Options()
	o.Intercept = p.stage.forward
	own := e.Current().Fork(o)
	defer own.Close()
	p.stage.engine = own
	p.perform(own.Current())
	if tape := p.file.tapes[t]; tape != nil && len(p.outcome.Problems) == 0 {
		x, err := tape.recorder.Exchanges(ctx, tape.paths, own.Redact)
		if err != nil {
			p.add(Problem{Diagnostic: t.Node.Get("name").Problem(CodeTestFailed, "cannot record: "+err.Error())})
			return
		}
		p.outcome.recorded = x
	}
}

// forward is an [upstream.Intercept]: mocks of the test do not answer; calls go to the
// servers, those of tools that may write only if that is allowed.
func (s *stage) forward(ctx context.Context, x upstream.Exchange, next func(context.Context) (value.Value, error)) (value.Value, error) {
	s.note(x)
	if !s.play.options.AllowWrites && !s.readsOnly(ctx, x) {
		s.refuse(Problem{Diagnostic: s.play.test.Node.Get("name").Problem(CodeTestFailed,
			fmt.Sprintf("tool %q of server %q is not marked readOnlyHint, so it is not called; allow it with --allow-writes", x.Tool, x.Server))})
		s.play.cancel(errUnanswered)
		return value.Undef, errUnanswered
	}
	if tape := s.play.file.tapes[s.play.test]; tape != nil {
		return tape.recorder.Intercept(ctx, x, next)
	}
	return next(ctx)
}

// readsOnly reports whether the server says that a tool changes nothing.
func (s *stage) readsOnly(ctx context.Context, x upstream.Exchange) bool {
	s.mu.Lock()
	known, ok := s.safe[x.Server]
	s.mu.Unlock()
	if !ok {
		known = map[string]bool{}
		tools, err := s.engine.Current().Pool().Tools(ctx, x.Info, x.Server)
		if err != nil {
			return true // the call fails alike, with a better message
		}
		for _, t := range tools {
			known[t.Get("name").Str()] = t.Get("annotations").Get("readOnlyHint").Bool()
		}
		s.mu.Lock()
		s.safe[x.Server] = known
		s.mu.Unlock()
	}
	return known[s.prefix(x.Server)+x.Tool]
}

// prefix returns the namePrefix of a server.
func (s *stage) prefix(server string) string {
	for _, u := range s.engine.Current().Set().File.Upstreams {
		if u.Name == server {
			return u.NamePrefix
		}
	}
	return ""
}

// writeTapes writes the cassettes of the file, unless a test that has one failed: a
// recording that fails replaces nothing.
func (f *File) writeTapes(results []*Result) []diag.Diagnostic {
	broken, written := map[*cassette.Cassette]bool{}, map[*cassette.Cassette]bool{}
	names := map[*cassette.Cassette]map[string]bool{}
	for t, tape := range f.tapes {
		if names[tape.cassette] == nil {
			names[tape.cassette] = map[string]bool{}
		}
		names[tape.cassette][t.Name] = true
	}
	for _, r := range results {
		tape := f.tapes[r.Test]
		if r.Of != f || tape == nil || r.Status == Skipped {
			continue
		}
		if r.Status == Failed {
			broken[tape.cassette] = true
			continue
		}
		tape.cassette.Replace(r.Test.Name, r.recorded)
		written[tape.cassette] = true
	}
	var ds []diag.Diagnostic
	for c := range written {
		if broken[c] {
			continue
		}
		c.Keep(func(test string) bool { return test == "" || names[c][test] })
		err := os.MkdirAll(filepath.Dir(c.Path), 0o777)
		if err == nil {
			err = c.Write()
		}
		if err != nil {
			ds = append(ds, diag.Diagnostic{File: c.Path, Severity: diag.Error, Code: diag.CodeFile, Message: "cannot write the cassette: " + reason(err)})
		}
	}
	return ds
}

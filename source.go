package mcpgraph

import (
	"context"
	"io/fs"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Source is a file that was read and not compiled yet; see [Read].
type Source struct {
	source  *engine.Source
	options options
}

// Read reads the file at path and does not compile it, so that a program can decide by
// what the file says with which options to load it. Problems of the file are those of
// [Source.Load]. The error is a *[memory.Error] or the cause of ctx, whose end also ends
// Load.
func Read(ctx context.Context, path string, opts ...Option) (*Source, error) {
	return read(ctx, path, newOptions(opts))
}

// ReadFS is [Read] for a file of fsys; see [LoadFS].
func ReadFS(ctx context.Context, fsys fs.FS, path string, opts ...Option) (*Source, error) {
	o := newOptions(opts)
	o.engine.Read = func(path string) ([]byte, error) { return fs.ReadFile(fsys, path) }
	return read(ctx, path, o)
}

func read(ctx context.Context, path string, opts options) (*Source, error) {
	s, err := engine.Read(ctx, path, opts.engine)
	if err != nil {
		return nil, err
	}
	return &Source{s, opts}, nil
}

// File returns what the file says, nil if it cannot be read as a configuration. It may
// have errors, which Load returns.
func (s *Source) File() *config.File { return s.source.File }

// Load compiles the file with further options; those that say how it is read have no
// effect. See [Load] for the error. Load may be called once.
func (s *Source) Load(opts ...Option) (*Engine, error) {
	for _, opt := range opts {
		opt(&s.options)
	}
	if s.options.engine.Runs == nil {
		s.options.engine.Runs = runs.New(runs.Limits{Memory: s.options.engine.Memory})
	}
	e, err := s.source.New(s.options.engine)
	if err != nil {
		return nil, loadError(err)
	}
	return &Engine{engine: e, servers: serving.New(e, s.options.serving)}, nil
}

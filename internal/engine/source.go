package engine

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Source is a file that was read and not compiled yet, so that what it says about how
// tools run is known before. It counts on an account until it is compiled.
type Source struct {
	// File has no tools that can run yet, and may have errors; nil if it cannot be read.
	File *config.File

	path        string
	ctx         context.Context // of the reading; its end also ends the compiling
	sources     diag.Sources
	diagnostics []diag.Diagnostic
	close       func()
}

// Read reads the file at path and checks its form. The error is a *MemoryError, or the
// cause of ctx.
func Read(ctx context.Context, path string, opts Options) (*Source, error) {
	account := opts.Memory.Account("")
	ctx, done := memory.WithAccount(ctx, account)
	s := &Source{path: path, ctx: ctx, close: func() {
		done()
		account.Close()
	}}
	s.File, s.sources, s.diagnostics = config.Load(path, opts.MCPFiles, opts.Read, config.Options{
		Getenv: opts.Getenv, Inputs: opts.Inputs, ServersOnly: opts.ServersOnly, Serving: opts.Serving, AllowUnset: opts.AllowUnset, Context: ctx,
	})
	if err := s.err(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// err returns why the reading or compiling was given up, nil if it was not.
func (s *Source) err() error {
	cause := context.Cause(s.ctx)
	var short *memory.Error
	if errors.As(cause, &short) {
		return &MemoryError{s.path, short}
	}
	return cause
}

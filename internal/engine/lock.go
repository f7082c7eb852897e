package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// LockOptions are how the lock file is used.
type LockOptions struct {
	// Path is where it is; empty for beside the configuration, where it may be
	// absent.
	Path string
	// Required makes the absence of the file an error.
	Required bool
	// Mode is what happens to calls of tools that differ; empty for lock.Default.
	Mode lock.Mode
	// StatedAnnotations leaves the annotations of tools as the configuration has
	// them.
	StatedAnnotations bool
}

// LockPath returns where the lock file of the Engine is.
func (e *Engine) LockPath() string { return e.opts.Lock.path(e.path) }

func (o LockOptions) path(config string) string {
	if o.Path != "" {
		return o.Path
	}
	return lock.Path(config)
}

// readLock reads the lock file of a configuration. Without its tools nothing is
// locked.
func (p *Program) readLock(ctx context.Context, config string) []diag.Diagnostic {
	o := p.opts.Lock
	if o.Mode == lock.Off || p.opts.ServersOnly {
		return nil
	}
	path := o.path(config)
	read := p.opts.Read
	if read == nil || o.Path != "" {
		read = boundedfile.Read
	}
	text, err := read(path)
	command := config
	if o.Path != "" {
		command += " --lock " + o.Path
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.Path == "" && !o.Required:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return []diag.Diagnostic{{
			File: config, Severity: diag.SeverityOf(diag.CodeNoLock), Code: diag.CodeNoLock,
			Message: fmt.Sprintf("there is no lock file %s", path), Hint: fmt.Sprintf("write it with `mcpgraph lock %s`", command),
		}}
	case err != nil:
		return []diag.Diagnostic{{
			File: path, Severity: diag.SeverityOf(diag.CodeFile), Code: diag.CodeFile,
			Message: fmt.Sprintf("cannot read the lock file: %v", err),
		}}
	}
	p.sources[path] = text
	if !memory.NewMeter(ctx).Hold(lockShare * len(text)) {
		return nil
	}
	var ds []diag.Diagnostic
	p.lock, ds = lock.Parse(path, text)
	return ds
}

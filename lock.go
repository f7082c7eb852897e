package mcpgraph

import (
	"context"

	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

// LockPath returns where the lock file of the Engine is, whether there is one or
// not.
func (e *Engine) LockPath() string { return e.engine.LockPath() }

// Locked returns what the lock file says; nil if there is none. After a Reload it
// is another one.
func (e *Engine) Locked() *lock.File { return e.engine.Current().Lock() }

// CheckLock compares the tools of the file with a lock file, as Load does with the
// one that it uses: calls that are not locked or do not fit, properties that no
// output has, annotations that promise too much. The diagnostics are sorted by
// place.
func (e *Engine) CheckLock(locked *lock.File) []diag.Diagnostic {
	return e.engine.Current().Set().CheckLock(locked)
}

// Lock connects to the servers of the file concurrently and returns what a lock
// file holds of them now: their tools, and the schemas, annotations and
// descriptions of those that nodes call. servers restricts it to some of them, by
// name; none means all. The error holds an *upstream.Error for each server that
// cannot be used. Of opts only [WithCallInfo] matters.
func (e *Engine) Lock(ctx context.Context, servers []string, opts ...CallOption) (*lock.File, error) {
	p := e.engine.Use()
	defer p.Release()
	return serving.Lock(ctx, newCallOptions(opts).info, p, servers)
}

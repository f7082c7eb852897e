package cli

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/audit"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/ui"
)

// settle is how long a file may take to be written in pieces.
const settle = 100 * time.Millisecond

// reloadable is what a file was read for, such as an engine.
type reloadable interface {
	// File is the file as it was last read without errors.
	File() *config.File
	Diagnostics() ([]diag.Diagnostic, diag.Sources)
	// ReloadContext reads the file again. Its errors are those of an Engine.
	ReloadContext(context.Context) (*mcpgraph.Changes, error)
}

// reloader reads the file again that something was made of: at SIGHUP, and when it
// has changed if that is asked for.
type reloader struct {
	*app
	path    string
	others  []string // files that --mcp and --auth-tokens name, and the lock file
	hangup  chan os.Signal
	watch   *fsnotify.Watcher // nil without reloadOptions.watch and without a page
	replace bool              // reload when a file has changed

	mu   sync.Mutex // one reload at a time
	seen contents

	// Set when the file was read. A page can begin without an engine.
	of     reloadable
	load   func(context.Context) (*mcpgraph.Engine, error) // makes the engine; nil if there always is one
	page   *ui.Page                                        // nil without one
	log    *slog.Logger
	tokens *auth.TokensFile // of --auth-tokens; nil without
	audit  *audit.Log       // of --audit; nil without
}

// reloadOptions say what is read again, and when.
type reloadOptions struct {
	path, lock string
	others     []string
	watch      bool // reload when a file changes
	page       bool // a page shows when a file changes
}

// newReloader begins to listen before the file is read, so that no change is
// missed.
func newReloader(a *app, o reloadOptions) (*reloader, error) {
	r := &reloader{
		app: a, path: o.path, others: append(o.others, cmp.Or(o.lock, lock.Path(o.path))),
		seen: contents{}, hangup: make(chan os.Signal, 1), replace: o.watch,
	}
	if o.watch || o.page {
		var err error
		if r.watch, err = fsnotify.NewWatcher(); err != nil {
			return nil, failedf("--watch: %w", err)
		}
		_ = watch(r.watch, r.files()) // run tries again, and says what cannot be
	}
	r.seen.changed(r.files())
	signal.Notify(r.hangup, syscall.SIGHUP)
	return r, nil
}

func (r *reloader) close() {
	signal.Stop(r.hangup)
	if r.watch != nil {
		_ = r.watch.Close()
	}
}

// files are the files to watch.
func (r *reloader) files() []string {
	paths := append([]string{r.path}, r.others...)
	if r.of != nil {
		if a := r.of.File().Server.Auth; a != nil && a.TokensFile != "" {
			paths = append(paths, a.TokensFile)
		}
	}
	return paths
}

// run reloads until ctx is done.
func (r *reloader) run(ctx context.Context) {
	var events chan fsnotify.Event
	var troubles chan error
	var settled <-chan time.Time
	if r.watch != nil {
		events, troubles = r.watch.Events, r.watch.Errors
		settled = time.After(0) // something may have changed while the file was read
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hangup:
			if r.audit != nil {
				if err := r.audit.Reopen(); err != nil {
					r.log.Error("cannot reopen the file of --audit; still writing to the previous one", "error", err)
				}
			}
			_ = r.reload(ctx)
		case <-events:
			if settled == nil {
				settled = time.After(settle)
			}
		case err := <-troubles:
			r.log.Warn("cannot watch all files for changes", "error", err)
			settled = time.After(settle) // changes may have been missed
		case <-settled:
			settled = nil
			r.follow()
			r.changed(ctx)
		}
	}
}

// changed reloads if a file has another text than before, or only tells the page.
func (r *reloader) changed(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.look(ctx) {
		return
	}
	if r.replace {
		_ = r.again(ctx)
	} else {
		r.page.FileChanged()
	}
}

// reload replaces what is served, or explains why it could not. ctx ends the reading.
func (r *reloader) reload(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look(ctx)
	return r.again(ctx)
}

// look reports whether a file has another text than before. It is false when ctx ends.
func (r *reloader) look(ctx context.Context) bool {
	// One of them may be a pipe that is slow.
	changed, _ := unlessSignalled(ctx, func() (bool, error) { return r.seen.changed(r.files()), nil })
	return changed
}

// follow watches the files that there are now.
func (r *reloader) follow() {
	if r.watch == nil {
		return
	}
	if err := watch(r.watch, r.files()); err != nil {
		r.log.Warn("cannot watch a folder for changes", "error", err)
	}
}

// again replaces what is served, or logs why it could not.
func (r *reloader) again(ctx context.Context) error {
	if r.tokens != nil {
		if err := r.tokens.Reload(); err != nil {
			r.log.Warn("cannot reload the file of --auth-tokens; still using the previous tokens", "error", err)
		}
	}
	changes, err := unlessSignalled(ctx, func() (*mcpgraph.Changes, error) { return r.exchange(ctx) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var broken *mcpgraph.LoadError
	switch {
	case err == nil:
	case errors.As(err, &broken):
		r.report(worse(broken.Diagnostics, diag.Info), broken.Sources)
		r.log.Warn("the file has errors; still serving the previous version", "file", r.path)
	default:
		r.log.Warn("cannot reload the file; still serving the previous version", "file", r.path, "error", err)
	}
	if err != nil {
		if r.page != nil {
			r.page.FileChanged()
		}
		return err
	}
	r.follow() // the file may name others than before
	r.seen.note(r.files())
	ds, sources := r.of.Diagnostics()
	r.report(worse(ds, diag.Info), sources)
	r.log.Info("reloaded the file", append([]any{"file", r.path}, attributes(changes)...)...)
	if engine, ok := r.of.(*mcpgraph.Engine); ok && r.page != nil {
		r.page.Reloaded(engine)
	}
	return nil
}

// exchange reads the file again, or for the first time without errors.
func (r *reloader) exchange(ctx context.Context) (*mcpgraph.Changes, error) {
	if r.of != nil {
		return r.of.ReloadContext(ctx)
	}
	engine, err := r.load(ctx)
	if err != nil {
		return nil, err
	}
	r.of = engine
	return &mcpgraph.Changes{}, nil
}

// attributes names what has changed.
func attributes(c *mcpgraph.Changes) []any {
	var attrs []any
	for _, kind := range []struct {
		key   string
		names []string
	}{
		{"tools.added", c.ToolsAdded}, {"tools.changed", c.ToolsChanged}, {"tools.removed", c.ToolsRemoved},
		{"offers.added", c.OffersAdded}, {"offers.changed", c.OffersChanged}, {"offers.removed", c.OffersRemoved},
		{"servers.added", c.ServersAdded}, {"servers.changed", c.ServersChanged}, {"servers.removed", c.ServersRemoved},
		{"servers.kept", c.ServersKept},
	} {
		if len(kind.names) > 0 {
			attrs = append(attrs, kind.key, strings.Join(kind.names, " "))
		}
	}
	return attrs
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// reload reads the file again. Servers whose entries have not changed go on.
func (r *toolRunner) reload(ctx context.Context) error {
	_, err := unlessSignalled(ctx, func() (*mcpgraph.Changes, error) { return r.engine.ReloadContext(ctx) })
	var broken *mcpgraph.LoadError
	var short *memory.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &short):
		return failed(err)
	case errors.As(err, &broken):
		return r.refused(r.config, broken)
	case err != nil:
		// It has changed in a way that only another engine can serve.
		_ = r.engine.Close()
		r.engine = nil
		if err := r.readFile(ctx); err != nil {
			return err
		}
		return r.load(ctx)
	}
	ds, sources := r.engine.Diagnostics()
	if ds = worse(ds, diag.Info); len(ds) > 0 && !seenWarnings(r.app, r.config, ds, sources) {
		r.report(ds, sources)
	}
	return nil
}

// watched returns the files that a run depends on. The last one is the lock file, which
// need not be there.
func (r *toolRunner) watched() []string {
	paths := append([]string{r.config}, r.mcpFiles...)
	if path, ok := strings.CutPrefix(r.argsJSON, "@"); ok {
		paths = append(paths, path)
	}
	if r.context != "" && !isObject(r.context) {
		paths = append(paths, r.context)
	}
	return append(paths, r.runOptions.lock.file(r.config))
}

// runAgain runs whenever a file has changed, until a signal comes, and shows what
// became different.
func runAgain(a *app, o runOptions) (err error) {
	ctx, stop := a.untilSignal()
	defer stop()
	r, err := newToolRunner(a, o)
	if err != nil {
		return err
	}
	defer r.end(&err)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return failedf("--watch: %w", err)
	}
	defer w.Close()
	seen, before := contents{}, "" // before is the last result
	for {
		// Before the files are read, so that no change is missed.
		if err := watch(w, r.watched()); err != nil {
			return failedf("--watch: %w", err)
		}
		seen.changed(r.watched())
		after := r.outcome(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if after != "" {
			if err := r.showChange(before, after); err != nil {
				return err
			}
			before = after
		}
		names := r.watched()
		if !r.runOptions.lock.there(r.config) {
			names = names[:len(names)-1]
		}
		fmt.Fprintf(a.stderr, "waiting for changes of %s; Ctrl-C ends this\n", strings.Join(names, ", "))
		if err := r.awaitChange(ctx, w, seen); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// outcome runs once. It returns the result, indented, or an empty text if there is
// none; why has been shown then.
func (r *toolRunner) outcome(ctx context.Context) string {
	result, err := r.run(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return string(result.AppendIndent(nil, "  ")) + "\n"
	case ctx.Err() != nil, errors.As(err, &exit) && exit.err == nil: // it has been shown
	default:
		fmt.Fprintf(r.stderr, "mcpgraph: %v\n", err)
	}
	return ""
}

// showChange prints the first result as it is, and later ones as the difference to
// the one before.
func (r *toolRunner) showChange(before, after string) error {
	text := after
	switch {
	case before == after:
		text = "the result is the same\n"
	case before != "":
		color, err := r.color("auto", r.stdout)
		if err != nil {
			return err
		}
		text = diff.Unified("before", "now", before, after, color)
	}
	_, err := fmt.Fprint(r.stdout, text)
	return failed(err)
}

// awaitChange returns when one of the files holds something else than seen, or when
// ctx is done.
func (r *toolRunner) awaitChange(ctx context.Context, w *fsnotify.Watcher, seen contents) error {
	settled := time.After(0) // something may have changed during the run
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Events:
			settled = time.After(settle)
		case <-w.Errors:
			settled = time.After(settle) // changes may have been missed
		case <-settled:
			settled = nil
			if err := watch(w, r.watched()); err != nil {
				return failedf("--watch: %w", err)
			}
			if seen.changed(r.watched()) {
				return nil
			}
		}
	}
}

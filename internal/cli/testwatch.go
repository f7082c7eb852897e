package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch runs the tests, and again whenever one of their files changes, until ctx is
// done.
func (s *testSession) watch(ctx context.Context) error {
	changes, err := fsnotify.NewWatcher()
	if err != nil {
		return failedf("cannot watch files: %w", err)
	}
	defer changes.Close()
	seen := contents{}
	for {
		if err := s.once(ctx); err != nil {
			if stopped := interrupted(ctx); stopped != nil {
				return nil // that is how one ends it
			}
			var exit *exitError
			if !errors.As(err, &exit) || exit.err != nil { // else the report says it all
				fmt.Fprintf(s.stderr, "mcpgraph: %v\n", err)
			}
		}
		files := append(s.files, s.options.mcpFiles...)
		seen.note(files)
		if err := watch(changes, append(files, s.options.paths...)); err != nil {
			return failedf("cannot watch files: %w", err)
		}
		fmt.Fprintln(s.stderr, "mcpgraph: waiting for changes; press Ctrl-C to end")
		if !s.waitForChange(ctx, changes, seen) {
			return nil
		}
	}
}

// waitForChange returns true when files hold something else, or there are others, and
// false when ctx is done.
func (s *testSession) waitForChange(ctx context.Context, w *fsnotify.Watcher, seen contents) bool {
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-w.Events:
			settled = time.After(settle)
		case <-w.Errors:
			settled = time.After(settle) // something may have been missed
		case <-settled:
			settled = nil
			if s.changed(seen) {
				return true
			}
		}
	}
}

// changed reports whether the tests may end in another way now.
func (s *testSession) changed(seen contents) bool {
	files, err := testFiles(s.options.paths)
	if err != nil {
		return true
	}
	for _, path := range files {
		if _, known := seen[path]; !known {
			return true
		}
	}
	return seen.changed(append(s.files, s.options.mcpFiles...))
}

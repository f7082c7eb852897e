package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		seen.note(s.watched())
		if err := watch(changes, s.places()); err != nil {
			return failedf("cannot watch files: %w", err)
		}
		fmt.Fprintln(s.stderr, "mcpgraph: waiting for changes; press Ctrl-C to end")
		if !s.waitForChange(ctx, changes, seen) {
			return nil
		}
	}
}

// watched returns the files that the tests depend on. Not all need to be there.
func (s *testSession) watched() []string { return slices.Concat(s.files, s.options.mcpFiles) }

// places returns the paths in whose folders something happens when one of the files
// changes, or the folder of one is made.
func (s *testSession) places() []string {
	places := slices.Concat(s.watched(), s.options.paths)
	for i, path := range places {
		for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
			if _, err := os.Stat(filepath.Dir(at)); err == nil {
				places[i] = at
				break
			}
		}
	}
	return places
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
			_ = watch(w, s.places()) // a folder may be new; without it the next change is missed at worst
			if s.changed(seen) {
				return true
			}
		}
	}
}

// changed reports whether the tests may end in another way now.
func (s *testSession) changed(seen contents) bool {
	files, err := (&fileSearch{app: s.app, tests: true}).files(s.options.paths)
	if err != nil {
		return true
	}
	for _, path := range files {
		if _, known := seen[path]; !known {
			return true
		}
	}
	return seen.changed(s.watched())
}

package cli

import (
	"crypto/sha256"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

// contents identifies the contents of files, so that changes are found whatever
// the modification times are.
type contents map[string][sha256.Size]byte

// changed reports whether one of the files holds something else than at the last
// call that named it. A file that cannot be read holds nothing.
func (c contents) changed(paths []string) bool {
	changed := false
	for _, path := range paths {
		text, _ := boundedfile.Read(path)
		sum := sha256.Sum256(text)
		before, known := c[path]
		c[path] = sum
		changed = changed || known && before != sum
	}
	return changed
}

// note takes down what files hold that were not named before.
func (c contents) note(paths []string) {
	for _, path := range paths {
		if _, known := c[path]; !known {
			c.changed([]string{path})
		}
	}
}

// watch makes w watch the folders in which something happens when one of the
// files is written, replaced by another one, or found by other symbolic links.
// The error is that of the first folder that cannot be watched.
func watch(w *fsnotify.Watcher, paths []string) (failed error) {
	for _, path := range paths {
		folders := map[string]bool{}
		if absolute, err := filepath.Abs(path); err == nil {
			folders[filepath.Dir(absolute)] = true
			links(absolute, folders, 0)
		}
		for folder := range folders {
			if err := w.Add(folder); err != nil && failed == nil {
				failed = err
			}
		}
	}
	return failed
}

// links adds the folders of the symbolic links that a path goes through, and of
// what they lead to.
func links(path string, folders map[string]bool, depth int) {
	const most = 40 // as many as Linux follows
	for at := path; at != filepath.Dir(at) && depth < most; at = filepath.Dir(at) {
		target, err := os.Readlink(at)
		if err != nil {
			continue
		}
		folders[filepath.Dir(at)] = true
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		rest, err := filepath.Rel(at, path)
		if err != nil {
			continue
		}
		next := filepath.Join(target, rest)
		folders[filepath.Dir(next)] = true
		links(next, folders, depth+1)
	}
}

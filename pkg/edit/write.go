package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/mcpgraph/mcpgraph/internal/atomicfile"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

// Revision identifies a text: equal texts have the same one. The zero Revision
// stands for a file that does not exist.
type Revision string

// RevisionOf returns the revision of a text.
func RevisionOf(text []byte) Revision {
	sum := sha256.Sum256(text)
	return Revision(hex.EncodeToString(sum[:16]))
}

// ErrConflict is in the error of Write if the file is not what it was.
var ErrConflict = errors.New("the file has changed since it was read")

// Write replaces the text of a file that has the revision old, or creates it if
// old is zero. If the file has another text by now, it is left as it is, and the
// error wraps ErrConflict.
//
// It writes a temporary file in the same folder and renames it, through symbolic
// links, and keeps the mode and the owner of the file. After an error the file is
// as it was. Writers of the same file, in this and in other processes of the same
// user, take turns; so of two edits of one revision one is a conflict.
func Write(path string, old Revision, text []byte) error {
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := boundedfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if old != "" {
			return fmt.Errorf("%s: %w: it has been removed", path, ErrConflict)
		}
	case err != nil:
		return err
	case old == "":
		return fmt.Errorf("%s: %w: it exists already", path, ErrConflict)
	case RevisionOf(now) != old:
		return fmt.Errorf("%s: %w", path, ErrConflict)
	}
	return atomicfile.Write(path, text, 0o644)
}

// lock makes the writers of a file take turns. The lock has a file of its own, in
// the cache of the user, so that none appears beside the configuration.
func lock(path string) (unlock func(), err error) {
	path, err = atomicfile.Resolve(path)
	if err != nil {
		return nil, err
	}
	folder, err := lockFolder()
	if err != nil {
		return nil, fmt.Errorf("there is no place for locks: %w", err)
	}
	return lockedfile.MutexAt(filepath.Join(folder, string(RevisionOf([]byte(path))))).Lock()
}

// lockFolder returns the folder of the lock files: in the cache of the user or,
// where there is none, among temporary files.
func lockFolder() (string, error) {
	if cache, err := os.UserCacheDir(); err == nil {
		folder := filepath.Join(cache, "mcpgraph", "locks")
		if os.MkdirAll(folder, 0o700) == nil {
			return folder, nil
		}
	}
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("mcpgraph-locks-%d", os.Getuid()))
	return folder, os.MkdirAll(folder, 0o700)
}

//go:build unix

package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and group of the one that it replaces.
func keepOwner(f *os.File, old fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	is, isKnown := now.Sys().(*syscall.Stat_t)
	was, wasKnown := old.Sys().(*syscall.Stat_t)
	if !isKnown || !wasKnown || is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
		return fmt.Errorf("the owner of %s cannot be kept: %w", old.Name(), err)
	}
	return nil
}

// syncFolder makes a rename last through a crash. Some file systems cannot, and
// the file is replaced in any case.
func syncFolder(path string) {
	if f, err := os.Open(path); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

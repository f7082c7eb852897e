// Package atomicfile replaces files as a whole: who reads one sees the old text
// or the new one, never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write replaces the text of a file, or creates the file with a mode, of which the
// umask takes its part. It writes a
// temporary file in the same folder, flushes it to the disk and renames it. A
// symbolic link stays, and the file it points to is replaced. A file that is there
// keeps its mode and its owner.
//
// After an error the old file is as it was. A file that its user must not write,
// or whose owner cannot be kept, is an error. It is safe for concurrent use; of two
// writers at the same time the later one wins.
func Write(path string, text []byte, mode fs.FileMode) error {
	path, err := Resolve(path)
	if err != nil {
		return err
	}
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("not a regular file")}
	default:
		mode = old.Mode().Perm()
		// A rename needs no permission to write the file itself.
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return replace(path, text, mode, old)
}

func replace(path string, text []byte, mode fs.FileMode, old fs.FileInfo) error {
	private := mode
	if old != nil {
		private = 0o600 // until it has its owner
	}
	name := fmt.Sprintf(".%s-%016x", filepath.Base(path), rand.Uint64())
	temp, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, private)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // does nothing once it is renamed
	_, err = temp.Write(text)
	if err == nil && old != nil {
		if err = keepOwner(temp, old); err == nil {
			err = temp.Chmod(mode)
		}
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// Resolve returns the path behind symbolic links. A link to a file that does not
// exist yet leads to the place of that file.
func Resolve(path string) (string, error) {
	const maxLinks = 40
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Abs(real)
		}
		target, linkErr := os.Readlink(path)
		if linkErr != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
			return filepath.Abs(path) // the file is new
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", &fs.PathError{Op: "write", Path: path, Err: errors.New("too many symbolic links")}
}

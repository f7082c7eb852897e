//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file belongs to the owner of the process.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// syncFolder does nothing: folders cannot be flushed here.
func syncFolder(string) {}

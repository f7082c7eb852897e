//go:build !unix

package runsock

import (
	"os"
	"path/filepath"
)

// Folder returns the folder of the sockets of this user.
func Folder(func(string) (string, bool)) string {
	dir, err := os.UserCacheDir() // of the user alone
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "mcpgraph", "run")
}

func check(folder string) error {
	_, err := os.Stat(folder)
	return err
}

//go:build unix

package runsock

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Folder returns the folder of the sockets of this user.
func Folder(getenv func(string) (string, bool)) string {
	if dir, ok := getenv("XDG_RUNTIME_DIR"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcpgraph")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("mcpgraph-%d", os.Getuid()))
}

// check returns an error for a folder that others than this user can use.
func check(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a folder of this user alone (mode 0700)", folder)
	}
	return nil
}

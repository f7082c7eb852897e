//go:build unix

package cli

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// become replaces this process.
func become(a *app, path string, environ []string) error {
	if a.onStdin != nil {
		if err := restoreStdin(*a.onStdin); err != nil {
			return failedf("cannot hand stdin to %s: %w", path, err)
		}
	}
	err := syscall.Exec(path, append([]string{path}, a.argv...), environ)
	return failedf("%s does not start: %w", path, err)
}

// restoreStdin makes stdin begin with what was read of it, up to its end.
func restoreStdin(text string) error {
	f, err := os.CreateTemp("", "mcpgraph")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return unix.Dup2(int(f.Fd()), syscall.Stdin)
}

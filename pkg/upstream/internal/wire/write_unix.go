//go:build unix

package wire

import (
	"io"
	"os"
	"syscall"
)

// withoutWaiting returns a function for one goroutine at a time that writes to
// w as much as goes at once, or nil if w is not the system's.
func withoutWaiting(w io.Writer) func([]byte) int {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	var (
		text []byte
		n    int
	)
	write := func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), text) // the write of the rest gets the error
		return true
	}
	return func(b []byte) int {
		text, n = b, 0
		_ = conn.Write(write) // it fails when the file is closed, with n 0
		text = nil
		return max(n, 0)
	}
}

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// raise ends the process by a signal. It returns if the signal cannot end it.
func raise(s syscall.Signal) {
	if os.Getpid() == 1 {
		return // the first process of a container gets no signal that it does not handle
	}
	signal.Reset(s)
	if signal.Ignored(s) {
		return
	}
	if syscall.Kill(os.Getpid(), s) == nil {
		time.Sleep(time.Second) // another thread may take it
	}
}

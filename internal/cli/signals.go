package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// untilSignal returns a context that ends, with a cause that names it, at the
// first signal that asks the program to stop. The second one ends the process.
func (a *app) untilSignal() (context.Context, func()) {
	return a.until(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// until is untilSignal for these signals. Broken pipes become errors of the
// write, so that servers are ended before the program is.
//
// The returned function ends the context only. Signals are caught until the
// process ends: the first one that comes while a command ends its servers must
// not leave them behind.
func (a *app) until(signals ...os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, signals...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		first := <-stop
		cancel(&signalError{first})
		if first == os.Interrupt && a.isTerminal(a.stderr) {
			time.AfterFunc(stoppingDelay, func() {
				fmt.Fprintln(a.stderr, "mcpgraph: stopping; press Ctrl-C again to end at once")
			})
		}
		os.Exit(killedBy(<-stop))
	}()
	return ctx, func() { cancel(nil) }
}

// stoppingDelay is how long a command may take to stop before it prints that it
// is stopping.
const stoppingDelay = 100 * time.Millisecond

// killedBy returns the exit code of a process that this signal ended.
func killedBy(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return exitSignal + int(number)
	}
	return exitFailed
}

// interrupted returns the error of a command that a signal ended, or nil if
// none has.
func interrupted(ctx context.Context) error {
	var signalled *signalError
	if errors.As(context.Cause(ctx), &signalled) {
		return failed(signalled)
	}
	return nil
}

// signalError is the cause of the end of a command that a signal stopped.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return fmt.Sprintf("stopped by a signal (%v)", e.signal) }

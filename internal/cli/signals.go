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
// first signal that asks the program to stop. When the command has cleaned up, the
// process ends by that signal. A second one ends it at once.
func (a *app) untilSignal() (context.Context, func()) {
	return a.untilOneOf(stopSignals...)
}

// stopSignals ask a program to stop. SIGHUP does when its terminal has closed.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// untilOneOf is untilSignal for these signals.
func (a *app) untilOneOf(signals ...os.Signal) (context.Context, func()) {
	return a.until(func(s os.Signal) { a.stopped.Store(&signalError{s}) }, signals...)
}

// whileServing is untilSignal for commands that serve others until one of these signals
// stops them. That is their success.
func (a *app) whileServing(signals ...os.Signal) (context.Context, func()) {
	a.serving = true
	return a.until(func(os.Signal) {}, signals...)
}

// until returns a context that ends at the first of these signals, after stopped was
// called. Broken pipes become errors of the write, so that servers are ended before the
// program is.
//
// The returned function ends the context only. Signals are caught until the
// process ends: the first one that comes while a command ends its servers must
// not leave them behind.
func (a *app) until(stopped func(os.Signal), signals ...os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := make(chan os.Signal, 2)
	for _, s := range signals {
		if s != syscall.SIGHUP || !signal.Ignored(s) { // nohup lets the process ignore it
			signal.Notify(stop, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		first := <-stop
		stopped(first)
		cancel(&signalError{first})
		if first == os.Interrupt && a.isTerminal(a.stderr) {
			time.AfterFunc(stoppingDelay, func() {
				fmt.Fprintln(a.stderr, "mcpgraph: stopping; press Ctrl-C again to end at once")
			})
		}
		Exit(killedBy(<-stop))
	}()
	return ctx, func() { cancel(nil) }
}

// stoppingDelay is how long a command may take to stop before it prints that it
// is stopping.
const stoppingDelay = 100 * time.Millisecond

// Exit ends the process with a code that Main has returned. If it is that of a signal,
// the process ends by this signal, if the system can do that. Shells end their loops only
// for programs that end so.
func Exit(code int) {
	if code > exitSignal {
		raise(syscall.Signal(code - exitSignal))
	}
	os.Exit(code)
}

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

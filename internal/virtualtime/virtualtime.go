// Package virtualtime runs functions in bubbles of testing/synctest, in a program
// that is no test.
//
// Time in a bubble is its own. It begins at midnight UTC on 2000-01-01 and jumps to
// the next timer when all goroutines of the bubble wait. So hours pass in no real time,
// also in libraries that know only the clock of the machine.
//
// The package testing hands out bubbles only to tests. Start therefore has
// [testing.Main] run one test, which never ends and hands out its *testing.T. Only
// documented functions are used, and nothing is printed.
package virtualtime

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
)

// ErrDeadlock is returned if all goroutines of a bubble wait for something that
// cannot happen.
var ErrDeadlock = errors.New("everything waits for something that cannot happen")

// PanicError is returned if a function panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// host is the test that all bubbles belong to.
var host = sync.OnceValue(func() *testing.T {
	startResolver()
	testing.Init()
	if !flag.Parsed() {
		_ = flag.CommandLine.Parse(nil)
	}
	// In a test binary, the second run would truncate these files.
	for _, name := range []string{"test.testlogfile", "test.cpuprofile", "test.memprofile", "test.trace"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			before := f.Value.String()
			_ = flag.Set(name, "")
			defer func() { _ = flag.Set(name, before) }()
		}
	}
	ready := make(chan *testing.T)
	go testing.Main(
		func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "virtualtime", F: func(t *testing.T) {
			ready <- t
			select {} // its end would be that of the process
		}}}, nil, nil)
	return <-ready
})

// startResolver lets the resolver of the package net make the channel that it has for the
// whole process. Made in a bubble, it would end the process at the first look-up outside.
func startResolver() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // nobody is asked
	_, _ = net.DefaultResolver.LookupHost(ctx, "localhost")
}

// Run runs f in a bubble and returns when f and all goroutines that it has started
// have ended. The error is ErrDeadlock or a *PanicError of f itself; a panic in another
// goroutine ends the process. Channels, timers and WaitGroups of a bubble must not be used
// outside of it. Run is safe for concurrent use; bubbles run side by side.
func Run(f func()) error {
	t := host()
	result := make(chan error, 1)
	go func() {
		ended := false
		var failed error
		defer func() {
			// What f panicked with is known already: this is of the bubble.
			if recover() != nil || !ended {
				failed = cmp.Or[error](failed, ErrDeadlock)
			}
			result <- failed
		}()
		synctest.Test(t, func(*testing.T) {
			defer func() {
				if p := recover(); p != nil {
					failed = &PanicError{p, debug.Stack()}
				}
			}()
			f()
		})
		ended = true
	}()
	return <-result
}

package server

import (
	"testing"
	"time"
)

// SetTimes gives clients of the servers that are made until the test ends less
// time to send headers and bodies, and to read.
func SetTimes(t testing.TB, send, read time.Duration) {
	before := defaultTimeouts
	defaultTimeouts.header, defaultTimeouts.body, defaultTimeouts.write = send, send, read
	t.Cleanup(func() { defaultTimeouts = before })
}

// SetShutdown sets how long calls have to return once a server ends.
func SetShutdown(t testing.TB, d time.Duration) {
	before := defaultTimeouts
	defaultTimeouts.shutdown = d
	t.Cleanup(func() { defaultTimeouts = before })
}

// SetUnread lets fewer bytes wait for a client on pipes, of the servers that are
// made until the test ends.
func SetUnread(t testing.TB, n int) {
	before := defaultTimeouts
	defaultTimeouts.unread = n
	t.Cleanup(func() { defaultTimeouts = before })
}

// SetMaxSubscriptions bounds subscriptions otherwise until the test ends.
func SetMaxSubscriptions(t testing.TB, one, all int) {
	beforeOne, beforeAll := maxSubscriptionsPerCaller, maxSubscriptions
	maxSubscriptionsPerCaller, maxSubscriptions = one, all
	t.Cleanup(func() { maxSubscriptionsPerCaller, maxSubscriptions = beforeOne, beforeAll })
}

// SetRecheck sets the interval at which tokens are checked again, of the servers
// that are made until the test ends.
func SetRecheck(t testing.TB, every time.Duration) {
	before := defaultTimeouts
	defaultTimeouts.recheck = every
	t.Cleanup(func() { defaultTimeouts = before })
}

package server

import (
	"testing"
	"time"
)

// SetTimes gives clients of the servers that are made until the test ends less
// time to send headers and bodies, and to read.
func SetTimes(t testing.TB, send, read time.Duration) {
	before := patient
	patient.header, patient.body, patient.write = send, send, read
	t.Cleanup(func() { patient = before })
}

// SetUnread lets fewer bytes wait for a client on pipes, of the servers that are
// made until the test ends.
func SetUnread(t testing.TB, n int) {
	before := patient
	patient.unread = n
	t.Cleanup(func() { patient = before })
}

// SetMaxListeners bounds subscriptions otherwise until the test ends.
func SetMaxListeners(t testing.TB, one, all int) {
	beforeOne, beforeAll := maxListenersOne, maxListeners
	maxListenersOne, maxListeners = one, all
	t.Cleanup(func() { maxListenersOne, maxListeners = beforeOne, beforeAll })
}

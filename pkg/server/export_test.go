package server

import (
	"testing"
	"time"
)

// SetTimes gives clients less time to send headers and bodies, and to read, until
// the test ends. No server may run.
func SetTimes(t testing.TB, send, read time.Duration) {
	header, body, write := headerTime, bodyTime, writeTime
	headerTime, bodyTime, writeTime = send, send, read
	t.Cleanup(func() { headerTime, bodyTime, writeTime = header, body, write })
}

// SetUnread lets fewer bytes wait for a client on pipes, until the test ends. No
// server may run.
func SetUnread(t testing.TB, n int) {
	before := maxUnread
	maxUnread = n
	t.Cleanup(func() { maxUnread = before })
}

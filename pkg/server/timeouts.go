package server

import "time"

// timeouts are the limits for slow clients, and intervals.
type timeouts struct {
	header, body time.Duration // time to send the headers of a request, and its body
	write        time.Duration // time to read each piece of an answer
	unread       int           // bytes of answers that may wait on standard output
	recheck      time.Duration // interval at which revocable tokens are checked again
	shutdown     time.Duration // for cancelled calls to return and clients to read their answers
}

// defaultTimeouts are the timeouts of servers that New returns. Tests shorten
// them.
var defaultTimeouts = timeouts{header: 10 * time.Second, body: 30 * time.Second, write: 30 * time.Second, unread: 256 << 20, recheck: 30 * time.Second, shutdown: 3 * time.Second}

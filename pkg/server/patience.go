package server

import "time"

// patience is what a server bears with in its clients.
type patience struct {
	header, body time.Duration // to send the headers of a request, and its body
	write        time.Duration // to read each piece of an answer
	unread       int           // bytes of answers that wait on standard output
}

// patient is the patience of the servers that New returns. Tests want less of
// it.
var patient = patience{header: 10 * time.Second, body: 30 * time.Second, write: 30 * time.Second, unread: 256 << 20}

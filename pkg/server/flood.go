package server

import "time"

// A call may tell its client so many things at once, and so many a second from
// then on, each of progress and of log messages. A graph that goes round and
// round, or a server that it calls, would fill the client's connection otherwise
// (MCP 2025-11-25, Progress and Logging: both are to be limited in rate).
const (
	floodBurst = 1000
	floodRate  = 1000 // a second
)

// flood lets through what is not too much.
type flood struct {
	began bool
	left  float64 // of what may be said at once
	at    time.Time
}

func (f *flood) lets() bool {
	now := time.Now()
	if !f.began {
		f.began, f.left = true, floodBurst
	} else {
		f.left = min(floodBurst, f.left+now.Sub(f.at).Seconds()*floodRate)
	}
	f.at = now
	if f.left < 1 {
		return false
	}
	f.left--
	return true
}

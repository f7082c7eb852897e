package wire

import (
	"context"
	"time"
)

// Backoff is the growing wait between attempts to listen to a server.
type Backoff struct {
	next  time.Duration
	began time.Time
}

const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// Attempt is what came of an attempt to listen.
type Attempt int

const (
	Failed Attempt = iota // there was no stream
	Silent                // the stream ended without a message
	Useful                // the stream brought a message, or is that of a request that waits
)

// Wait waits before the next attempt: for as long as the server asked for, but longer and
// longer after attempts that failed, and after streams that end at once although the server
// asked for less than a second. Useful ones it follows by a second at most. If asked is 0,
// the server asked for nothing. It reports false if ctx ends first.
func (p *Backoff) Wait(ctx context.Context, asked time.Duration, was Attempt) bool {
	timer := time.NewTimer(p.pause(time.Since(p.began), asked, was))
	defer timer.Stop()
	defer func() { p.began = time.Now() }()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pause returns how long to wait after an attempt that took so long.
func (p *Backoff) pause(took, asked time.Duration, was Attempt) time.Duration {
	hurried := asked > 0 && was != Failed
	switch {
	case hurried && (p.next == 0 || took > firstPause):
		p.next = asked
	case !hurried && took > maxPause:
		p.next = firstPause
	case !hurried:
		p.next = max(p.next, firstPause)
	}
	if hurried && asked >= firstPause {
		return asked
	}
	d := max(p.next, asked)
	p.next = min(2*p.next, maxPause)
	if hurried && was == Useful {
		d = min(d, firstPause)
	}
	return d
}

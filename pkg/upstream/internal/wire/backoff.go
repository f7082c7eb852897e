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

// Wait waits before the next attempt, for as long as the server asked for, or
// for longer and longer if asked is 0. It reports false if ctx ends first.
func (p *Backoff) Wait(ctx context.Context, asked time.Duration) bool {
	if p.next == 0 || time.Since(p.began) > maxPause {
		p.next = firstPause
	}
	d := p.next
	p.next = min(2*p.next, maxPause)
	if asked > 0 {
		d = asked
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	defer func() { p.began = time.Now() }()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

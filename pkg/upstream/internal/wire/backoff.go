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

// Wait waits before the next attempt, for as long as the server asked for. If asked is
// 0, or the latest attempt failed, it waits for longer and longer, and for asked at least.
// It reports false if ctx ends first.
func (p *Backoff) Wait(ctx context.Context, asked time.Duration, failed bool) bool {
	if p.next == 0 || time.Since(p.began) > maxPause {
		p.next = firstPause
	}
	d := p.next
	p.next = min(2*p.next, maxPause)
	if asked > d || asked > 0 && !failed {
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

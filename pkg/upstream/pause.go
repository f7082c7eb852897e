package upstream

import (
	"context"
	"time"
)

// pause is the growing wait between attempts to listen to a server.
type pause struct {
	next  time.Duration
	began time.Time
}

const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// wait waits before the next attempt, for as long as the server asked for, or
// for longer and longer where asked is 0. It reports false if ctx ends first.
func (p *pause) wait(ctx context.Context, asked time.Duration) bool {
	if p.next == 0 || time.Since(p.began) > wellAfter {
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

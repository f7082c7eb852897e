package debug

import (
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// clock is the port of a run under control. Its time stands still while the run is
// paused, and so do its timers: delays, sleeps, timeouts and limits.
type clock struct {
	executor.Port

	mu     sync.Mutex
	paused bool
	since  time.Time     // when the pause began
	lost   time.Duration // in pauses that are over
	timers map[*timer]bool
}

// timer is one that has not fired.
type timer struct {
	clock *clock
	at    time.Time // by the clock
	f     func()
	stop  func() bool // nil while the clock stands still
}

func newClock(p executor.Port) *clock { return &clock{Port: p, timers: map[*timer]bool{}} }

// Now implements executor.Port.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *clock) now() time.Time {
	now := c.since
	if !c.paused {
		now = c.Port.Now()
	}
	return now.Add(-c.lost)
}

// AfterFunc implements executor.Port.
func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	t := &timer{clock: c, f: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.at = c.now().Add(d)
	c.timers[t] = true
	if !c.paused {
		t.start(d)
	}
	return t.cancel
}

// start starts a timer; the clock is locked.
func (t *timer) start(d time.Duration) { t.stop = t.clock.Port.AfterFunc(d, t.fire) }

// fire is called when the time is over, which may be during a pause that has just
// begun.
func (t *timer) fire() {
	c := t.clock
	c.mu.Lock()
	due := c.timers[t] && !c.paused
	if due {
		delete(c.timers, t)
	}
	c.mu.Unlock()
	if due {
		t.f()
	}
}

func (t *timer) cancel() bool {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.timers[t] {
		return false
	}
	delete(c.timers, t)
	if t.stop != nil {
		t.stop()
	}
	return true
}

// pause stops the clock.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		return
	}
	c.paused, c.since = true, c.Port.Now()
	for t := range c.timers {
		t.stop()
		t.stop = nil
	}
}

// resume lets the clock go on.
func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused {
		return
	}
	c.lost += c.Port.Now().Sub(c.since)
	c.paused = false
	now := c.now()
	for t := range c.timers {
		t.start(max(0, t.at.Sub(now)))
	}
}

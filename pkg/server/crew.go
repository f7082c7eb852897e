package server

import "sync/atomic"

// idleHands is how many goroutines of a crew wait for work at the most.
const idleHands = 32

// crew runs functions at once, each in a goroutine of its own, and uses the
// goroutines again: one that is new has a small stack, and to grow it for the
// decoding of a message took a quarter of the time of a short call.
type crew struct {
	work chan func()
	over chan struct{} // closed when nothing more comes
	idle atomic.Int32
}

func newCrew() *crew { return &crew{work: make(chan func()), over: make(chan struct{})} }

// do runs f. It does not wait.
func (c *crew) do(f func()) {
	select {
	case c.work <- f:
	default:
		go c.run(f)
	}
}

// disband ends the goroutines that wait, and the others as they finish.
func (c *crew) disband() { close(c.over) }

func (c *crew) run(f func()) {
	for {
		f()
		f = nil // what it holds must not wait with us
		if c.idle.Add(1) > idleHands {
			c.idle.Add(-1)
			return
		}
		select {
		case f = <-c.work:
			c.idle.Add(-1)
		case <-c.over:
			return
		}
	}
}

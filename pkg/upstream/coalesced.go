package upstream

import (
	"sync"
	"sync/atomic"
)

// coalesced runs a function in the background, never twice at once. Runs that are asked
// for while one waits are one.
type coalesced struct {
	running sync.Mutex
	waiting atomic.Bool
}

func (c *coalesced) run(f func()) {
	if c.waiting.Swap(true) {
		return
	}
	go func() {
		c.running.Lock()
		defer c.running.Unlock()
		c.waiting.Store(false)
		f()
	}()
}

// Package regexclock keeps the clock of regexp2 going, by which searches that backtrack
// have timeouts.
package regexclock

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/mcpgraph/mcpgraph/internal/background"
)

// Longest is the longest timeout that a search may have.
const Longest = 5 * time.Second

const (
	// clockPeriod is how exactly regexp2 keeps its timeouts. Its default is 100 ms.
	clockPeriod = 10 * time.Millisecond
	// checkPeriod is how often the clock looks whether anybody still needs it.
	checkPeriod = time.Second
)

// Keep lets searches that begin now have timeouts, of Longest at most. Call it before each
// search. It costs a few nanoseconds while others search, too.
//
// The library keeps the time in a goroutine that the first search with a timeout starts,
// or a later one after a pause. In a bubble of virtual time, that goroutine would end with
// the bubble, and no search of the process would have a timeout any more. So a goroutine
// of the process starts it, for longer than any search may take.
func Keep() { timeouts.keep() }

var timeouts timeoutClock

type timeoutClock struct {
	state atomic.Int32
	mu    sync.Mutex // of changes to and from stopped
}

// States of a timeoutClock.
const (
	stopped int32 = iota
	going         // nobody has searched since the last check
	needed
)

// keep lets the clock go for the longest search from now.
func (c *timeoutClock) keep() {
	for {
		switch c.state.Load() {
		case needed:
			return
		case going:
			if c.state.CompareAndSwap(going, needed) {
				return
			}
		default:
			background.Do(c.start)
		}
	}
}

func (c *timeoutClock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Load() != stopped {
		return
	}
	extendClock()
	c.state.Store(needed)
	go c.run()
}

func (c *timeoutClock) run() {
	for {
		time.Sleep(checkPeriod)
		c.mu.Lock()
		over := c.state.CompareAndSwap(going, stopped)
		if !over {
			c.state.Store(going)
			extendClock()
		}
		c.mu.Unlock()
		if over {
			return
		}
	}
}

// tick is a search that only lets the library keep the time for as long as its timeout.
var tick = sync.OnceValue(func() *regexp2.Regexp {
	regexp2.SetTimeoutCheckPeriod(clockPeriod) // before the clock goes for the first time
	re := regexp2.MustCompile("x", regexp2.None)
	re.MatchTimeout = Longest + 3*checkPeriod
	return re
})

func extendClock() { _, _ = tick().MatchString("x") }

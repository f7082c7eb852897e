package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// breakersByTool are the circuit breakers of one identity, by tool.
type breakersByTool struct {
	settings *config.CircuitBreaker // nil: there are none
	mu       sync.Mutex
	byTool   map[string]*breaker
}

func (b *breakersByTool) of(tool string) *breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.byTool[tool]
	if one == nil {
		one = &breaker{settings: b.settings}
		if b.byTool == nil {
			b.byTool = map[string]*breaker{}
		}
		b.byTool[tool] = one
	}
	return one
}

func (b *breakersByTool) count(into map[Breaker]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for tool, one := range b.byTool {
		one.mu.Lock()
		into[Breaker{Tool: tool, State: one.state.String()}]++
		one.mu.Unlock()
	}
}

// breakerState is the state of a circuit breaker.
type breakerState uint8

const (
	closed   breakerState = iota // calls go through
	open                         // no call goes through
	halfOpen                     // a few go through to find out whether it can close
)

func (s breakerState) String() string { return [...]string{"closed", "open", "half-open"}[s] }

// breaker is the circuit breaker of one tool. If it is half open, a call that goes
// through is a probe.
type breaker struct {
	settings *config.CircuitBreaker

	mu        sync.Mutex
	state     breakerState
	failures  int // in a row, while it is closed
	successes int // of probes, while it is half open
	probes    int // under way
	openedAt  time.Time
	latest    string // the latest failure, in words
}

// enter asks for permission. If it is refused, why says so; else leave has to be called.
func (b *breaker) enter() (probe bool, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == closed {
		return false, ""
	}
	wait := b.settings.ResetTimeout - time.Since(b.openedAt)
	if b.state == open && wait <= 0 {
		b.state, b.successes = halfOpen, 0
	}
	if b.state == halfOpen && b.probes < max(1, b.settings.HalfOpenMaxCalls) {
		b.probes++
		return true, ""
	}
	why = fmt.Sprintf("its circuit breaker is open after %d failures in a row", max(1, b.settings.FailureThreshold))
	if b.state == open {
		why += fmt.Sprintf(", for another %v", wait.Round(time.Millisecond))
	} else {
		why += ", until the calls that try it out have succeeded"
	}
	if b.latest != "" {
		why += "; the latest failure: " + b.latest
	}
	return false, why
}

// leave takes the outcome of a call, and returns the states before and after that. Calls
// that began before the breaker opened tell nothing about what is found out then.
func (b *breaker) leave(probe, learnt bool, f Failure) (before, after breakerState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probes--
	}
	before = b.state
	if learnt && f.Fault {
		b.latest = f.Words
	}
	switch {
	case !learnt:
	case b.state == closed && !f.Fault:
		b.failures = 0
	case b.state == closed:
		if b.failures++; b.failures >= max(1, b.settings.FailureThreshold) {
			b.open()
		}
	case b.state == halfOpen && probe && f.Fault:
		b.open()
	case b.state == halfOpen && probe:
		if b.successes++; b.successes >= max(1, b.settings.SuccessThreshold) {
			b.state, b.failures = closed, 0
		}
	}
	return before, b.state
}

func (b *breaker) open() { b.state, b.openedAt = open, time.Now() }

// errUnfinished is the outcome of a call that panicked. What it ran may be code of
// the program that embeds the engine.
var errUnfinished = errors.New("the call did not finish")

// breaker is the layer of the circuit breakers.
func (l *Layers) breaker(next Caller) Caller {
	return func(ctx context.Context, c *Call) (reply Reply, err error) {
		b := l.stateOf(c).breakers.of(c.key())
		probe, why := b.enter()
		if why != "" {
			return Reply{}, l.Errors.Broken(c, why)
		}
		err = errUnfinished // unless nothing panics
		defer func() {
			f := l.Classify(err)
			before, after := b.leave(probe, err != errUnfinished && !f.Silent, f)
			if before != after {
				l.Log(c).WarnContext(ctx, "circuit breaker", "tool", c.key(), "was", before.String(), "is", after.String())
			}
		}()
		return next(ctx, c)
	}
}

// Breaker counts the circuit breakers of a tool in one state. There is one for each
// caller if calls carry callers' credentials, else one.
type Breaker struct {
	Tool  string `json:"tool"`
	State string `json:"state"` // closed, open or half-open
	Count int    `json:"count"`
}

// Breakers counts the circuit breakers, in the order of tools and states.
func (l *Layers) Breakers() []Breaker {
	if l.Entry.CircuitBreaker == nil {
		return nil
	}
	counted := map[Breaker]int{}
	l.shared.breakers.count(counted)
	for state := range l.callers.Values() {
		state.breakers.count(counted)
	}
	out := make([]Breaker, 0, len(counted))
	for b, n := range counted {
		b.Count = n
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Breaker) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.State, b.State))
	})
	return out
}

package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// breakersByTool are the circuit breakers of one identity, by tool.
type breakersByTool struct {
	settings *config.CircuitBreaker // nil: there are none
	mu       sync.Mutex
	byTool   map[string]*breaker
}

// breaker is the circuit breaker of one tool. Where it is half open, a call
// that goes through is a probe.
type breaker struct {
	circuit circuitbreaker.CircuitBreaker[any]
	probes  bulkhead.Bulkhead[any]
	latest  atomic.Pointer[string] // the latest failure, in words
}

func (b *breakersByTool) of(tool string) *breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.byTool[tool]
	if one == nil {
		failures, successes, probes := max(1, b.settings.FailureThreshold), max(1, b.settings.SuccessThreshold), max(1, b.settings.HalfOpenMaxCalls)
		// Room for more probes than are needed to close it must not make it
		// bear failures: leave sees to that.
		capacity := max(successes, probes)
		one = &breaker{
			circuit: circuitbreaker.NewBuilder[any]().
				WithFailureThreshold(uint(failures)).
				WithSuccessThresholdRatio(uint(successes), uint(capacity)).
				WithDelay(b.settings.ResetTimeout).Build(),
			probes: bulkhead.New[any](uint(probes)),
		}
		if b.byTool == nil {
			b.byTool = map[string]*breaker{}
		}
		b.byTool[tool] = one
	}
	return one
}

// ErrCircuitOpen is the cause of an error of a call that a circuit breaker refused.
var ErrCircuitOpen = errors.New("the circuit breaker is open")

// admit asks the tool's circuit breaker for permission. leave has to be called
// with the outcome of the call.
func (l *Layers) admit(ctx context.Context, state *callerState, tool string) (leave func(error), err error) {
	if state.breakers.settings == nil {
		return func(error) {}, nil
	}
	b := state.breakers.of(tool)
	probe := !b.circuit.IsClosed()
	if probe && !b.probes.TryAcquirePermit() {
		return nil, l.refused(b, tool)
	}
	if !b.circuit.TryAcquirePermit() {
		if probe {
			b.probes.ReleasePermit()
		}
		return nil, l.refused(b, tool)
	}
	return func(err error) { l.leave(ctx, b, tool, probe, err) }, nil
}

// errUnfinished is the outcome of a call that panicked. What it ran may be code of
// the program that embeds the engine.
var errUnfinished = errors.New("the call did not finish")

func (l *Layers) leave(ctx context.Context, b *breaker, tool string, probe bool, err error) {
	before := b.circuit.State()
	switch f := l.Classify(err); {
	case f.Silent || err == errUnfinished:
		// Nothing was learnt. The library takes a permit back only with a
		// result, so being half open starts again.
		if probe && b.circuit.IsHalfOpen() {
			b.circuit.Open()
			b.circuit.HalfOpen()
		}
	case f.Fault:
		text := f.Words
		b.latest.Store(&text)
		b.circuit.RecordFailure()
		if probe && b.circuit.IsHalfOpen() {
			b.circuit.Open()
		}
	default:
		b.circuit.RecordSuccess()
	}
	if probe {
		b.probes.ReleasePermit()
	}
	if after := b.circuit.State(); after != before {
		l.Log(ctx).WarnContext(ctx, "circuit breaker", "tool", tool, "was", before.String(), "is", after.String())
	}
}

// refused is the error of a call that the breaker does not let through.
func (l *Layers) refused(b *breaker, tool string) error {
	settings := l.Entry.CircuitBreaker
	message := fmt.Sprintf("its circuit breaker is open after %d failures in a row", max(1, settings.FailureThreshold))
	if wait := b.circuit.RemainingDelay(); wait > 0 {
		message += fmt.Sprintf(", for another %v", wait.Round(time.Millisecond))
	} else {
		message += ", until the calls that try it out have succeeded"
	}
	if latest := b.latest.Load(); latest != nil {
		message += "; the latest failure: " + *latest
	}
	return l.Errors.Rejected(tool, message, "", ErrCircuitOpen)
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
	if l.off || l.shared.breakers.settings == nil {
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

func (b *breakersByTool) count(into map[Breaker]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for tool, one := range b.byTool {
		into[Breaker{Tool: tool, State: one.circuit.State().String()}]++
	}
}

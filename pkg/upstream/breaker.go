package upstream

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

// breakers are the circuit breakers of one identity, by tool.
type breakers struct {
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

func (b *breakers) of(tool string) *breaker {
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

// errOpen is the cause of an error of a call that a circuit breaker refused.
var errOpen = errors.New("the circuit breaker is open")

// enter asks the tool's circuit breaker for permission. leave has to be called
// with the outcome of the call.
func (l *layers) enter(ctx context.Context, sh *share, tool string) (leave func(error), err error) {
	if sh.breakers.settings == nil {
		return func(error) {}, nil
	}
	b := sh.breakers.of(tool)
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

func (l *layers) leave(ctx context.Context, b *breaker, tool string, probe bool, err error) {
	before := b.circuit.State()
	switch f := classify(err); {
	case f.silent:
		// Nothing was learnt. The library takes a permit back only with a
		// result, so being half open starts anew.
		if probe && b.circuit.IsHalfOpen() {
			b.circuit.Open()
			b.circuit.HalfOpen()
		}
	case f.fault:
		text := wordsOf(err)
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
		l.server.log.WarnContext(ctx, "circuit breaker", "tool", tool, "was", before.String(), "is", after.String())
	}
}

// refused is the error of a call that the breaker does not let through.
func (l *layers) refused(b *breaker, tool string) *Error {
	settings := l.server.entry.CircuitBreaker
	message := fmt.Sprintf("its circuit breaker is open after %d failures in a row", max(1, settings.FailureThreshold))
	if wait := b.circuit.RemainingDelay(); wait > 0 {
		message += fmt.Sprintf(", for another %v", wait.Round(time.Millisecond))
	} else {
		message += ", until the calls that try it out have succeeded"
	}
	if latest := b.latest.Load(); latest != nil {
		message += "; the latest failure: " + *latest
	}
	return l.server.failure("call", tool, message, "", errOpen)
}

// Breaker says how many circuit breakers of a tool are in a state. There is one
// for each caller where calls carry callers' credentials, else one.
type Breaker struct {
	Tool  string `json:"tool"`
	State string `json:"state"` // closed, open or half-open
	Count int    `json:"count"`
}

// states counts the circuit breakers, in the order of tools and states.
func (l *layers) states() []Breaker {
	if l == nil || l.shared.breakers.settings == nil {
		return nil
	}
	counted := map[Breaker]int{}
	l.shared.breakers.count(counted)
	for sh := range l.shares.Values() {
		sh.breakers.count(counted)
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

func (b *breakers) count(into map[Breaker]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for tool, one := range b.byTool {
		into[Breaker{Tool: tool, State: one.circuit.State().String()}]++
	}
}

// Package policy holds calls, and what stands between the calls of one server and the
// wire: cache, circuit breaker, retry, rate limit, and the limit of requests in
// flight. It knows errors only by what its [Options] say of them.
package policy

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Options are the settings of the layers of a server.
type Options struct {
	Entry    *config.Upstream
	Log      func(c *Call) *slog.Logger // returns the logger of a call
	Counts   *Counts
	Cached   *memory.Account // results in the cache count on it; nil has no bounds
	Errors   Errors
	Classify func(error) Failure // of a call; a nil error is a success
	// Repeatable reports whether a call that failed like f may be made again although the
	// server may have acted on it.
	Repeatable func(ctx context.Context, c *Call, f Failure) bool
}

// Errors makes the errors of calls that a layer ends. Its methods are called by
// several goroutines.
type Errors interface {
	// Limited returns the error of a call that the rate limit did not let through, and
	// Broken that of one that the circuit breaker did not.
	Limited(c *Call, message string) error
	Broken(c *Call, message string) error
	// Stopped returns the error of a call whose context ended. before is how its
	// latest try failed, nil if none did.
	Stopped(ctx context.Context, c *Call, when string, before error) error
	// Amended returns err with more words about what happened.
	Amended(err error, words string) error
}

// Counts counts what the layers did.
type Counts struct{ Retries, RateLimitWaits, CacheHits atomic.Int64 }

// Layers is what stands between the calls of one server and the wire, from the
// caller inwards: cache, circuit breaker, retry. Rate limits and the limit of requests
// in flight count requests: a provider asks for them with Call.Admit. Each caller has
// an identity; the empty one is that of calls without credentials of a caller. Without
// settings there is no layer, which costs nothing. It is safe for concurrent use.
type Layers struct {
	*Options
	cache   *resultCache                       // nil: nothing is cached
	slots   chan struct{}                      // a request in flight holds one; nil without a limit
	free    func()                             // release, made once
	shared  *callerState                       // of the calls that carry no caller's credentials
	callers *otter.Cache[string, *callerState] // of the others, by caller; nil: there are no states
}

// callerState is what the calls of one identity have in common beside results: no
// caller's failures or calls count for another one.
type callerState struct {
	limits   rateLimits
	breakers breakersByTool
}

func newCallerState(u *config.Upstream) *callerState {
	return &callerState{limits: newRateLimits(u.RateLimit), breakers: breakersByTool{settings: u.CircuitBreaker}}
}

// How many callers' states are kept, and how long after their last call. What
// is lost then is that breakers were open and limits used up.
const (
	maxCallers     = 10_000
	callerLifetime = time.Hour
)

// New returns the layers that the entry asks for.
func New(o Options) *Layers {
	u := o.Entry
	l := &Layers{Options: &o}
	l.free = l.release
	if u.Cache != nil && u.Cache.TTL > 0 {
		l.cache = newResultCache(u.Cache, &o)
	}
	if u.MaxConcurrency > 0 {
		l.slots = make(chan struct{}, u.MaxConcurrency)
	}
	if u.RateLimit == nil && u.CircuitBreaker == nil {
		return l
	}
	lifetime := callerLifetime
	if u.RateLimit != nil {
		lifetime = max(lifetime, longestPeriod(u.RateLimit))
	}
	if u.CircuitBreaker != nil {
		lifetime = max(lifetime, u.CircuitBreaker.ResetTimeout)
	}
	l.shared = newCallerState(u)
	l.callers = otter.Must(&otter.Options[string, *callerState]{
		MaximumSize: maxCallers, ExpiryCalculator: otter.ExpiryAccessing[string, *callerState](lifetime),
	})
	return l
}

// Wrap puts the layers before next.
func (l *Layers) Wrap(next Caller) Caller {
	if l.Entry.Retry != nil {
		next = (&retry{l.Options, l.Entry.Retry}).layer(next)
	}
	if l.Entry.CircuitBreaker != nil {
		next = l.breaker(next)
	}
	if l.cache != nil {
		next = l.cache.layer(next)
	}
	return next
}

// stateOf returns the state of the caller of a call.
func (l *Layers) stateOf(c *Call) *callerState {
	caller := c.caller()
	if caller == "" {
		return l.shared
	}
	state, _ := l.callers.ComputeIfAbsent(caller, func() (*callerState, bool) { return newCallerState(l.Entry), false })
	return state
}

// DropResults drops the results: the server has said that its list of tools is
// another one now.
func (l *Layers) DropResults() {
	if l.cache != nil {
		l.cache.drop()
	}
}

// Close ends what the layers run in the background.
func (l *Layers) Close() {
	if l.callers != nil {
		l.callers.StopAllGoroutines()
	}
	if l.cache != nil {
		l.cache.results.StopAllGoroutines()
	}
}

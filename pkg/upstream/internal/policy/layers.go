// Package policy holds what stands between the calls of one MCP server and the
// wire: cache, circuit breaker, retry, rate limit, and the limit of requests in
// flight. It knows errors only by what its [Options] say of them.
package policy

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/maypok86/otter/v2"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Options are the settings of the layers of a server.
type Options struct {
	Entry    *config.Upstream
	Log      func(ctx context.Context) *slog.Logger // returns the logger of a call
	Counts   *Counts
	Cached   *memory.Account // results in the cache count on it; nil has no bounds
	Errors   Errors
	Classify func(error) Failure // of a call; a nil error is a success
	// Repeatable reports whether a call of the tool that failed like f may be made
	// again although the server may have acted on it.
	Repeatable func(ctx context.Context, caller, tool string, f Failure) bool
}

// Errors makes the errors of calls that a layer ends. Its methods are called by
// several goroutines.
type Errors interface {
	// Rejected returns the error of a call that a layer did not let through.
	Rejected(tool, message, hint string, cause error) error
	// Stopped returns the error of a call whose context ended. before is how its
	// latest try failed, nil if none did.
	Stopped(ctx context.Context, tool, when string, before error) error
	// Amended returns err with more words about what happened.
	Amended(err error, words string) error
}

// Counts counts what the layers did.
type Counts struct{ Retries, RateLimitWaits, CacheHits atomic.Int64 }

// Result is the outcome of one call.
type Result struct {
	Reply     value.Value
	Attempts  int  // requests for the tool that went out, and tries that did not reach the server
	FromCache bool // no server was asked now
	// AttemptTimes are those of the retry layer, if there was more than one: the last so
	// many that are kept, in their order.
	AttemptTimes []Attempt
}

// Attempt is one try of the retry layer.
type Attempt struct {
	Start, End time.Time
	Err        error // why it failed; nil: it did not
}

// Layers is what stands between the calls of one server and the wire, from the
// caller inwards: cache, circuit breaker, retry, rate limit, and the limit of
// requests in flight. Each caller has an identity; the empty one is that of calls
// without credentials of a caller. Without settings there is no layer,
// which costs nothing. It is safe for concurrent use.
type Layers struct {
	Options
	off     bool                               // there is no layer
	cache   *resultCache                       // nil: nothing is cached
	retry   failsafe.Executor[any]             // nil: a call is tried once
	slots   bulkhead.Bulkhead[any]             // a request in flight holds one; nil without a limit
	shared  *callerState                       // of the calls that carry no caller's credentials
	callers *otter.Cache[string, *callerState] // of the others, by caller
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
	l := &Layers{Options: o}
	if u.Cache == nil && u.RateLimit == nil && u.CircuitBreaker == nil && u.Retry == nil && u.MaxConcurrency <= 0 {
		l.off = true
		return l
	}
	l.shared = newCallerState(u)
	lifetime := callerLifetime
	if u.Cache != nil && u.Cache.TTL > 0 {
		l.cache = newResultCache(u.Cache, o.Cached)
	}
	if u.RateLimit != nil {
		lifetime = max(lifetime, longestPeriod(u.RateLimit))
	}
	if u.CircuitBreaker != nil {
		lifetime = max(lifetime, u.CircuitBreaker.ResetTimeout)
	}
	if u.Retry != nil {
		l.retry = newRetry(u.Retry)
	}
	if u.MaxConcurrency > 0 {
		l.slots = bulkhead.New[any](uint(u.MaxConcurrency))
	}
	l.callers = otter.Must(&otter.Options[string, *callerState]{
		MaximumSize: maxCallers, ExpiryCalculator: otter.ExpiryAccessing[string, *callerState](lifetime),
	})
	return l
}

// stateOf returns the state of a caller.
func (l *Layers) stateOf(caller string) *callerState {
	if caller == "" {
		return l.shared
	}
	state, _ := l.callers.ComputeIfAbsent(caller, func() (*callerState, bool) { return newCallerState(l.Entry), false })
	return state
}

// Operation is what a call asks its server for.
type Operation struct {
	// Name is the tool, or the method of any other request. Calls with the same name
	// share rate limits and circuit breakers.
	Name string
	Args value.Value // of the tool
	// Reads says that it is no tool and changes nothing: its result is not cached, and
	// it may be made again.
	Reads bool
}

// Try asks a server once, and returns how many requests for the operation went out
// for that.
type Try func(context.Context) (reply value.Value, sent int, err error)

// tryOnce makes one try.
func (l *Layers) tryOnce(ctx context.Context, next Try) (Result, error) {
	reply, sent, err := next(ctx)
	if sent == 0 && err != nil && !l.Classify(err).Silent {
		sent = 1 // it was tried, but the server could not be reached
	}
	return Result{Reply: reply, Attempts: sent}, err
}

// Call makes one call through the layers down to next, whose requests have to be made
// by Pass. The result holds the number of attempts also if there is an error.
func (l *Layers) Call(ctx context.Context, caller string, o Operation, next Try) (Result, error) {
	if l.off {
		return l.tryOnce(ctx, next)
	}
	if l.cache == nil || o.Reads || !l.Entry.Cache.Caches(o.Name) {
		return l.ask(ctx, caller, o, next)
	}
	for {
		key := l.cache.key(caller, o.Name, o.Args)
		if reply, ok := l.cache.get(key, memory.AccountOf(ctx)); ok {
			l.Counts.CacheHits.Add(1)
			return Result{Reply: reply, FromCache: true}, nil
		}
		f, first := l.cache.join(key)
		if !first {
			reply, err, ok := f.wait(ctx)
			switch {
			case ctx.Err() != nil && !ok:
				return Result{}, l.Errors.Stopped(ctx, o.Name, "before it was answered", nil)
			case !ok:
				continue // it was cut short for reasons of its own caller
			case err == nil:
				l.Counts.CacheHits.Add(1)
			}
			return Result{Reply: separateCopy(reply, memory.AccountOf(ctx)), FromCache: err == nil}, err
		}
		if _, ok := l.cache.get(key, nil); ok { // one has just ended
			l.cache.leave(key, f, value.Undef, nil, false)
			continue
		}
		return l.lead(ctx, caller, o, key, f, next)
	}
}

// lead makes a call that others with the same key wait for.
func (l *Layers) lead(ctx context.Context, caller string, o Operation, key cacheKey, f *pendingCall, next Try) (result Result, err error) {
	ended := false
	defer func() {
		// What is due to this caller's time alone says nothing to the others.
		l.cache.leave(key, f, result.Reply, err, ended && ctx.Err() == nil && !l.Classify(err).Silent)
	}()
	if result, err = l.ask(ctx, caller, o, next); err == nil {
		l.cache.put(key, result.Reply)
	}
	ended = true
	return result, err
}

// ask is call behind the cache.
func (l *Layers) ask(ctx context.Context, caller string, o Operation, next Try) (Result, error) {
	leave, err := l.admit(ctx, l.stateOf(caller), o.Name)
	if err != nil {
		return Result{}, err
	}
	outcome := errUnfinished // unless nothing panics
	defer func() { leave(outcome) }()
	result, err := l.try(ctx, caller, o, next)
	outcome = err
	return result, err
}

// Pass makes a request for the tool, or the [Operation] of that name, as soon as the
// rate limits let it and the server has a free slot. Requests wait for either in the order of coming.
func (l *Layers) Pass(ctx context.Context, caller string, tool string, request func() (value.Value, error)) (value.Value, error) {
	if l.off {
		return request()
	}
	release, err := l.slot(ctx, tool)
	if err != nil {
		return value.Undef, err
	}
	// A turn counts from when it is taken, so it is taken last: turns taken
	// before the wait for a slot would all be used at once when slots get free.
	// But a request that waits for its turn holds no slot that others could use.
	if l.Entry.RateLimit != nil {
		if limits := l.stateOf(caller).limits.of(tool); !allow(limits, time.Now()) {
			release()
			if err := l.waitForTurn(ctx, limits, tool); err != nil {
				return value.Undef, err
			}
			if release, err = l.slot(ctx, tool); err != nil {
				return value.Undef, err
			}
		}
	}
	defer release()
	return request()
}

// slot waits for one of the requests that may be in flight.
func (l *Layers) slot(ctx context.Context, tool string) (release func(), err error) {
	if l.slots == nil {
		return func() {}, nil
	}
	if err := l.slots.AcquirePermit(ctx); err != nil {
		return nil, l.Errors.Stopped(ctx, tool, "while it waited for a free slot (maxConcurrency)", nil)
	}
	return l.slots.ReleasePermit, nil
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

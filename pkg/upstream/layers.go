package upstream

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/maypok86/otter/v2"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// layers is what stands between the calls of one server and the wire, from the
// caller inwards: cache, circuit breaker, retry, rate limit, and the limit of
// requests in flight. A nil one has no layer and costs nothing.
type layers struct {
	server *server
	cache  *cache                         // nil: nothing is cached
	retry  failsafe.Executor[any]         // nil: a call is tried once
	slots  bulkhead.Bulkhead[any]         // a request in flight holds one; nil without a limit
	shared *share                         // of the calls that carry no caller's credentials
	shares *otter.Cache[identity, *share] // of the others
}

// share is what the calls of one identity have in common beside results: no
// caller's failures or calls count for another one.
type share struct {
	limits   limits
	breakers breakers
}

func newShare(u *config.Upstream) *share {
	return &share{limits: newLimits(u.RateLimit), breakers: breakers{settings: u.CircuitBreaker}}
}

// How many callers' shares are kept, and how long after their last call. What
// is lost then is that breakers were open and limits used up.
const (
	maxShares     = 10_000
	shareLifetime = time.Hour
)

// newLayers returns the layers that the server's entry asks for, nil where it
// asks for none.
func newLayers(s *server) *layers {
	u := s.entry
	if u.Cache == nil && u.RateLimit == nil && u.CircuitBreaker == nil && u.Retry == nil && u.MaxConcurrency <= 0 {
		return nil
	}
	l := &layers{server: s, shared: newShare(u)}
	lifetime := shareLifetime
	if u.Cache != nil && u.Cache.TTL > 0 {
		l.cache = newCache(u.Cache, s.budget.Account(""))
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
	l.shares = otter.Must(&otter.Options[identity, *share]{
		MaximumSize: maxShares, ExpiryCalculator: otter.ExpiryAccessing[identity, *share](lifetime),
	})
	return l
}

// of returns the share of an identity.
func (l *layers) of(id identity) *share {
	if id == "" {
		return l.shared
	}
	sh, _ := l.shares.ComputeIfAbsent(id, func() (*share, bool) { return newShare(l.server.entry), false })
	return sh
}

// try asks a server once, and returns how many requests for the tool went out
// for that. Errors are *[Error].
type try func(context.Context) (reply value.Value, sent int, err error)

// tryOnce makes one try.
func tryOnce(ctx context.Context, next try) (Result, error) {
	reply, sent, err := next(ctx)
	if sent == 0 && err != nil && !classify(err).silent {
		sent = 1 // it was tried, but the server could not be reached
	}
	return Result{Reply: reply, Attempts: sent}, err
}

// call makes one call of tool through the layers down to next, whose requests
// have to be made by pass. The result says how often the server was asked also
// where there is an error. Errors are *[Error].
func (l *layers) call(ctx context.Context, id identity, tool string, args value.Value, next try) (Result, error) {
	if l == nil {
		return tryOnce(ctx, next)
	}
	if l.cache == nil || !l.server.entry.Cache.Caches(tool) {
		return l.ask(ctx, id, tool, next)
	}
	for {
		key := l.cache.key(id, tool, args)
		if reply, ok := l.cache.get(key, memory.AccountOf(ctx)); ok {
			l.server.counts.hits.Add(1)
			return Result{Reply: reply, FromCache: true}, nil
		}
		f, first := l.cache.join(key)
		if !first {
			reply, err, ok := f.wait(ctx)
			switch {
			case ctx.Err() != nil && !ok:
				return Result{}, l.server.stopped(ctx, "call", tool, "before it was answered")
			case !ok:
				continue // it was cut short for reasons of its own caller
			case err == nil:
				l.server.counts.hits.Add(1)
			}
			return Result{Reply: ownCopy(reply, memory.AccountOf(ctx)), FromCache: err == nil}, err
		}
		if _, ok := l.cache.get(key, nil); ok { // one has just ended
			l.cache.leave(key, f, value.Undef, nil, false)
			continue
		}
		return l.lead(ctx, id, tool, key, f, next)
	}
}

// lead makes a call that others with the same key wait for.
func (l *layers) lead(ctx context.Context, id identity, tool string, key cacheKey, f *sharedCall, next try) (result Result, err error) {
	ended := false
	defer func() {
		// What is due to this caller's time alone says nothing to the others.
		l.cache.leave(key, f, result.Reply, err, ended && ctx.Err() == nil && !classify(err).silent)
	}()
	if result, err = l.ask(ctx, id, tool, next); err == nil {
		l.cache.put(key, result.Reply)
	}
	ended = true
	return result, err
}

// ask is call behind the cache.
func (l *layers) ask(ctx context.Context, id identity, tool string, next try) (Result, error) {
	leave, err := l.enter(ctx, l.of(id), tool)
	if err != nil {
		return Result{}, err
	}
	result, err := l.try(ctx, id, tool, next)
	leave(err)
	return result, err
}

// pass makes a request for the tool as soon as the rate limits let it and the
// server has a free slot. Requests wait for either in the order of coming.
func (l *layers) pass(ctx context.Context, id identity, tool string, request func() (value.Value, error)) (value.Value, error) {
	if l == nil {
		return request()
	}
	release, err := l.slot(ctx, tool)
	if err != nil {
		return value.Undef, err
	}
	// A turn counts from when it is taken, so it is taken last: turns taken
	// before the wait for a slot would all be used at once when slots get free.
	// But a request that waits for its turn holds no slot that others could use.
	if l.server.entry.RateLimit != nil {
		if limits := l.of(id).limits.of(tool); !allow(limits, time.Now()) {
			release()
			if err := l.pace(ctx, limits, tool); err != nil {
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
func (l *layers) slot(ctx context.Context, tool string) (release func(), err error) {
	if l.slots == nil {
		return func() {}, nil
	}
	if err := l.slots.AcquirePermit(ctx); err != nil {
		return nil, l.server.stopped(ctx, "call", tool, "while it waited for a free slot (maxConcurrency)")
	}
	return l.slots.ReleasePermit, nil
}

// changed drops the results: the server has said that its list of tools is
// another one now.
func (l *layers) changed() {
	if l != nil && l.cache != nil {
		l.cache.drop()
	}
}

// close ends what the layers run in the background.
func (l *layers) close() {
	if l == nil {
		return
	}
	l.shares.StopAllGoroutines()
	if l.cache != nil {
		l.cache.results.StopAllGoroutines()
	}
}

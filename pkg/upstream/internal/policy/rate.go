package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// rateLimits are the rate limits of one identity.
type rateLimits struct {
	all   *rateLimit // of all tools together; nil: none
	tools map[string]*rateLimit
}

// rateLimit is one rate limit, in the library's form and in words.
type rateLimit struct {
	*rate.Limiter
	requests int
	period   time.Duration
	// reserving is held from a reservation to its cancellation: the library gives a
	// turn back only if none was reserved after it.
	reserving sync.Mutex
}

// atOnce is the part of a limit's requests that may go out at once; the others
// follow evenly.
const atOnce = 10

// newRateLimit returns nil if the numbers are no limit.
//
// No span of time as long as the period sees more than the limit: after burst
// requests at once, as many as are left of the limit fit evenly into a period.
func newRateLimit(requests int, period time.Duration) *rateLimit {
	if requests <= 0 || period <= 0 {
		return nil
	}
	burst := max(1, requests/atOnce)
	evenly := rate.Limit(float64(requests-burst+1) / period.Seconds())
	return &rateLimit{Limiter: rate.NewLimiter(evenly, burst), requests: requests, period: period}
}

func newRateLimits(r *config.RateLimit) rateLimits {
	var out rateLimits
	if r == nil {
		return out
	}
	out.all = newRateLimit(r.Limit, r.Period)
	out.tools = make(map[string]*rateLimit, len(r.PerTool))
	for _, t := range r.PerTool {
		out.tools[t.Tool] = newRateLimit(t.Limit, t.Period)
	}
	return out
}

func longestPeriod(r *config.RateLimit) time.Duration {
	longest := r.Period
	for _, t := range r.PerTool {
		longest = max(longest, t.Period)
	}
	return longest
}

// of returns the limits of a tool. The tool's own comes first: a call that waits
// there takes no turn of the server's from other tools.
func (l *rateLimits) of(tool string) []*rateLimit {
	var out []*rateLimit
	for _, one := range []*rateLimit{l.tools[tool], l.all} {
		if one != nil {
			out = append(out, one)
		}
	}
	return out
}

// allow takes a turn from each of the limits if none of them has to be waited
// for, and else from none.
func allow(limits []*rateLimit, now time.Time) bool {
	taken := make([]*rate.Reservation, 0, 2)
	for _, one := range limits {
		one.reserving.Lock()
		defer one.reserving.Unlock()
		r := one.ReserveN(now, 1)
		taken = append(taken, r)
		if r.DelayFrom(now) > 0 {
			for _, r := range taken {
				r.CancelAt(now)
			}
			return false
		}
	}
	return true
}

// reserve takes the next turn.
func (l *rateLimit) reserve(now time.Time) *rate.Reservation {
	l.reserving.Lock()
	defer l.reserving.Unlock()
	return l.ReserveN(now, 1)
}

// Admits reports whether requests have to wait for anything.
func (l *Layers) Admits() bool { return l.slots != nil || l.Entry.RateLimit != nil }

// Admit waits until the rate limits let a request of the call through and the server has a
// free slot, which it has until release. Requests wait for either in the order of coming.
// If turn is not set, the request has had its turn of the rate limits.
func (l *Layers) Admit(ctx context.Context, c *Call, turn bool) (release func(), err error) {
	if err := l.slot(ctx, c); err != nil {
		return nil, err
	}
	// A turn counts from when it is taken, so it is taken last: turns taken
	// before the wait for a slot would all be used at once when slots get free.
	// But a request that waits for its turn holds no slot that others could use.
	if turn && l.Entry.RateLimit != nil {
		if limits := l.stateOf(c).limits.of(c.key()); !allow(limits, time.Now()) {
			l.release()
			if err := l.waitForTurn(ctx, c, limits); err != nil {
				return nil, err
			}
			if err := l.slot(ctx, c); err != nil {
				return nil, err
			}
		}
	}
	return l.free, nil
}

// slot waits for one of the requests that may be in flight.
func (l *Layers) slot(ctx context.Context, c *Call) error {
	if l.slots == nil {
		return nil
	}
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return l.Errors.Stopped(ctx, c, "while it waited for a free slot (maxConcurrency)", nil)
	}
}

func (l *Layers) release() {
	if l.slots != nil {
		<-l.slots
	}
}

// waitForTurn waits until the rate limits let a request through. If that would take
// longer than the request may take it fails at once.
func (l *Layers) waitForTurn(ctx context.Context, c *Call, limits []*rateLimit) error {
	l.Counts.RateLimitWaits.Add(1)
	until := time.Now().Add(l.Entry.Timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	for _, one := range limits {
		now := time.Now()
		turn := one.reserve(now)
		wait, left := turn.DelayFrom(now), max(0, until.Sub(now))
		if wait > left {
			turn.CancelAt(now)
			return l.Errors.Limited(c, fmt.Sprintf("the rate limit of %d requests in %v leaves no room for it in the next %v",
				one.requests, one.period, left.Round(time.Millisecond)))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			turn.Cancel()
			return l.Errors.Stopped(ctx, c, "while it waited for the rate limit", nil)
		}
	}
	return nil
}

package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// limits are the rate limits of one identity.
type limits struct {
	all   *limit // of all tools together; nil: none
	tools map[string]*limit
}

// limit is one rate limit, in the library's form and in words.
type limit struct {
	*rate.Limiter
	requests int
	period   time.Duration
}

// atOnce is the part of a limit's requests that may go out at once; the others
// follow evenly.
const atOnce = 10

// newLimit returns nil where the numbers are no limit.
//
// No span of time as long as the period sees more than the limit: after burst
// requests at once, as many as are left of the limit fit evenly into a period.
func newLimit(requests int, period time.Duration) *limit {
	if requests <= 0 || period <= 0 {
		return nil
	}
	burst := max(1, requests/atOnce)
	evenly := rate.Limit(float64(requests-burst+1) / period.Seconds())
	return &limit{rate.NewLimiter(evenly, burst), requests, period}
}

func newLimits(r *config.RateLimit) limits {
	var out limits
	if r == nil {
		return out
	}
	out.all = newLimit(r.Limit, r.Period)
	out.tools = make(map[string]*limit, len(r.PerTool))
	for _, t := range r.PerTool {
		out.tools[t.Tool] = newLimit(t.Limit, t.Period)
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
func (l *limits) of(tool string) []*limit {
	var out []*limit
	for _, one := range []*limit{l.tools[tool], l.all} {
		if one != nil {
			out = append(out, one)
		}
	}
	return out
}

// allow takes a turn from each of the limits if none of them has to be waited
// for, and else from none.
func allow(limits []*limit, now time.Time) bool {
	taken := make([]*rate.Reservation, 0, 2)
	for _, one := range limits {
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

// pace waits until the rate limits let a request through. Where that would take
// longer than the request may take it fails at once.
func (l *layers) pace(ctx context.Context, limits []*limit, tool string) error {
	l.server.counts.waits.Add(1)
	until := time.Now().Add(l.server.entry.Timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	for _, one := range limits {
		now := time.Now()
		turn := one.ReserveN(now, 1)
		wait, left := turn.DelayFrom(now), max(0, until.Sub(now))
		if wait > left {
			turn.CancelAt(now)
			return l.server.failure("call", tool,
				fmt.Sprintf("the rate limit of %d requests in %v leaves no room for it in the next %v", one.requests, one.period, left.Round(time.Millisecond)),
				"call it less often, or raise "+l.server.setting("rateLimit")+" or "+l.server.setting("timeoutMs"), errNoRoom)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			turn.Cancel()
			return l.server.stopped(ctx, "call", tool, "while it waited for the rate limit")
		}
	}
	return nil
}

// errNoRoom is the cause of an error of a call that the rate limit kept back.
var errNoRoom = errors.New("rate limit exceeded")

package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// limits are the rate limits of one identity.
type limits struct {
	all   *limit // of all tools together; nil: none
	tools map[string]*limit
}

// limit is one rate limit, in the library's form and in words.
type limit struct {
	ratelimiter.RateLimiter[any]
	calls  int
	period time.Duration
}

// newLimit returns nil where the numbers are no limit.
func newLimit(calls int, period time.Duration) *limit {
	if calls <= 0 || period <= 0 {
		return nil
	}
	return &limit{ratelimiter.NewBursty[any](uint(calls), period), calls, period}
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

// pace waits until the rate limits let a call through. Where that would take
// longer than the call may take it fails at once.
func (l *layers) pace(ctx context.Context, sh *share, tool string) error {
	waited := false
	patience := time.Now().Add(l.server.entry.Timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(patience) {
		patience = end
	}
	// The tool's own limit comes first: who waits there takes no turn of the
	// server's from other tools.
	for _, limit := range []*limit{sh.limits.tools[tool], sh.limits.all} {
		if limit == nil || limit.TryAcquirePermit() {
			continue
		}
		if !waited {
			waited = true
			l.server.counts.waits.Add(1)
		}
		left := max(0, time.Until(patience))
		switch err := limit.AcquirePermitWithMaxWait(ctx, left); {
		case errors.Is(err, ratelimiter.ErrExceeded):
			return l.server.failure("call", tool,
				fmt.Sprintf("the rate limit of %d calls in %v leaves no room for it in the next %v", limit.calls, limit.period, left.Round(time.Millisecond)),
				"call it less often, or raise "+l.server.setting("rateLimit")+" or "+l.server.setting("timeoutMs"), errNoRoom)
		case err != nil:
			return l.server.stopped(ctx, "call", tool, "while it waited for the rate limit")
		}
	}
	return nil
}

// errNoRoom is the cause of an error of a call that the rate limit kept back.
var errNoRoom = errors.New("rate limit exceeded")

package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// retry is the layer that tries calls again.
type retry struct {
	*Options
	settings *config.Retry
}

// jitter is the part of a delay by which it varies at random, up or down.
const jitter = 0.25

// layer asks the server until it answers, or until nothing speaks for another try.
func (r *retry) layer(next Caller) Caller {
	return func(ctx context.Context, c *Call) (Reply, error) {
		if ctx.Err() != nil {
			return Reply{}, r.Errors.Stopped(ctx, c, "before it was sent", nil)
		}
		var tries []Attempt
		sent := 0
		for n := 1; ; n++ {
			began := time.Now()
			reply, err := next(ctx, c)
			sent += reply.Sent
			if reply.Sent = sent; err == nil && n == 1 {
				return reply, nil
			}
			tries = kept(tries, Attempt{began, time.Now(), err})
			delay, again := r.again(ctx, c, n, &err)
			if again && r.wait(ctx, c, n, delay, err) {
				continue
			}
			if n > 1 {
				reply.Attempts = tries
				if err != nil {
					err = r.Errors.Amended(err, fmt.Sprintf("; it was tried %d times", sent))
				}
			}
			if again {
				err = r.Errors.Stopped(ctx, c, "while it waited to try again", err)
			}
			return reply, err
		}
	}
}

// again reports whether a call that failed with err at its nth try is tried again, and
// after which time. It adds the reason to err if only the wait is too long.
func (r *retry) again(ctx context.Context, c *Call, n int, err *error) (delay time.Duration, again bool) {
	if *err == nil {
		return 0, false
	}
	after, worth := r.worthAnother(ctx, c, *err)
	if !worth {
		*err = r.tooLate(ctx, *err)
		return 0, false
	}
	return r.delay(n, after), n < max(1, r.settings.MaxAttempts)
}

// wait waits before the next try, and reports whether it comes.
func (r *retry) wait(ctx context.Context, c *Call, n int, delay time.Duration, err error) bool {
	r.Log(c).DebugContext(ctx, "a call failed and may be tried again", "tool", c.key(), "try", n, "error", err)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		r.Counts.Retries.Add(1)
		return true
	case <-ctx.Done():
		return false
	}
}

// delay returns how long to wait after the nth try. The server wants to be left alone for
// after, and is not asked before that; 0: it does not say.
func (r *retry) delay(n int, after time.Duration) time.Duration {
	spread := 0.0
	if r.settings.Jitter {
		spread = jitter
	}
	if after > 0 {
		return time.Duration(float64(after)*(1+spread*rand.Float64())) + time.Millisecond
	}
	d, most := float64(r.settings.InitialDelay), float64(r.settings.MaxDelay)
	for i := 1; i < n && d < most; i++ {
		d *= max(1, r.settings.Backoff)
	}
	return time.Duration(min(d, most) * (1 + spread*(2*rand.Float64()-1)))
}

// maxTries is how many tries of a call are kept.
const maxTries = 32

// kept appends a try, and drops the first ones beyond maxTries.
func kept(tries []Attempt, one Attempt) []Attempt {
	if len(tries) == maxTries {
		copy(tries, tries[1:])
		tries = tries[:maxTries-1]
	}
	return append(tries, one)
}

// worthAnother reports whether a call that failed is to be tried again, and
// after which time the server wants that: 0 if it does not say.
func (r *retry) worthAnother(ctx context.Context, c *Call, err error) (time.Duration, bool) {
	f := r.Classify(err)
	switch {
	case ctx.Err() != nil, !f.isRetried(r.settings):
		return 0, false
	case f.After > r.settings.MaxDelay:
		return 0, false // it would be asked before it wants, or wait for longer than allowed
	case f.Unknown && !c.reads() && !r.Entry.RetryUnsafe && !r.Repeatable(ctx, c, f):
		return 0, false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < f.After {
		return 0, false
	}
	return f.After, true
}

// tooLate returns err, amended if the call was not tried again only because the
// server asked for a longer wait (Retry-After) than is allowed.
func (r *retry) tooLate(ctx context.Context, err error) error {
	f := r.Classify(err)
	end, bounded := ctx.Deadline()
	switch s := r.settings; {
	case f.After == 0 || f.Unknown || ctx.Err() != nil || !f.isRetried(s):
		return err
	case f.After > s.MaxDelay:
		return r.Errors.Amended(err, fmt.Sprintf("; it was not tried again, because it asks for a wait of %v (Retry-After), and %s allows %v",
			f.After, r.Entry.Setting("retry.maxDelayMs"), s.MaxDelay))
	case bounded && time.Until(end) < f.After:
		return r.Errors.Amended(err, fmt.Sprintf("; it was not tried again, because it asks for a wait of %v (Retry-After), and the call has only %v left",
			f.After, time.Until(end).Round(time.Millisecond)))
	}
	return err
}

// isRetried reports whether the settings have such a failure tried again.
func (f Failure) isRetried(r *config.Retry) bool {
	return !f.Final && !f.isOneOf(r.SkipOn) && (f.Retried || f.isOneOf(r.RetryOn))
}

// isOneOf reports whether one of the names of retryOn or skipOn is f's.
func (f Failure) isOneOf(names []string) bool {
	return slices.ContainsFunc(f.Names, func(name string) bool { return slices.Contains(names, name) })
}

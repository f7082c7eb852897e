package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// jitter is the part of a delay by which it varies at random, up or down.
const jitter = 0.25

// again tells the retry policy to try once more.
type again struct{ after time.Duration } // what the server asked for; 0: nothing

func (*again) Error() string { return "try again" }

// errEnough tells the retry policy to try no more.
var errEnough = errors.New("enough")

// newRetry returns what tries as often and as far apart as the settings say.
func newRetry(r *config.Retry) failsafe.Executor[any] {
	spread := 0.0
	if r.Jitter {
		spread = jitter
	}
	return failsafe.With(retrypolicy.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool {
			_, ok := err.(*again)
			return ok
		}).
		ReturnLastFailure().
		WithMaxAttempts(max(1, r.MaxAttempts)). // 0 and less have a meaning of their own there
		WithBackoffFactor(r.InitialDelay, r.MaxDelay, max(1, r.Backoff)).
		WithJitterFactor(spread).
		WithDelayFunc(func(attempt failsafe.ExecutionAttempt[any]) time.Duration {
			if a, ok := attempt.LastError().(*again); ok && a.after > 0 {
				// The library lets this delay vary too, and a server that names a
				// time must not be asked before it.
				return time.Duration(float64(a.after)/(1-spread)) + time.Millisecond
			}
			return -1 // the next of the backoff
		}).Build())
}

// try asks the server until it answers, or until nothing speaks for another
// try.
func (l *layers) try(ctx context.Context, id identity, tool string, next try) (Result, error) {
	if l.retry == nil {
		return tryOnce(ctx, next)
	}
	var (
		result Result
		latest error
		n      int
		more   bool
	)
	// What the policy returns is no more than latest, or that ctx has ended.
	_ = l.retry.WithContext(ctx).Run(func() error {
		if n++; n > 1 {
			l.server.counts.retries.Add(1)
		}
		more = false
		var one Result
		one, latest = tryOnce(ctx, next)
		result.Reply = one.Reply
		if result.Attempts += one.Attempts; latest == nil {
			return nil
		}
		var after time.Duration
		if after, more = l.worthAnother(ctx, id, tool, latest); !more {
			latest = l.tooLate(ctx, latest)
			return errEnough
		}
		l.server.log.DebugContext(ctx, "a call failed and may be tried again", "tool", tool, "try", n, "error", latest)
		return &again{after}
	})
	if n == 0 { // ctx had ended before
		return Result{}, l.server.stopped(ctx, "call", tool, "before it was sent")
	}
	if latest != nil && n > 1 {
		latest = amended(latest, fmt.Sprintf("; it was tried %d times", result.Attempts))
	}
	if more && n < l.server.entry.Retry.MaxAttempts && ctx.Err() != nil {
		stopped := l.server.stopped(ctx, "call", tool, "while it waited to try again; before that, "+wordsOf(latest))
		stopped.raw = rawCause(latest) // what the server did counts, not who gave up
		latest = stopped
	}
	return result, latest
}

// worthAnother reports whether a call that failed is to be tried again, and
// after which time the server wants that: 0 where it does not say.
func (l *layers) worthAnother(ctx context.Context, id identity, tool string, err error) (time.Duration, bool) {
	f := classify(err)
	r := l.server.entry.Retry
	switch {
	case ctx.Err() != nil, !f.isRetried(r):
		return 0, false
	case f.after > r.MaxDelay:
		return 0, false // it would be asked before it wants, or wait for longer than allowed
	case f.unknown && !l.server.entry.RetryUnsafe && !l.server.repeatable(ctx, id, tool, f):
		return 0, false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < f.after {
		return 0, false
	}
	return f.after, true
}

// tooLate says so where a call that failed would have been tried again, had the
// server not asked for a longer wait (Retry-After) than there may be.
func (l *layers) tooLate(ctx context.Context, err error) error {
	f := classify(err)
	end, bounded := ctx.Deadline()
	switch r := l.server.entry.Retry; {
	case f.after == 0 || f.unknown || ctx.Err() != nil || !f.isRetried(r):
		return err
	case f.after > r.MaxDelay:
		return amended(err, fmt.Sprintf("; it was not tried again, because it asks for a wait of %v (Retry-After), and %s allows %v",
			f.after, l.server.setting("retry.maxDelayMs"), r.MaxDelay))
	case bounded && time.Until(end) < f.after:
		return amended(err, fmt.Sprintf("; it was not tried again, because it asks for a wait of %v (Retry-After), and the call has only %v left",
			f.after, time.Until(end).Round(time.Millisecond)))
	}
	return err
}

// isRetried reports whether the settings have such a failure tried again.
func (f failure) isRetried(r *config.Retry) bool {
	return !f.final && !f.isOneOf(r.SkipOn) && (f.retried || f.isOneOf(r.RetryOn))
}

// isOneOf reports whether one of the names of retryOn or skipOn is f's.
func (f failure) isOneOf(names []string) bool {
	return slices.ContainsFunc(f.names, func(name string) bool { return slices.Contains(names, name) })
}

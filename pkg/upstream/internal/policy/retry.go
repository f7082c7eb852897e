package policy

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

// retryRequest tells the retry policy to try once more.
type retryRequest struct{ after time.Duration } // what the server asked for; 0: nothing

func (*retryRequest) Error() string { return "try again" }

// errGiveUp tells the retry policy to try no more.
var errGiveUp = errors.New("enough")

// newRetry returns what tries as often and as far apart as the settings say.
func newRetry(r *config.Retry) failsafe.Executor[any] {
	spread := 0.0
	if r.Jitter {
		spread = jitter
	}
	return failsafe.With(retrypolicy.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool {
			_, ok := err.(*retryRequest)
			return ok
		}).
		ReturnLastFailure().
		WithMaxAttempts(max(1, r.MaxAttempts)). // 0 and less have a meaning of their own there
		WithBackoffFactor(r.InitialDelay, r.MaxDelay, max(1, r.Backoff)).
		WithJitterFactor(spread).
		WithDelayFunc(func(attempt failsafe.ExecutionAttempt[any]) time.Duration {
			if a, ok := attempt.LastError().(*retryRequest); ok && a.after > 0 {
				// The library lets this delay vary too, and a server that names a
				// time must not be asked before it.
				return time.Duration(float64(a.after)/(1-spread)) + time.Millisecond
			}
			return -1 // the next of the backoff
		}).Build())
}

// try asks the server until it answers, or until nothing speaks for another
// try.
func (l *Layers) try(ctx context.Context, caller string, o Operation, next Try) (Result, error) {
	if l.retry == nil {
		return l.tryOnce(ctx, next)
	}
	var (
		result Result
		latest error
		n      int
		more   bool
		tries  []Attempt
	)
	// What the policy returns is no more than latest, or that ctx has ended.
	_ = l.retry.WithContext(ctx).Run(func() error {
		if n++; n > 1 {
			l.Counts.Retries.Add(1)
		}
		more = false
		var one Result
		began := time.Now()
		one, latest = l.tryOnce(ctx, next)
		result.Reply = one.Reply
		if result.Attempts += one.Attempts; latest == nil && n == 1 {
			return nil
		}
		tries = kept(tries, Attempt{began, time.Now(), latest})
		if latest == nil {
			return nil
		}
		var after time.Duration
		if after, more = l.worthAnother(ctx, caller, o, latest); !more {
			latest = l.tooLate(ctx, latest)
			return errGiveUp
		}
		l.Log(ctx).DebugContext(ctx, "a call failed and may be tried again", "tool", o.Name, "try", n, "error", latest)
		return &retryRequest{after}
	})
	if n > 1 {
		result.AttemptTimes = tries
	}
	if n == 0 { // ctx had ended before
		return Result{}, l.Errors.Stopped(ctx, o.Name, "before it was sent", nil)
	}
	if latest != nil && n > 1 {
		latest = l.Errors.Amended(latest, fmt.Sprintf("; it was tried %d times", result.Attempts))
	}
	if more && n < l.Entry.Retry.MaxAttempts && ctx.Err() != nil {
		latest = l.Errors.Stopped(ctx, o.Name, "while it waited to try again", latest)
	}
	return result, latest
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
func (l *Layers) worthAnother(ctx context.Context, caller string, o Operation, err error) (time.Duration, bool) {
	f := l.Classify(err)
	r := l.Entry.Retry
	switch {
	case ctx.Err() != nil, !f.isRetried(r):
		return 0, false
	case f.After > r.MaxDelay:
		return 0, false // it would be asked before it wants, or wait for longer than allowed
	case f.Unknown && !o.Reads && !l.Entry.RetryUnsafe && !l.Repeatable(ctx, caller, o.Name, f):
		return 0, false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < f.After {
		return 0, false
	}
	return f.After, true
}

// tooLate returns err, amended if the call was not tried again only because the
// server asked for a longer wait (Retry-After) than is allowed.
func (l *Layers) tooLate(ctx context.Context, err error) error {
	f := l.Classify(err)
	end, bounded := ctx.Deadline()
	switch r := l.Entry.Retry; {
	case f.After == 0 || f.Unknown || ctx.Err() != nil || !f.isRetried(r):
		return err
	case f.After > r.MaxDelay:
		return l.Errors.Amended(err, fmt.Sprintf("; it was not tried again, because it asks for a wait of %v (Retry-After), and %s allows %v",
			f.After, l.Entry.Setting("retry.maxDelayMs"), r.MaxDelay))
	case bounded && time.Until(end) < f.After:
		return l.Errors.Amended(err, fmt.Sprintf("; it was not tried again, because it asks for a wait of %v (Retry-After), and the call has only %v left",
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

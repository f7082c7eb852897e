package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// errExpired is the cancellation cause of a request whose access token expires.
var errExpired = errors.New("the access token of this request has expired; send the request again with a new one")

// expiryGrace is how long after the expiry of its access token a client may
// still read the answer.
const expiryGrace = 5 * time.Second

// errRevoked is the cancellation cause of a request whose access token was revoked.
var errRevoked = errors.New("the access token of this request was revoked; send the request again with a new one")

// withExpiry returns a request that is cancelled as expiring says. stop releases the
// timers.
func (a *admission) withExpiry(r *http.Request, caller auth.Caller) (_ *http.Request, stop func()) {
	if caller.Expires.IsZero() && caller.Recheck == nil {
		return r, func() {}
	}
	ctx, stop := a.expiring(r.Context(), caller)
	return r.WithContext(ctx), stop
}

// expiring returns a context that is cancelled with errExpired when the access token
// of a caller expires, and with errRevoked after it was revoked. stop cancels it and
// releases the timers.
func (a *admission) expiring(ctx context.Context, caller auth.Caller) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stops := []func() bool{}
	if !caller.Expires.IsZero() {
		stops = append(stops, time.AfterFunc(time.Until(caller.Expires), func() { cancel(errExpired) }).Stop)
	}
	if caller.Recheck != nil {
		stops = append(stops, a.recheck(ctx, caller, func() { cancel(errRevoked) }))
	}
	return ctx, func() {
		cancel(nil)
		for _, stop := range stops {
			stop()
		}
	}
}

// recheck calls revoked once the token of the caller is no longer accepted, unless
// ctx is done before. It asks at intervals; while that fails, the token counts as
// it did.
func (a *admission) recheck(ctx context.Context, caller auth.Caller, revoked func()) (stop func() bool) {
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(a.server.timeouts.recheck, func() {
		<-ready
		switch err := caller.Recheck(ctx); {
		case ctx.Err() != nil:
		case err == nil, errors.Is(err, auth.ErrUnavailable):
			timer.Reset(a.server.timeouts.recheck)
		default:
			revoked()
		}
	})
	close(ready)
	return timer.Stop
}

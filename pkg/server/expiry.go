package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// errExpired is the cause with which a request ends when its access token
// expires.
var errExpired = errors.New("the access token of this request has expired; send the request again with a new one")

// expiryGrace is how long after its access token has expired a client may still
// read how its request ended.
const expiryGrace = 5 * time.Second

// untilExpiry returns a request that ends with errExpired when its caller's
// access token expires. stop releases its timer.
func untilExpiry(r *http.Request, caller auth.Caller) (_ *http.Request, stop func()) {
	if caller.Expires.IsZero() {
		return r, func() {}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(time.Until(caller.Expires), func() { cancel(errExpired) })
	return r.WithContext(ctx), func() {
		timer.Stop()
		cancel(nil)
	}
}

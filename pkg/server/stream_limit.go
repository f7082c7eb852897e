package server

import (
	"net/http"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

// How many subscriptions may be open: of all callers, and of one. A stream counts as
// one, and each resource that a client subscribed to. Without authentication, an
// address counts as a caller. Tests change them.
var (
	maxSubscriptions          = 10_000
	maxSubscriptionsPerCaller = 256
)

// subscriptionLimiter bounds the open subscriptions. The zero value is ready.
// It is safe for concurrent use.
type subscriptionLimiter struct {
	mu       sync.Mutex
	total    int
	byCaller map[string]int
}

// acquire counts n more subscriptions of the caller until release is called. It
// returns an error if there are too many.
func (l *subscriptionLimiter) acquire(caller string, n int) (release func(), _ *rpcError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.byCaller[caller]+n > maxSubscriptionsPerCaller:
		return nil, tooManySubscriptions("a caller may have %d open; close one of them", maxSubscriptionsPerCaller)
	case l.total+n > maxSubscriptions:
		return nil, tooManySubscriptions("the server may have %d open; try again later", maxSubscriptions)
	}
	if l.byCaller == nil {
		l.byCaller = map[string]int{}
	}
	l.byCaller[caller] += n
	l.total += n
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.total -= n
		if l.byCaller[caller] -= n; l.byCaller[caller] == 0 {
			delete(l.byCaller, caller)
		}
	}, nil
}

func tooManySubscriptions(format string, n int) *rpcError {
	e := rpcErrorf(jsonrpc.CodeInternal, "too many subscriptions: "+format, n)
	e.status, e.reason = http.StatusServiceUnavailable, "busy"
	return e
}

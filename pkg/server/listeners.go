package server

import (
	"net/http"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

// How many subscriptions/listen may be open: of one caller, which is a client's
// address where callers are not told apart, and of all. Tests change them.
var (
	maxListeners    = 10_000
	maxListenersOne = 256
)

// listeners count the open subscriptions. The zero value has none. It is safe for
// concurrent use.
type listeners struct {
	mu       sync.Mutex
	all      int
	byCaller map[string]int
}

// add counts one more of the caller. release has to be called at its end. The
// error is that there are too many.
func (l *listeners) add(caller string) (release func(), _ *rpcError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.byCaller[caller] >= maxListenersOne:
		return nil, tooManyListeners("this caller has %d open, as many as one may have; close one of them", maxListenersOne)
	case l.all >= maxListeners:
		return nil, tooManyListeners("%d are open, as many as may be; try again later", maxListeners)
	}
	if l.byCaller == nil {
		l.byCaller = map[string]int{}
	}
	l.byCaller[caller]++
	l.all++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.byCaller[caller]--; l.byCaller[caller] == 0 {
			delete(l.byCaller, caller)
		}
	}, nil
}

func tooManyListeners(format string, n int) *rpcError {
	e := rpcErrorf(jsonrpc.CodeInternal, "too many subscriptions: "+format, n)
	e.status, e.reason = http.StatusServiceUnavailable, "busy"
	return e
}

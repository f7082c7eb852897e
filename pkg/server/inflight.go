package server

import (
	"context"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// inflight are the requests of one client that are under way.
type inflight struct {
	running sync.WaitGroup // until they are answered

	mu      sync.Mutex
	stopped bool
	calls   map[string]context.CancelCauseFunc // by the id's JSON text
}

// begin adds a request. end says whether its client cancelled it, and must be
// called; so must running.Done, when it has been answered. The error is errEnded
// where nothing is taken any more, or for a client that uses an id twice.
func (f *inflight) begin(parent context.Context, id string) (ctx context.Context, end func() (cancelled bool), _ *rpcError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, nil, errEnded
	}
	if _, used := f.calls[id]; used {
		e := rpcErrorf(mcp.INVALID_REQUEST, "invalid request: a request with id %s is still under way", id)
		e.status = http.StatusBadRequest
		return nil, nil, e
	}
	ctx, cancel := context.WithCancelCause(parent)
	if f.calls == nil {
		f.calls = map[string]context.CancelCauseFunc{}
	}
	f.calls[id] = cancel
	f.running.Add(1)
	return ctx, func() bool {
		f.mu.Lock()
		delete(f.calls, id)
		cancelled := context.Cause(ctx) == errCancelled
		f.mu.Unlock()
		cancel(nil)
		return cancelled
	}, nil
}

// cancel ends the request with this id, if it is under way.
func (f *inflight) cancel(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cancel := f.calls[id]; cancel != nil {
		cancel(errCancelled)
	}
}

// cancelAll ends every request and takes no more of them.
func (f *inflight) cancelAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for _, cancel := range f.calls {
		cancel(errCancelled)
	}
}

// stop ends the taking of requests: after it, none is added.
func (f *inflight) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
}

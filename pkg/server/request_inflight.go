package server

import (
	"context"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// inflight holds the requests of one client that are being handled. It is safe
// for concurrent use.
type inflight struct {
	running sync.WaitGroup // requests that are not answered yet

	mu      sync.Mutex
	stopped bool
	cancels map[string]context.CancelCauseFunc // by the JSON text of the id
}

// begin adds a request. The caller must call end, which reports whether the
// client cancelled the request, and running.Done once the request is answered.
// It returns errSessionEnded after stop, and an error if the id is in use.
func (f *inflight) begin(parent context.Context, id string) (ctx context.Context, end func() (cancelled bool), _ *rpcError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, nil, errSessionEnded
	}
	if _, used := f.cancels[id]; used {
		e := rpcErrorf(mcp.INVALID_REQUEST, "invalid request: a request with id %s is still under way", id)
		e.status = http.StatusBadRequest
		return nil, nil, e
	}
	ctx, cancel := context.WithCancelCause(parent)
	if f.cancels == nil {
		f.cancels = map[string]context.CancelCauseFunc{}
	}
	f.cancels[id] = cancel
	f.running.Add(1)
	return ctx, func() bool {
		f.mu.Lock()
		delete(f.cancels, id)
		cancelled := context.Cause(ctx) == errCancelled
		f.mu.Unlock()
		cancel(nil)
		return cancelled
	}, nil
}

// cancel cancels the request with this id, if there is one.
func (f *inflight) cancel(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cancel := f.cancels[id]; cancel != nil {
		cancel(errCancelled)
	}
}

// cancelAll cancels all requests and makes begin refuse further ones.
func (f *inflight) cancelAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for _, cancel := range f.cancels {
		cancel(errCancelled)
	}
}

// stop makes begin refuse further requests.
func (f *inflight) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
}

package server

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// pendingRequest is a request between its message and its answer, over either
// transport.
type pendingRequest struct {
	*Request
	ctx      context.Context
	method   method
	snapshot *snapshot
	calls    *inflight
	release  func()      // releases the snapshot
	end      func() bool // reports whether the client cancelled it
}

// accept registers a request. It does not block. If it returns an error, the
// request is refused, and observers have been told. Otherwise the caller must
// call run and finish.
func (s *Server) accept(ctx context.Context, m jsonrpc.Request, r *Request, calls *inflight) (*pendingRequest, *rpcError) {
	p, release := s.retain(methods[mcp.MCPMethod(m.Method)].retains)
	with, rpcErr := p.read(m, r)
	// The transport's rules come first: a proxy may have read the message
	// differently.
	if broken := r.peer.verify(p, r); broken != nil {
		rpcErr = broken
	}
	if err := memory.AccountOf(ctx).Err(); err != nil {
		rpcErr = busyError(err) // the message was read incompletely
	}
	if rpcErr == nil && with.streams {
		var left func()
		if left, rpcErr = s.subscriptions.acquire(r.peer.callerKey(), 1); rpcErr == nil {
			before := release
			release = func() { left(); before() }
		}
	}
	if rpcErr != nil {
		p.observeRefusal(ctx, r, rpcErr)
		release()
		return nil, rpcErr
	}
	began, end, rpcErr := calls.begin(ctx, m.ID)
	if rpcErr != nil {
		p.observeRefusal(ctx, r, rpcErr)
		release()
		return nil, rpcErr
	}
	s.reserveSlot(r, with)
	return &pendingRequest{Request: r, ctx: began, method: with, snapshot: p, calls: calls, release: release, end: end}, nil
}

// run returns the answer or an error. cancelled reports whether the client
// cancelled the request; over stdio it then expects no answer. Call finish once
// the answer is sent.
func (j *pendingRequest) run() (text []byte, rpcErr *rpcError, cancelled bool) {
	text, rpcErr = j.snapshot.answer(j.ctx, j.method, j.Request)
	if rpcErr == nil && j.subscription != nil {
		j.subscription.serve(j.ctx, j.peer)
	}
	return text, rpcErr, j.end()
}

func (j *pendingRequest) finish() {
	j.release()
	j.calls.running.Done()
}

// errSessionEnded refuses requests of a session that has ended.
var errSessionEnded = func() *rpcError {
	e := rpcErrorf(jsonrpc.CodeInvalidRequest, "the session has ended; send initialize again")
	e.status, e.reason = http.StatusNotFound, "unknown_session"
	return e
}()

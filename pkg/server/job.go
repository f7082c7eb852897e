package server

import (
	"context"
	"net/http"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// job is a request on its way from the message to the answer, over either
// transport.
type job struct {
	*Request
	ctx     context.Context
	with    method
	by      *published
	calls   *inflight
	release func()      // what answers it
	end     func() bool // reports whether the client cancelled it
}

// accept takes a request in. It does not wait. The error is why the request is
// refused, which observers were told of; else the job has to be run.
func (s *Server) accept(ctx context.Context, m jsonrpc.Request, r *Request, calls *inflight) (*job, *rpcError) {
	p, release := s.hold(m.Method)
	with, rpcErr := p.read(m, r)
	// A transport's own conditions come first: who breaks them may be another
	// reader than the one that the message was meant for.
	if broken := r.from.verify(p, r); broken != nil {
		rpcErr = broken
	}
	if err := memory.AccountOf(ctx).Err(); err != nil {
		rpcErr = busyError(err) // what was read is not what was sent
	}
	if rpcErr == nil && with.streams {
		var left func()
		if left, rpcErr = s.listened.add(r.from.key()); rpcErr == nil {
			before := release
			release = func() { left(); before() }
		}
	}
	if rpcErr != nil {
		p.refuse(ctx, r, rpcErr)
		release()
		return nil, rpcErr
	}
	began, end, rpcErr := calls.begin(ctx, m.ID)
	if rpcErr != nil {
		p.refuse(ctx, r, rpcErr)
		release()
		return nil, rpcErr
	}
	s.enqueue(r)
	return &job{Request: r, ctx: began, with: with, by: p, calls: calls, release: release, end: end}, nil
}

// run returns the answer, or its error. cancelled reports that the client has
// cancelled the request, and over pipes expects none. finish has to be called when
// it is sent.
func (j *job) run() (text []byte, rpcErr *rpcError, cancelled bool) {
	text, rpcErr = j.by.answer(j.ctx, j.with, j.Request)
	if rpcErr == nil && j.subscription != nil {
		j.subscription.serve(j.ctx, j.from)
	}
	return text, rpcErr, j.end()
}

func (j *job) finish() {
	j.release()
	j.calls.running.Done()
}

// errEnded refuses requests where none are taken in any more.
var errEnded = func() *rpcError {
	e := rpcErrorf(jsonrpc.CodeInvalidRequest, "the session has ended; initialize again")
	e.status, e.reason = http.StatusNotFound, "unknown_session"
	return e
}()

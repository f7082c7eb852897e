package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// reply is the answer to a request, from its message to its end, over either transport.
type reply struct {
	*Request
	from    *snapshot // what answers it
	ctx     context.Context
	method  method
	calls   *inflight
	release func()      // releases the snapshot
	end     func() bool // reports whether the client cancelled it

	// What observers learn; see Outcome.
	reason        string
	result        value.Value
	failed        bool // the result of tools/call has isError
	failure       string
	inputRequired bool          // the result of a call asks for input
	subscription  *subscription // of subscriptions/listen
}

// accept registers a request. It does not block. If it returns an error, the
// request is refused, and observers have been told. Otherwise the caller must
// call answer and finish.
func accept(ctx context.Context, s *Server, m jsonrpc.Request, r *Request, calls *inflight) (*reply, *rpcError) {
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
	if with.slot && !r.offer.instant {
		r.slot = s.callLimiter.Load().enqueue(r.Caller) // calls that wait start in the order of their messages
	}
	return &reply{Request: r, from: p, ctx: began, method: with, calls: calls, release: release, end: end}, nil
}

// answer returns the whole message or an error. cancelled reports whether the client
// cancelled the request; over stdio it then expects no answer. Call finish once
// the answer is sent.
func (r *reply) answer() (text []byte, rpcErr *rpcError, cancelled bool) {
	text, rpcErr = r.observed()
	if rpcErr == nil && r.subscription != nil {
		r.subscription.serve(r.ctx, r.peer)
	}
	return text, rpcErr, r.end()
}

func (r *reply) finish() {
	r.release()
	r.calls.running.Done()
}

// observed makes the answer, and tells observers of it.
func (r *reply) observed() ([]byte, *rpcError) {
	ctx, done := r.from.startObserving(r.ctx, r.Request)
	text, rpcErr := r.recovered(ctx)
	r.slot.release()
	if r.from.observe != nil {
		o := r.outcome(rpcErr)
		failed := o.Reason == "" && (o.Failed || o.Code != 0)
		o.Interrupted = failed && memory.AccountOf(ctx).Err() != nil
		o.Cancelled = failed && !o.Interrupted && ctx.Err() != nil
		done(o)
	}
	return text, rpcErr
}

// recovered makes the answer. It turns a panic into an internal error.
func (r *reply) recovered(ctx context.Context) (text []byte, rpcErr *rpcError) {
	defer func() {
		if x := recover(); x != nil {
			r.logger().ErrorContext(ctx, "a request panicked", "method", r.Method, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			text, rpcErr = nil, rpcErrorf(mcp.INTERNAL_ERROR, "internal error: %v", x)
		}
	}()
	return r.method.answer(ctx, r)
}

// logger returns the logger for records about a request. It names the caller.
func (r *reply) logger() *slog.Logger {
	switch {
	case r.Log != nil:
		return r.Log
	case r.Caller != "":
		return r.from.log.With("caller", r.Caller)
	}
	return r.from.log
}

func (r *reply) outcome(e *rpcError) Outcome {
	if e != nil {
		return Outcome{Reason: e.why(), Code: e.Code, Failed: e.failed, Message: e.Message}
	}
	return Outcome{Reason: r.reason, Failed: r.failed, Message: r.failure, Result: r.result, InputRequired: r.inputRequired}
}

// errSessionEnded refuses requests of a session that has ended.
var errSessionEnded = func() *rpcError {
	e := rpcErrorf(jsonrpc.CodeInvalidRequest, "the session has ended; send initialize again")
	e.status, e.reason = http.StatusNotFound, "unknown_session"
	return e
}()

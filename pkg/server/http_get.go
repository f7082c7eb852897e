package server

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// get opens an event stream of a session (MCP 2025-11-25, Transports,
// Listening for Messages from the Server). An open stream keeps its session in
// use. It lasts until the client, the session or the server ends it, or until
// its caller loses access. Last-Event-ID is ignored: streams cannot be resumed.
func (x *exchange) get() {
	if err := x.account.Err(); err != nil {
		x.refuse(http.StatusServiceUnavailable, nullID, busyError(err))
		return
	}
	if !x.response.acceptsEvents {
		x.response.sendJSON(http.StatusNotAcceptable, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "the Accept header must include text/event-stream")))
		return
	}
	s := x.useSession()
	if s == nil {
		return
	}
	defer x.sessions.release(s)
	stream := &eventStream{httpResponse: x.response, quit: make(chan struct{})}
	stream.startKeepAlive()
	added := s.streams.add(stream)
	stream.sendKeepAlive() // tells the client that the stream is open: from here on it misses nothing
	if added && x.sessions.tell(s) {
		// The client may have missed changes, and what it subscribed to is gone.
		x.current.Load().notifyLists(s.streams.notify)
	}
	if added {
		x.keepStreamOpen(x.r.Context(), stream.quit)
		s.streams.remove(stream)
	}
	stream.closeStream()
}

// keepStreamOpen blocks until the client disconnects, ctx or quit is done, or
// the server ends its streams. When the access rules change, it checks again
// whether the request that opened the stream is admitted.
func (x *exchange) keepStreamOpen(ctx context.Context, quit <-chan struct{}) {
	for at := x.currentAccess(); x.stillAdmitted(); at = x.currentAccess() {
		if !x.response.wait(ctx, quit, x.stopStreams, at) {
			return
		}
	}
}

// stillAdmitted reports whether the request would be admitted now, as the same
// caller, and logs it if not.
func (x *exchange) stillAdmitted() bool {
	if x.admission.stillAdmitted(x.r, x.caller) {
		return true
	}
	x.log.InfoContext(x.r.Context(), "event stream closed: its caller no longer has access", "from", x.r.RemoteAddr, "caller", x.caller.Name)
	return false
}

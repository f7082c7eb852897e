package server

import (
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// get opens a standing stream of a session (MCP 2025-11-25, Transports, Listening
// for Messages from the Server). It counts as use of the session, and lasts until
// the client, the session or the server ends it, or its caller is let in no more. Last-Event-ID is not looked at:
// streams are not resumed.
func (h *handler) get(w http.ResponseWriter, r *http.Request, caller auth.Caller) {
	x, end := h.exchange(w, r, caller)
	defer end()
	if err := x.held.Err(); err != nil {
		x.refuse(http.StatusServiceUnavailable, nullID, busyError(err))
		return
	}
	if !x.reply.events {
		x.reply.whole(http.StatusNotAcceptable, appendError(nil, nullID,
			rpcErrorf(mcp.INVALID_REQUEST, "Accept must name text/event-stream")))
		return
	}
	s := x.resume()
	if s == nil {
		return
	}
	defer h.sessions.release(s)
	one := &standing{reply: x.reply, quit: make(chan struct{})}
	one.expect()
	added := s.streams.add(one)
	one.comment() // the client sees that the stream has begun, and misses nothing from then on
	if added {
		x.keepOpen(r.Context(), one.quit)
		s.streams.remove(one)
	}
	one.abandon()
}

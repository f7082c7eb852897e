package server

import (
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// handleGet opens an event stream of a session (MCP 2025-11-25, Transports,
// Listening for Messages from the Server). An open stream keeps its session in
// use. It lasts until the client, the session or the server ends it, or until
// its caller loses access. Last-Event-ID is ignored: streams cannot be resumed.
func (h *httpHandler) handleGet(w http.ResponseWriter, r *http.Request, caller auth.Caller) {
	x, end := h.newExchange(w, r, caller)
	defer end()
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
	defer h.sessions.release(s)
	stream := &eventStream{httpResponse: x.response, quit: make(chan struct{})}
	stream.startKeepAlive()
	added := s.streams.add(stream)
	stream.sendKeepAlive() // tells the client that the stream is open: from here on it misses nothing
	if added && h.sessions.tell(s) {
		// The client may have missed changes, and what it subscribed to is gone.
		h.current.Load().notifyLists(s.streams.notify)
	}
	if added {
		x.keepStreamOpen(r.Context(), stream.quit)
		s.streams.remove(stream)
	}
	stream.closeStream()
}

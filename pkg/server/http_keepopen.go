package server

import (
	"context"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

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

// accessVersion identifies the access rules at one time. Values are comparable.
type accessVersion struct {
	published *snapshot
	changed   <-chan struct{} // closed when the guard's decisions may have changed; nil if they never do
}

func (h *httpHandler) currentAccess() accessVersion {
	a := accessVersion{published: h.current.Load()}
	if guard, ok := h.access().Guard.(auth.Changing); ok {
		a.changed = guard.Changed()
	}
	return a
}

// stillAdmitted reports whether the request would be admitted now, as the same
// caller, and logs it if not.
func (x *exchange) stillAdmitted() bool {
	if x.httpHandler.stillAdmitted(x.r, x.caller) {
		return true
	}
	x.log.InfoContext(x.r.Context(), "event stream closed: its caller no longer has access", "from", x.r.RemoteAddr, "caller", x.caller.Name)
	return false
}

// stillAdmitted reports whether a request would be admitted now, as this caller.
func (h *httpHandler) stillAdmitted(r *http.Request, as auth.Caller) bool {
	guard := h.access().Guard
	if guard == nil {
		return as.Name == ""
	}
	caller, refusal := guard.Admit(discardResponse{}, r)
	return refusal == nil && caller.Name == as.Name
}

// discardResponse is the http.ResponseWriter for guards that check a request
// which is already being answered.
type discardResponse struct{}

func (discardResponse) Header() http.Header         { return http.Header{} }
func (discardResponse) Write(b []byte) (int, error) { return len(b), nil }
func (discardResponse) WriteHeader(int)             {}

package server

import (
	"context"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// keepOpen keeps a stream open until its client has gone, ctx or quit says that it
// is over, or the server says nothing unasked any more. Where something else is
// published the guard of that decides anew about the request that opened it.
func (x *exchange) keepOpen(ctx context.Context, quit <-chan struct{}) {
	for at := x.admission(); x.mayStay(); at = x.admission() {
		if !x.reply.hold(ctx, quit, x.quiet, at) {
			return
		}
	}
}

// admission is what decides who may come in, at one time.
type admission struct {
	published *published
	changed   <-chan struct{} // closed when the guard may decide otherwise; nil if it never does
}

func (h *handler) admission() admission {
	a := admission{published: h.current.Load()}
	if guard, ok := h.access().Guard.(auth.Changing); ok {
		a.changed = guard.Changed()
	}
	return a
}

// mayStay reports whether the request would be let in now, as the same caller.
func (x *exchange) mayStay() bool {
	guard := x.access().Guard
	if guard == nil {
		return x.caller.Name == ""
	}
	caller, refusal := guard.Admit(unheard{}, x.r)
	if refusal == nil && caller.Name == x.caller.Name {
		return true
	}
	x.log.InfoContext(x.r.Context(), "a stream was ended: its caller is not let in any more", "from", x.r.RemoteAddr, "caller", x.caller.Name)
	return false
}

// unheard is where a guard answers a request whose answer has long begun.
type unheard struct{}

func (unheard) Header() http.Header         { return http.Header{} }
func (unheard) Write(b []byte) (int, error) { return len(b), nil }
func (unheard) WriteHeader(int)             {}

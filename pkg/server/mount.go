package server

import (
	"net/http"
	"sync"
)

// Handler answers MCP over streamable HTTP in an http.Server that is not ours.
type Handler struct {
	*handler
	once sync.Once
}

// Handler returns what [Server.ServeHTTP] serves; opts.TLS and opts.Grace are for
// that alone. A Server has one at a time.
func (s *Server) Handler(opts HTTPOptions) *Handler {
	h := newHandler(s, opts)
	s.web.Store(&opts)
	return &Handler{handler: h}
}

// ServeHTTP implements http.Handler. Once the Handler is closed it answers with
// status 503.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.stopping.Load() && r.URL.Path == Path {
		http.Error(w, "the server is stopping", http.StatusServiceUnavailable)
		return
	}
	h.handler.ServeHTTP(w, r)
}

// Close ends all streams and sessions. Requests under way are still answered.
func (h *Handler) Close() {
	h.once.Do(func() {
		h.stop()
		h.web.Store(nil)
		h.sessions.close()
	})
}

package mcpgraph

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// Handler answers MCP over streamable HTTP in an [http.Server] of the program's
// own. It is safe for concurrent use.
type Handler struct {
	web    *server.Handler
	detach func()
	once   sync.Once
}

// Handler returns what answers at /mcp, /healthz, /readyz and the other paths of
// [Engine.ServeHTTP], to be mounted in a mux:
//
//	mux.Handle("/mcp", handler)
//	mux.Handle("/tools/", http.StripPrefix("/tools", handler)) // at /tools/mcp
//
// Who may come in the file says (server.auth, allowedHosts and allowedOrigins),
// unless opts do; opts.TLS and opts.Grace are the program's own. Reload changes
// what is served. Close it before the Engine.
func (e *Engine) Handler(opts server.HTTPOptions) (*Handler, error) {
	e.measure(&opts)
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{http: &opts, ctx: ctx}
	if err := e.join(s); err != nil {
		cancel()
		return nil, err
	}
	h := &Handler{web: s.server.Handler(opts)}
	h.detach = func() {
		cancel()
		s.started.Wait()
		e.leave(s)
	}
	return h, nil
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.web.ServeHTTP(w, r) }

// Close ends the streams and sessions of all clients; requests under way are still
// answered, further ones are refused. Let an [http.Server] call it as it begins to
// shut down, or it would wait for the streams:
//
//	srv.RegisterOnShutdown(handler.Close)
func (h *Handler) Close() {
	h.once.Do(func() {
		h.web.Close()
		h.detach()
	})
}

// leave takes a server from those that Reload finds.
func (e *Engine) leave(s *serving) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.serving = slices.DeleteFunc(e.serving, func(one *serving) bool { return one == s })
}

// measure lets telemetry be told of sessions, beside whom opts tell.
func (e *Engine) measure(opts *server.HTTPOptions) {
	if e.opts.telemetry == nil {
		return
	}
	others := opts.Session
	opts.Session = func(ctx context.Context) func(error) {
		measured := e.current.Load().recorder.Session(ctx, server.TCP)
		if others == nil {
			return measured
		}
		told := others(ctx)
		return func(err error) {
			measured(err)
			told(err)
		}
	}
}

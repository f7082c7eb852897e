package mcpgraph

import (
	"context"
	"io"
	"net"
	"net/http"

	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// ServeStdio serves the tools to one MCP client, which writes to in and reads
// from out, until in ends or ctx is done; see [server.Server.ServeStdio]. Only
// MCP messages are written to out. Servers marked eager are started first, in
// the background. The Engine stays open.
func (e *Engine) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return e.servers.Stdio(ctx, in, out)
}

// ServeHTTP serves the tools to any number of MCP clients over streamable HTTP
// until ctx is done; see [server.Server.ServeHTTP]. Servers marked eager are
// started first, in the background. Calls carry the caller's name and headers
// for the servers whose entries forward them, and callers never share what was
// got with credentials. The file configures authentication and allowed origins
// (server.auth, allowedHosts and allowedOrigins); opts override it. The Engine
// stays open.
func (e *Engine) ServeHTTP(ctx context.Context, listener net.Listener, opts server.HTTPOptions) error {
	return e.servers.HTTP(ctx, listener, opts)
}

// Handler answers MCP over streamable HTTP in an [http.Server] of the program's
// own. It is safe for concurrent use.
type Handler struct{ handler *serving.Handler }

// Handler returns what answers at /mcp, /healthz, /readyz and the other paths of
// [Engine.ServeHTTP], to be mounted in a mux:
//
//	mux.Handle("/mcp", handler)
//	mux.Handle("/tools/", http.StripPrefix("/tools", handler)) // at /tools/mcp
//
// The file configures authentication and allowed origins (server.auth,
// allowedHosts and allowedOrigins); opts override it; opts.TLS is the program's
// own. Reload changes what is served. Close it before the Engine.
func (e *Engine) Handler(opts server.HTTPOptions) (*Handler, error) {
	h, err := e.servers.Handler(opts)
	if err != nil {
		return nil, err
	}
	return &Handler{h}, nil
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Close ends the streams and sessions of all clients, refuses further requests, and
// waits until running ones are answered. After opts.Grace it cancels those that are
// left. Let an [http.Server] call it as it begins to shut down, or the server would
// wait for the streams:
//
//	srv.RegisterOnShutdown(handler.Close)
func (h *Handler) Close() { h.handler.Close() }

// Guard returns what authenticates callers over HTTP as server.auth of the file
// configures, or nil if there is no server.auth. It reads the file of tokens,
// once; the error is that of [auth.New].
func (e *Engine) Guard() (auth.Guard, error) { return e.engine.Current().Guard() }

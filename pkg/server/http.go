package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// Path is the path at which a Server answers MCP over HTTP.
const Path = "/mcp"

// Defaults of HTTPOptions.
const (
	DefaultMaxBody     = 16 << 20 // bytes
	DefaultSessionIdle = 30 * time.Minute
	DefaultMaxSessions = 10_000
	DefaultGrace       = 10 * time.Second
)

const (
	idleTime   = 2 * time.Minute // between requests
	maxHeaders = 64 << 10        // bytes
)

// HTTPOptions configure how a Server is served over HTTP. The zero value suits
// a server that listens on a loopback address.
type HTTPOptions struct {
	// Guard authenticates callers. Nil means Options.Access.Guard. If that is
	// nil too, every request is accepted, and all callers count as one.
	Guard auth.Guard
	// AllowedHosts are the accepted values of the Host header; nil means
	// Options.Access.AllowedHosts. If both are empty, requests over a loopback
	// address must name a loopback host, and other requests may name any host.
	AllowedHosts []string
	// AllowedOrigins are the accepted origins of web pages, such as
	// "https://example.com"; nil means Options.Access.AllowedOrigins. Over
	// loopback addresses, pages from loopback hosts are accepted as well.
	AllowedOrigins []string

	// SessionKey is the secret that seals the ids of sessions. A process with the same
	// secret takes up the sessions of others, also after a restart; what one process
	// alone knew of them (log level, subscriptions) is reset. If it is empty, a
	// random one is made, and the sessions end with the process.
	SessionKey []byte

	MaxBody     int64         // largest request body in bytes; 0 means DefaultMaxBody
	SessionIdle time.Duration // sessions that are idle for so long are not kept in memory; 0 means DefaultSessionIdle
	MaxSessions int           // in memory at the same time; 0 means DefaultMaxSessions
	Grace       time.Duration // time for running calls after shutdown begins; 0 means DefaultGrace

	TLS     *tls.Config  // nil serves plain HTTP
	Metrics http.Handler // answers authenticated requests for /metrics; may be nil
	Status  http.Handler // answers authenticated requests for /status; may be nil
	// Session is called when a session begins; the function that it returns is
	// called when the session ends. It may be nil.
	Session func(ctx context.Context) (ended func(error))
}

// ServeHTTP answers MCP over streamable HTTP (MCP 2025-11-25, Transports) at
// [Path] until ctx is done. Clients of revisions 2025-03-26 to 2025-11-25 use
// sessions whose ids the server assigns; clients of 2026-07-28 use none.
// /healthz answers while the process lives, /readyz while it accepts requests.
//
// When ctx is done, ServeHTTP accepts no new connections and lets running
// requests finish. After opts.Grace it cancels them with ctx's cause. It
// returns that cause, and closes listener.
func (s *Server) ServeHTTP(ctx context.Context, listener net.Listener, opts HTTPOptions) error {
	life, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer kill(nil)
	h := newHandler(s, opts)
	s.httpOptions.Store(&opts)
	defer s.httpOptions.Store(nil)
	defer h.sessions.close()
	srv := &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return life },
		ReadHeaderTimeout: s.timeouts.header, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		TLSConfig: opts.TLS, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	unused := unusedConns{conns: map[net.Conn]struct{}{}}
	srv.ConnState = unused.note
	ended := make(chan error, 1)
	go func() {
		if opts.TLS != nil {
			ended <- srv.ServeTLS(listener, "", "")
		} else {
			ended <- srv.Serve(listener)
		}
	}()
	select {
	case err := <-ended:
		srv.Close()
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	h.stop()
	defer time.AfterFunc(unusedTime, unused.close).Stop()
	if !shutDown(srv, orDefault(opts.Grace, DefaultGrace)) {
		kill(context.Cause(ctx))
		shutDown(srv, s.timeouts.shutdown)
	}
	srv.Close()
	return context.Cause(ctx)
}

// Handler returns the handler that [Server.ServeHTTP] serves; opts.TLS has no
// effect. A Server has at most one Handler at a time.
func (s *Server) Handler(opts HTTPOptions) *Handler {
	h := &Handler{httpHandler: newHandler(s, opts), idle: make(chan struct{})}
	h.life, h.kill = context.WithCancelCause(context.Background())
	s.httpOptions.Store(&opts)
	return h
}

// unusedTime is how long, after shutdown begins, the first request of a connection may
// take to arrive.
const unusedTime = 200 * time.Millisecond

// unusedConns are the connections on which no request has arrived. Clients open some
// beside those that they use, and [http.Server.Shutdown] waits 5 s for each.
type unusedConns struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func (u *unusedConns) note(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state == http.StateNew {
		u.conns[c] = struct{}{}
	} else {
		delete(u.conns, c)
	}
}

func (u *unusedConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.conns {
		c.Close()
	}
}

// shutDown reports whether all requests were answered within d.
func shutDown(srv *http.Server, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return !errors.Is(srv.Shutdown(ctx), context.DeadlineExceeded)
}

func orDefault[T int | int64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// Path is where a Server answers MCP over HTTP.
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

// HTTPOptions say how a Server is reached over HTTP. The zero value is right for
// a server that listens on a loopback address.
type HTTPOptions struct {
	// Guard says who may come in. Where it is nil Options.Access does, and where
	// that has none either everybody may, as the one caller.
	Guard auth.Guard
	// AllowedHosts are names that the Host header may have; nil means those of
	// Options.Access. Where there are none, requests over a loopback address must
	// name a loopback host, and others may name any.
	AllowedHosts []string
	// AllowedOrigins are the origins of web pages that may come in, such as
	// "https://example.com"; nil means those of Options.Access. Pages of loopback
	// hosts may over loopback addresses.
	AllowedOrigins []string

	MaxBody     int64         // longest request in bytes; 0 means DefaultMaxBody
	SessionIdle time.Duration // after which an unused session ends; 0 means DefaultSessionIdle
	MaxSessions int           // at the same time; 0 means DefaultMaxSessions
	Grace       time.Duration // for calls under way when the server is told to stop; 0 means DefaultGrace

	TLS     *tls.Config  // nil serves plain HTTP
	Metrics http.Handler // answers /metrics, to those whom Guard lets in; nil for none
	Status  http.Handler // answers /status, to those whom Guard lets in; nil for none
	// Session is told of every session as it begins, and what it returns of its
	// end. It may be nil.
	Session func(ctx context.Context) (ended func(error))
}

// ServeHTTP answers MCP over streamable HTTP (MCP 2025-11-25, Transports) at
// [Path] until ctx is done: revisions 2025-03-26 to 2025-11-25 in sessions, whose
// ids this server gave out, and 2026-07-28 without. /healthz says that the
// process lives, /readyz that it takes requests.
//
// Then no new connection is taken, and requests under way are answered; after
// opts.Grace they are cancelled with ctx's cause, which is returned. ServeHTTP
// closes listener.
func (s *Server) ServeHTTP(ctx context.Context, listener net.Listener, opts HTTPOptions) error {
	life, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer kill(nil)
	h := newHandler(s, opts)
	s.web.Store(&opts)
	defer s.web.Store(nil)
	defer h.sessions.close()
	srv := &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return life },
		ReadHeaderTimeout: s.patience.header, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		TLSConfig: opts.TLS, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
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
	if !shutDown(srv, orDefault(opts.Grace, DefaultGrace)) {
		kill(context.Cause(ctx))
		shutDown(srv, shutdownGrace)
	}
	srv.Close()
	return context.Cause(ctx)
}

// shutDown reports whether every request was answered within d.
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

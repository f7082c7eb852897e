package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Bounds of connections.
const (
	headerTime = 5 * time.Second
	bodyTime   = 10 * time.Second
	writeTime  = 10 * time.Second // of a part that was written
	idleTime   = 2 * time.Minute
	maxHeaders = 16 << 10
	grace      = 500 * time.Millisecond
)

// Serve answers requests until ctx is done. It closes the listener, and returns nil
// unless it could not serve.
func (p *Page) Serve(ctx context.Context, listener net.Listener) error {
	srv := &http.Server{
		Handler:           p.handler(listener.Addr()),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		ErrorLog: slog.NewLogLogger(p.opts.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving the page: %w", err)
	case <-ctx.Done():
	}
	p.events.close()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(end); errors.Is(err, context.DeadlineExceeded) {
		srv.Close()
	}
	<-ended
	return nil
}

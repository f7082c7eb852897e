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

// ErrNotLoopback is in the error of Listen for an address that other machines reach.
var ErrNotLoopback = errors.New("other machines can reach this address")

// ErrAddress is in the error of Listen for what is no address.
var ErrAddress = errors.New("expected HOST:PORT, such as 127.0.0.1:0")

// Listen listens at an address that only programs of this machine reach. The error
// for another address explains why; insecure allows it.
func Listen(address string, insecure bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address: %w", address, ErrAddress)
	}
	if !insecure && !loopback(host) {
		return nil, fmt.Errorf("%s: %w: the token goes over the network unencrypted, and who reads it can run the tools of "+
			"the file and change it; use a loopback address such as 127.0.0.1:0", address, ErrNotLoopback)
	}
	return net.Listen("tcp", address)
}

// loopback reports whether a host is the machine itself.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

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

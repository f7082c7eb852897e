package serving

import (
	"context"
	"net/http"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// Handler answers MCP over streamable HTTP. It is safe for concurrent use.
type Handler struct {
	web   *server.Handler
	leave func()
	once  sync.Once
}

// Handler returns what answers HTTP requests until it is closed.
func (s *Servers) Handler(opts server.HTTPOptions) (*Handler, error) {
	s.measure(&opts)
	srv, leave, err := s.join(context.Background(), &opts)
	if err != nil {
		return nil, err
	}
	return &Handler{web: srv.Handler(opts), leave: leave}, nil
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.web.ServeHTTP(w, r) }

// Close ends the streams and sessions of all clients, refuses further requests and
// waits until running ones are answered; see [server.Handler.Close].
func (h *Handler) Close() {
	h.once.Do(func() {
		h.web.Close()
		h.leave()
	})
}

// measure reports sessions to telemetry, in addition to the observer in opts.
func (s *Servers) measure(opts *server.HTTPOptions) {
	if s.engine.Current().Recorder() == nil {
		return
	}
	others := opts.Session
	opts.Session = func(ctx context.Context) func(error) {
		measured := s.engine.Current().Recorder().Session(ctx, server.TCP)
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

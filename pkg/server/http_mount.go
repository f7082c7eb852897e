package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Handler answers MCP over streamable HTTP in an http.Server of the embedding
// program.
type Handler struct {
	*httpHandler
	once sync.Once
	life context.Context // of all requests
	kill context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running int
	idle    chan struct{} // closed when nothing runs after Close
}

// errHandlerClosed is the cancellation cause of requests that outlast the grace
// period of a Handler.
var errHandlerClosed = errors.New("the server is shutting down")

// ServeHTTP implements http.Handler. After Close it answers requests for Path
// with HTTP 503.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.enter() {
		if r.URL.Path != Path {
			h.httpHandler.ServeHTTP(w, r)
			return
		}
		t := &responseRecorder{ResponseWriter: w}
		began := time.Now()
		recordRefusal(t, "shutting_down", "", slog.LevelInfo)
		http.Error(t, errHandlerClosed.Error(), http.StatusServiceUnavailable)
		h.observeExchange(r, t, began)
		return
	}
	defer h.leave()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(h.life, func() { cancel(context.Cause(h.life)) })()
	h.httpHandler.ServeHTTP(w, r.WithContext(ctx))
}

// enter counts a request, unless the Handler is closed.
func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.running++
	}
	return !h.closed
}

func (h *Handler) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running--; h.closed && h.running == 0 {
		close(h.idle)
	}
}

// Close ends all streams and sessions, refuses further requests and waits until
// running ones are answered. After opts.Grace it cancels those that are left. It
// must not be called while a request of the same Handler waits for it.
func (h *Handler) Close() {
	h.once.Do(func() {
		h.mu.Lock()
		h.closed = true
		if h.running == 0 {
			close(h.idle)
		}
		h.mu.Unlock()
		h.stop()
		if !h.idleWithin(orDefault(h.opts.Grace, DefaultGrace)) {
			h.kill(errHandlerClosed)
			h.idleWithin(h.timeouts.shutdown)
		}
		h.kill(nil)
		h.httpOptions.Store(nil)
		h.sessions.close()
	})
}

// idleWithin reports whether all requests were answered within d.
func (h *Handler) idleWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-h.idle:
		return true
	case <-timer.C:
		return false
	}
}

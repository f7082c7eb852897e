package server

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Exchange is one HTTP request, and how it was answered.
type Exchange struct {
	Began   time.Time
	Method  string // of HTTP
	Path    string
	From    string // address of the client, or of a proxy in front of it
	Session string // the Mcp-Session-Id that the client sent
	Caller  string // who was admitted; empty if nobody was, or if there is but one caller
	Status  int    // of HTTP
	// Reason is why the request was refused, a word such as "invalid_token" or
	// "host"; empty if it was not.
	Reason string
	// Requests is how many requests of MCP it carried. An ObserveFunc was told of
	// each of them.
	Requests int
}

// ExchangeFunc is told of every HTTP request when it has been answered, except for
// /healthz, /readyz and pages that anybody may read. It is called from any number
// of goroutines, and must not wait.
type ExchangeFunc func(ctx context.Context, e Exchange)

// tracked is the answer to an HTTP request whose outcome is told of.
type tracked struct {
	http.ResponseWriter
	status   int
	caller   string
	reason   string
	detail   string     // for the log
	level    slog.Level // of the log record
	open     bool       // anybody may read it
	requests atomic.Int32
}

// Unwrap is for http.ResponseController.
func (t *tracked) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (t *tracked) WriteHeader(status int) {
	if t.status == 0 {
		t.status = status
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *tracked) Write(b []byte) (int, error) {
	if t.status == 0 {
		t.status = http.StatusOK
	}
	return t.ResponseWriter.Write(b)
}

// refused says why the request is refused that w answers.
func refused(w http.ResponseWriter, reason, detail string, level slog.Level) {
	if t, ok := w.(*tracked); ok {
		t.reason, t.detail, t.level = reason, detail, level
	}
}

// reasons of refusals that nobody gave another one for, by their HTTP status.
var reasons = map[int]string{
	http.StatusBadRequest: "bad_request", http.StatusUnauthorized: "unauthenticated", http.StatusForbidden: "forbidden",
	http.StatusNotFound: "not_found", http.StatusMethodNotAllowed: "method_not_allowed", http.StatusNotAcceptable: "not_acceptable",
	http.StatusRequestEntityTooLarge: "too_large", http.StatusUnsupportedMediaType: "unsupported_media_type",
	http.StatusTooManyRequests: "too_many_requests", http.StatusServiceUnavailable: "busy",
}

// tell tells of the answer, once it is over.
func (h *handler) tell(r *http.Request, t *tracked, began time.Time) {
	if t.open && t.status < http.StatusBadRequest {
		return
	}
	if t.reason == "" && t.status >= http.StatusBadRequest {
		if t.reason = reasons[t.status]; t.reason == "" {
			t.reason = "error"
		}
	}
	e := Exchange{
		Began: began, Method: r.Method, Path: r.URL.Path, From: r.RemoteAddr, Session: r.Header.Get("Mcp-Session-Id"),
		Caller: t.caller, Status: t.status, Reason: t.reason, Requests: int(t.requests.Load()),
	}
	if e.Reason != "" {
		h.logRefusal(r.Context(), t, e)
	}
	if f := h.current.Load().exchanged; f != nil {
		f(r.Context(), e)
	}
}

// logRefusal logs that a request was refused, unless that is said too often.
func (h *handler) logRefusal(ctx context.Context, t *tracked, e Exchange) {
	more, ok := h.refusals.take(e.Reason)
	if !ok || !h.log.Enabled(ctx, t.level) {
		return
	}
	attrs := []any{"reason", e.Reason, "status", e.Status, "method", clip(e.Method), "path", clip(e.Path), "from", e.From}
	if e.Caller != "" {
		attrs = append(attrs, "caller", e.Caller)
	}
	if t.detail != "" {
		attrs = append(attrs, "error", clip(t.detail))
	}
	if more > 0 {
		attrs = append(attrs, "suppressed", more)
	}
	h.log.Log(ctx, t.level, "a request was refused", attrs...)
}

// clip shortens what a client made up.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 256)], "\uFFFD") }

// Of each reason so many refusals are logged at once, and one in a second from
// then on. Anybody can be refused as often as they like, and a log has to fit its
// disk.
const refusalBurst = 20

// refusalLog bounds how often refusals are logged, by reason. The zero value is
// ready.
type refusalLog struct {
	mu sync.Mutex
	of map[string]*refusalCount
}

type refusalCount struct {
	left       float64
	at         time.Time
	suppressed int
}

// take reports whether a refusal for this reason is logged, and how many were not
// since the last that was.
func (l *refusalLog) take(reason string) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	c := l.of[reason]
	if c == nil {
		if l.of == nil {
			l.of = map[string]*refusalCount{}
		}
		c = &refusalCount{left: refusalBurst, at: now}
		l.of[reason] = c
	}
	c.left = min(refusalBurst, c.left+now.Sub(c.at).Seconds())
	c.at = now
	if c.left < 1 {
		c.suppressed++
		return 0, false
	}
	c.left--
	suppressed, c.suppressed = c.suppressed, 0
	return suppressed, true
}

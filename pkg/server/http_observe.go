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

// Exchange is one HTTP request and how it was answered.
type Exchange struct {
	Began   time.Time
	Method  string // of HTTP
	Path    string
	From    string // address of the client, or of the proxy in front of it
	Session string // the Mcp-Session-Id that the client sent
	Caller  string // authenticated caller; empty if there is none
	Status  int    // of HTTP
	// Reason is why the request was refused, as one word such as
	// "invalid_token" or "host"; empty if it was accepted.
	Reason string
	// Requests is the number of MCP requests in the body. An ObserveFunc is
	// called for each of them.
	Requests int
}

// ExchangeFunc is called after every HTTP request, except for /healthz, /readyz
// and public pages. It is called from any number of goroutines and must not
// block.
type ExchangeFunc func(ctx context.Context, e Exchange)

// responseRecorder records how an HTTP request is answered.
type responseRecorder struct {
	http.ResponseWriter
	status   int
	caller   string
	reason   string
	detail   string     // error text for the log record
	level    slog.Level // of the log record
	public   bool       // needs no authentication
	requests atomic.Int32
}

// Unwrap is for http.ResponseController.
func (t *responseRecorder) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (t *responseRecorder) WriteHeader(status int) {
	if t.status == 0 {
		t.status = status
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *responseRecorder) Write(b []byte) (int, error) {
	if t.status == 0 {
		t.status = http.StatusOK
	}
	return t.ResponseWriter.Write(b)
}

// recordRefusal records why the request of w is refused.
func recordRefusal(w http.ResponseWriter, reason, detail string, level slog.Level) {
	if t, ok := w.(*responseRecorder); ok {
		t.reason, t.detail, t.level = reason, detail, level
	}
}

// reasonsByStatus are the reasons of refusals without one of their own.
var reasonsByStatus = map[int]string{
	http.StatusBadRequest: "bad_request", http.StatusUnauthorized: "unauthenticated", http.StatusForbidden: "forbidden",
	http.StatusNotFound: "not_found", http.StatusMethodNotAllowed: "method_not_allowed", http.StatusNotAcceptable: "not_acceptable",
	http.StatusRequestEntityTooLarge: "too_large", http.StatusUnsupportedMediaType: "unsupported_media_type",
	http.StatusTooManyRequests: "too_many_requests", http.StatusServiceUnavailable: "busy",
}

// clip returns the start of a text that clients control. It keeps nothing else of
// their message.
func clip(s string) string {
	return strings.Clone(strings.ToValidUTF8(s[:min(len(s), 256)], "\uFFFD"))
}

// refusalBurst is how many refusals with one reason are logged at once; after
// that it is one per second. Anybody can cause refusals, and the log must not
// fill the disk.
const refusalBurst = 20

// refusalLog logs refusals, and each reason only so often. It is safe for concurrent use.
type refusalLog struct {
	log      *slog.Logger
	mu       sync.Mutex
	byReason map[string]*refusalCount
}

type refusalCount struct {
	tokens     float64
	updated    time.Time
	suppressed int
}

// allow reports whether to log a refusal with this reason, and how many were
// suppressed since the last one that was logged.
func (l *refusalLog) allow(reason string) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	c := l.byReason[reason]
	if c == nil {
		if l.byReason == nil {
			l.byReason = map[string]*refusalCount{}
		}
		c = &refusalCount{tokens: refusalBurst, updated: now}
		l.byReason[reason] = c
	}
	c.tokens = min(refusalBurst, c.tokens+now.Sub(c.updated).Seconds())
	c.updated = now
	if c.tokens < 1 {
		c.suppressed++
		return 0, false
	}
	c.tokens--
	suppressed, c.suppressed = c.suppressed, 0
	return suppressed, true
}

// write logs a refused request, unless there were too many of its kind.
func (l *refusalLog) write(ctx context.Context, t *responseRecorder, e Exchange) {
	more, ok := l.allow(e.Reason)
	if !ok || !l.log.Enabled(ctx, t.level) {
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
	l.log.Log(ctx, t.level, "request refused", attrs...)
}

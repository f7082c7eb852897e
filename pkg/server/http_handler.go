package server

import (
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// httpHandler answers HTTP requests.
type httpHandler struct {
	*Server
	admission
	sessions    *sessionStore
	mux         *http.ServeMux
	stopping    atomic.Bool
	stopStreams chan struct{} // closed when event streams and subscriptions must end
	refusals    refusalLog
}

// stop ends event streams and subscriptions, and makes /readyz fail.
func (h *httpHandler) stop() {
	h.stopping.Store(true)
	close(h.stopStreams)
}

func newHandler(s *Server, opts HTTPOptions) *httpHandler {
	opts.MaxBody = orDefault(opts.MaxBody, DefaultMaxBody)
	h := &httpHandler{
		Server: s, admission: admission{s, opts}, mux: http.NewServeMux(),
		sessions: &sessionStore{
			seal: newSessionSeal(opts.SessionKey),
			idle: orDefault(opts.SessionIdle, DefaultSessionIdle), limit: orDefault(opts.MaxSessions, DefaultMaxSessions),
			onBegin: opts.Session, subscribers: &s.subscribers,
		},
		stopStreams: make(chan struct{}), refusals: refusalLog{log: s.log},
	}
	h.mux.HandleFunc(Path, h.requireCaller(h.endpoint))
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, "ok") })
	h.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if h.stopping.Load() {
			http.Error(w, "stopping", http.StatusServiceUnavailable)
			return
		}
		writeText(w, "ready")
	})
	for path, page := range map[string]http.Handler{"/metrics": opts.Metrics, "/status": opts.Status} {
		if page != nil {
			h.mux.HandleFunc("GET "+path, h.requireCaller(func(w http.ResponseWriter, r *http.Request, _ auth.Caller) {
				page.ServeHTTP(w, r)
			}))
		}
	}
	return h
}

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text+"\n")
}

// ServeHTTP answers a request and reports the exchange to observers.
func (h *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := &responseRecorder{ResponseWriter: w}
	began := time.Now()
	defer func() { h.observeExchange(r, t, began) }()
	h.serve(t, r)
}

// serve checks host and origin of a request, and dispatches it.
func (h *httpHandler) serve(w *responseRecorder, r *http.Request) {
	// The deadlines also cover refused requests, whose rest is read and
	// answered. If the connection has no deadlines, those of the http.Server
	// apply.
	control, now := http.NewResponseController(w), time.Now()
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(now.Add(h.timeouts.body))
	}
	_ = control.SetWriteDeadline(now.Add(h.timeouts.body + h.timeouts.write))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	access := h.access()
	policy := originPolicy{access.AllowedHosts, access.AllowedOrigins}
	if err := policy.check(r); err != nil {
		recordRefusal(w, err.reason, err.Error(), slog.LevelInfo)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if policy.preflight(w, r) {
		w.public = true
		return
	}
	if access.Guard != nil {
		if page := access.Guard.Pages()[r.URL.Path]; page != nil {
			w.public = true
			page.ServeHTTP(w, r)
			return
		}
	}
	w.public = r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
	h.mux.ServeHTTP(w, r)
}

// endpoint answers requests for Path.
func (h *httpHandler) endpoint(w http.ResponseWriter, r *http.Request, caller auth.Caller) {
	switch modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case r.Method == http.MethodPost:
		x, end := h.newExchange(w, r, caller)
		defer end()
		x.post()
	case r.Method == http.MethodGet && !modern:
		x, end := h.newExchange(w, r, caller)
		defer end()
		x.get()
	case r.Method == http.MethodDelete && !modern:
		if !h.sessions.remove(r.Header.Get(mcp.HeaderSessionID), caller.Name) {
			http.Error(w, "unknown session", http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		if modern {
			w.Header().Set("Allow", "POST")
		}
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// observeExchange reports an answered request to the log and the observer.
func (h *httpHandler) observeExchange(r *http.Request, t *responseRecorder, began time.Time) {
	if t.public && t.status < http.StatusBadRequest {
		return
	}
	if t.reason == "" && t.status >= http.StatusBadRequest {
		if t.reason = reasonsByStatus[t.status]; t.reason == "" {
			t.reason = "error"
		}
	}
	e := Exchange{
		Began: began, Method: r.Method, Path: r.URL.Path, From: r.RemoteAddr, Session: r.Header.Get("Mcp-Session-Id"),
		Caller: t.caller, Status: t.status, Reason: t.reason, Requests: int(t.requests.Load()),
	}
	if e.Reason != "" {
		h.refusals.write(r.Context(), t, e)
	}
	if f := h.current.Load().observeHTTP; f != nil {
		f(r.Context(), e)
	}
}

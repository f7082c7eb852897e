package server

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// handler answers HTTP requests.
type handler struct {
	*Server
	opts     HTTPOptions
	sessions *sessions
	mux      *http.ServeMux
	stopping atomic.Bool
	quiet    chan struct{} // closed when nothing more is said unasked
	refusals refusalLog
}

// stop ends what has no end of its own, and says that the process takes no more
// requests.
func (h *handler) stop() {
	h.stopping.Store(true)
	close(h.quiet)
}

func newHandler(s *Server, opts HTTPOptions) *handler {
	opts.MaxBody = orDefault(opts.MaxBody, DefaultMaxBody)
	h := &handler{
		Server: s, opts: opts, mux: http.NewServeMux(),
		sessions: &sessions{
			idle: orDefault(opts.SessionIdle, DefaultSessionIdle), most: orDefault(opts.MaxSessions, DefaultMaxSessions),
			began: opts.Session, audience: &s.audience,
		},
		quiet: make(chan struct{}),
	}
	h.mux.HandleFunc(Path, h.guarded(h.endpoint))
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, "ok") })
	h.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if h.stopping.Load() {
			http.Error(w, "stopping", http.StatusServiceUnavailable)
			return
		}
		say(w, "ready")
	})
	for path, page := range map[string]http.Handler{"/metrics": opts.Metrics, "/status": opts.Status} {
		if page != nil {
			h.mux.HandleFunc("GET "+path, h.guarded(func(w http.ResponseWriter, r *http.Request, _ auth.Caller) {
				page.ServeHTTP(w, r)
			}))
		}
	}
	return h
}

// access says who may come in now.
func (h *handler) access() Access {
	a := h.current.Load().access
	if h.opts.Guard != nil {
		a.Guard = h.opts.Guard
	}
	if h.opts.AllowedHosts != nil {
		a.AllowedHosts = h.opts.AllowedHosts
	}
	if h.opts.AllowedOrigins != nil {
		a.AllowedOrigins = h.opts.AllowedOrigins
	}
	return a
}

func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text+"\n")
}

// ServeHTTP answers a request and tells of it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := &tracked{ResponseWriter: w}
	began := time.Now()
	defer func() { h.tell(r, t, began) }()
	h.serve(t, r)
}

// serve lets a request in that names a host and an origin that may come.
func (h *handler) serve(w *tracked, r *http.Request) {
	// Also of a request that is refused the rest is read and the answer written.
	// Where no deadline can be set the server's own times bound the request.
	control, now := http.NewResponseController(w), time.Now()
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(now.Add(h.patience.body))
	}
	_ = control.SetWriteDeadline(now.Add(h.patience.body + h.patience.write))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	access := h.access()
	door := door{access.AllowedHosts, access.AllowedOrigins}
	if err := door.check(r); err != nil {
		refused(w, err.reason, err.Error(), slog.LevelInfo)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if door.preflight(w, r) {
		w.open = true
		return
	}
	if access.Guard != nil {
		if page := access.Guard.Pages()[r.URL.Path]; page != nil {
			w.open = true
			page.ServeHTTP(w, r)
			return
		}
	}
	w.open = r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
	h.mux.ServeHTTP(w, r)
}

// guarded hands next the requests of callers that the guard lets in. They end when
// the access token expires that they came with.
func (h *handler) guarded(next func(w http.ResponseWriter, r *http.Request, caller auth.Caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if caller, ok := h.admit(w, r); ok {
			r, stop := untilExpiry(r, caller)
			defer stop()
			next(w, r, caller)
		}
	}
}

// admit says who sent a request. Where ok is false it is not let in, and has been
// answered.
func (h *handler) admit(w http.ResponseWriter, r *http.Request) (caller auth.Caller, ok bool) {
	guard := h.access().Guard
	if guard == nil {
		return auth.Caller{}, true
	}
	caller, refusal := guard.Admit(w, r)
	if refusal != nil {
		level := slog.LevelInfo
		if errors.Is(refusal, auth.ErrUnavailable) {
			level = slog.LevelWarn
		}
		refused(w, auth.Reason(refusal), refusal.Error(), level)
	} else if t, ok := w.(*tracked); ok {
		t.caller = caller.Name
	}
	return caller, refusal == nil
}

// endpoint answers MCP.
func (h *handler) endpoint(w http.ResponseWriter, r *http.Request, caller auth.Caller) {
	switch modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case r.Method == http.MethodPost:
		h.post(w, r, caller)
	case r.Method == http.MethodGet && !modern:
		h.get(w, r, caller)
	case r.Method == http.MethodDelete && !modern:
		if !h.sessions.remove(r.Header.Get(mcp.HeaderSessionID), caller.Name) {
			http.Error(w, "there is no such session", http.StatusNotFound)
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

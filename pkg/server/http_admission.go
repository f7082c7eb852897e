package server

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// admission lets callers in, by the rules of the file or those of [HTTPOptions].
type admission struct {
	server *Server
	opts   HTTPOptions
}

// access returns the access rules that apply now.
func (a *admission) access() Access {
	rules := a.server.current.Load().access
	if a.opts.Guard != nil {
		rules.Guard = a.opts.Guard
	}
	if a.opts.AllowedHosts != nil {
		rules.AllowedHosts = a.opts.AllowedHosts
	}
	if a.opts.AllowedOrigins != nil {
		rules.AllowedOrigins = a.opts.AllowedOrigins
	}
	return rules
}

// requireCaller passes authenticated requests on to next. They are cancelled
// when their access token expires or is revoked.
func (a *admission) requireCaller(next func(w http.ResponseWriter, r *http.Request, caller auth.Caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if caller, ok := a.admit(w, r); ok {
			r, stop := a.withExpiry(r, caller)
			defer stop()
			next(w, r, caller)
		}
	}
}

// admit returns the caller of a request. If ok is false, the request was
// refused and has been answered.
func (a *admission) admit(w http.ResponseWriter, r *http.Request) (caller auth.Caller, ok bool) {
	guard := a.access().Guard
	if guard == nil {
		return auth.Caller{}, true
	}
	caller, refusal := guard.Admit(w, r)
	if refusal != nil {
		level := slog.LevelInfo
		if errors.Is(refusal, auth.ErrUnavailable) {
			level = slog.LevelWarn
		}
		recordRefusal(w, auth.Reason(refusal), refusal.Error(), level)
	} else if t, ok := w.(*responseRecorder); ok {
		t.caller = caller.Name
	}
	return caller, refusal == nil
}

// challenge adds the missing scopes to the header of an answer with HTTP 403.
func (a *admission) challenge(header http.Header, scopes []string) {
	if guard := a.access().Guard; guard != nil {
		guard.Challenge(header, scopes)
	}
}

// accessVersion identifies the access rules at one time. Values are comparable.
type accessVersion struct {
	published *snapshot
	changed   <-chan struct{} // closed when the guard's decisions may have changed; nil if they never do
}

func (a *admission) currentAccess() accessVersion {
	v := accessVersion{published: a.server.current.Load()}
	if guard, ok := a.access().Guard.(auth.Changing); ok {
		v.changed = guard.Changed()
	}
	return v
}

// stillAdmitted reports whether a request would be admitted now, as this caller.
func (a *admission) stillAdmitted(r *http.Request, as auth.Caller) bool {
	guard := a.access().Guard
	if guard == nil {
		return as.Name == ""
	}
	caller, refusal := guard.Admit(discardResponse{}, r)
	return refusal == nil && caller.Name == as.Name
}

// discardResponse is the http.ResponseWriter for guards that check a request
// which is already being answered.
type discardResponse struct{}

func (discardResponse) Header() http.Header         { return http.Header{} }
func (discardResponse) Write(b []byte) (int, error) { return len(b), nil }
func (discardResponse) WriteHeader(int)             {}

package server

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/loopback"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// originError is the error of a host or an origin that is not allowed; reason
// says which of the two.
type originError struct {
	error
	reason string
}

func originErrorf(reason, format string, args ...any) *originError {
	return &originError{fmt.Errorf(format, args...), reason}
}

// originPolicy refuses requests that a foreign web page made the browser of its
// visitor send (MCP 2025-11-25, Transports, Security Warning). It checks the
// origin and, against DNS rebinding, the host.
type originPolicy struct{ hosts, origins []string }

func (d originPolicy) check(r *http.Request) *originError {
	local := overLoopback(r)
	switch {
	case r.Host != "" && !config.IsHost(r.Host):
		return originErrorf("host", "host %q is not a host with or without a port", r.Host)
	case config.AllowsHost(d.hosts, r.Host), local && loopback.Is(config.HostName(r.Host)):
	case local, len(d.hosts) > 0:
		return originErrorf("host", "host %q is not allowed; to allow it, add it to server.allowedHosts or pass --allow-host", r.Host)
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !d.allowsOrigin(origins[0], local) {
		return originErrorf("origin", "origin %q is not allowed; to allow it, add it to server.allowedOrigins or pass --allow-origin", origins[0])
	}
	return nil
}

func (d originPolicy) allowsOrigin(origin string, local bool) bool {
	if slices.ContainsFunc(d.origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return local && err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopback.Is(u.Hostname())
}

// preflight answers CORS preflight requests and reports whether this was one.
// It allows accepted pages to read answers (Fetch standard, CORS protocol).
func (d originPolicy) preflight(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "POST, DELETE, GET")
	if names := r.Header.Get("Access-Control-Request-Headers"); names != "" {
		header.Set("Access-Control-Allow-Headers", names)
	}
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// overLoopback reports whether a request arrived at a loopback address.
func overLoopback(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

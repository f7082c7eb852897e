package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// strange says which of host and origin is not allowed, as reason.
type strange struct {
	error
	reason string
}

func strangef(reason, format string, args ...any) *strange {
	return &strange{fmt.Errorf(format, args...), reason}
}

// door keeps requests out that a web page made its visitor's browser send (MCP
// 2025-11-25, Transports, Security Warning): by their origin, and where a name
// was bound to our address, by the host.
type door struct{ hosts, origins []string }

func (d door) check(r *http.Request) *strange {
	local := overLoopback(r)
	named := slices.ContainsFunc(d.hosts, func(h string) bool {
		return strings.EqualFold(h, r.Host) || strings.EqualFold(strings.Trim(h, "[]"), hostname(r.Host))
	})
	switch {
	case named, local && isLoopback(hostname(r.Host)):
	case local, len(d.hosts) > 0:
		return strangef("host", "the host %q is not allowed; server.allowedHosts in the file, or --allow-host, lets it in", r.Host)
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !d.welcome(origins[0], local) {
		return strangef("origin", "the origin %q is not allowed; server.allowedOrigins in the file, or --allow-origin, lets it in", origins[0])
	}
	return nil
}

func (d door) welcome(origin string, local bool) bool {
	if slices.ContainsFunc(d.origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return local && err == nil && (u.Scheme == "http" || u.Scheme == "https") && isLoopback(u.Hostname())
}

// preflight answers a browser that asks what a page may send, and lets pages
// that were let in read answers (Fetch standard, CORS protocol).
func (d door) preflight(w http.ResponseWriter, r *http.Request) bool {
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

// overLoopback reports whether a request came to a loopback address.
func overLoopback(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && isLoopback(hostname(at.String()))
}

// hostname takes the port off.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

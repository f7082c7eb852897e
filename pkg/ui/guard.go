package ui

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// policy is what pages from here may load: nothing from elsewhere. Styles that
// scripts add carry a nonce.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'%s; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// maxRequests is how many requests can be under way, streams aside.
const maxRequests = 64

// guard stands before everything else that answers requests.
type guard struct {
	*current
	token string
}

// before answers what is not for the page: requests by other names, from other pages,
// and those under /api without the token.
func (g *guard) before(address net.Addr, next http.Handler) http.Handler {
	names := namesOf(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		api := strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/api"
		switch {
		case !names.has(r.Host, g.allowedHosts()):
			refuse(w, http.StatusForbidden, "forbidden_host", "the Host header is not an address of the page; open the URL that was printed, or add the host to server.allowedHosts")
		case !g.fromAllowedOrigin(r):
			refuse(w, http.StatusForbidden, "forbidden_origin", "the request comes from another page")
		case api && crossSite(r):
			refuse(w, http.StatusForbidden, "forbidden_origin", "the request comes from another site")
		case g.inURL(r.URL):
			refuse(w, http.StatusBadRequest, "token_in_url", "send the token in the header Authorization: Bearer; URLs are kept in logs")
		case api && !g.authorized(r):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "unauthorized", "the token is missing or wrong; open the URL that was printed")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// setHeaders sets the headers of every response.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", strings.Replace(policy, "%s", "", 1))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}

// hostNames are the values of the Host header that name the page. Other names of DNS
// are none of them: a foreign page could let its own name lead here.
type hostNames struct {
	port string
	any  bool // any address of IP, where the page listens at all of them
	own  string
}

func namesOf(address net.Addr) hostNames {
	host, port, _ := net.SplitHostPort(address.String())
	ip := net.ParseIP(host)
	return hostNames{port: port, own: host, any: ip != nil && ip.IsUnspecified()}
}

// has reports whether a Host header names the page. Those that the file allows do, too;
// if there are any, addresses of IP do not.
func (n hostNames) has(host string, allowed []string) bool {
	if config.AllowsHost(allowed, host) {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "80"
	}
	if port != n.port {
		return false
	}
	if name == "localhost" || name == "127.0.0.1" || name == "::1" || name == n.own {
		return true
	}
	return n.any && len(allowed) == 0 && net.ParseIP(name) != nil
}

// allowedHosts returns those of the file; nil while it has errors from the start.
func (g *guard) allowedHosts() []string {
	if e := g.engine.Load(); e != nil {
		return e.File().Server.AllowedHosts
	}
	return nil
}

// fromAllowedOrigin reports whether a request that names its origin comes from the page,
// or from an origin that the file allows: that of a proxy with HTTPS.
func (g *guard) fromAllowedOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 || origins[0] == "http://"+r.Host {
		return len(origins) < 2
	}
	e := g.engine.Load()
	return e != nil && slices.ContainsFunc(e.File().Server.AllowedOrigins, func(o string) bool { return strings.EqualFold(o, origins[0]) })
}

// crossSite reports whether a browser says that the request comes from elsewhere.
func crossSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// inURL reports whether a URL has the token.
func (g *guard) inURL(u *url.URL) bool {
	return strings.Contains(u.RawQuery, g.token) || strings.Contains(u.Path, g.token)
}

// authorized reports whether a request has the token.
func (g *guard) authorized(r *http.Request) bool {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	have, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(have[:], want[:]) == 1
}

// number returns a whole number of the query, or absent.
func number(r *http.Request, name string, absent int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest("%s is %q; expected a whole number", name, text)
	}
	return n, nil
}

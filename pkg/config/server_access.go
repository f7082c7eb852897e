package config

import (
	"cmp"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/loopback"
)

// AuthOAuth is the type of ServerAuth that takes access tokens; the other is
// AuthBearer.
const AuthOAuth = "oauth"

// MinToken is the length in bytes below which a caller's token can be guessed.
const MinToken = 16

// ServerAuth configures the authentication of callers over HTTP.
type ServerAuth struct {
	Type string // AuthBearer or AuthOAuth

	// Of AuthBearer: at least one of the two.
	Tokens     []CallerToken
	TokensFile string // path of a file with a line "NAME TOKEN [SCOPE...]" for each caller; may be empty

	// Of AuthOAuth.
	Issuer         string   // URL of the authorization server
	Audience       string   // the required audience of access tokens
	RequiredScopes []string // that every caller needs
	JWKS           string   // URL of the issuer's keys; empty: the issuer's metadata name it
	PublicURL      string   // of the endpoint as clients know it; empty: Audience is that
	// Introspection is the endpoint that checks opaque tokens; nil refuses them.
	Introspection *Introspection
}

// Introspection is a token introspection endpoint (RFC 7662), and the client
// credentials for it.
type Introspection struct {
	URL, ClientID, ClientSecret string
}

// CallerToken is a configured access token and its caller.
type CallerToken struct {
	Caller, Token string
	Scopes        []string // that the caller has with it; may be empty
}

// headerText is what a token can be made of, to be sent in a header.
var headerText = regexp.MustCompile(`^[!-~]+$`)

// IsToken reports whether s can be sent as a bearer token: visible ASCII
// characters without white space.
func IsToken(s string) bool { return headerText.MatchString(s) }

// IsSecureURL reports whether s is an address to which tokens, and the keys that
// they are checked with, may travel: https, or http to this machine itself
// (OAuth 2.1, 1.5).
func IsSecureURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && (u.Scheme == "https" || u.Scheme == "http" && loopback.Is(u.Hostname()))
}

// IsHost reports whether s is what a Host header can be: a name or address, with
// or without a port.
func IsHost(s string) bool { return HostName(s) != "" }

// HostName returns the name or address in a Host header, without brackets and port; empty
// if it has none. It allocates nothing, since each request is checked.
func HostName(header string) string {
	name, port := header, ""
	if i := strings.LastIndexByte(header, ':'); i > 0 && (strings.IndexByte(header, ':') == i || header[i-1] == ']') {
		name, port = header[:i], header[i+1:]
	}
	if _, err := strconv.ParseUint(cmp.Or(port, "0"), 10, 16); err != nil {
		return ""
	}
	inside := strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.Contains(inside, ":") {
		if _, err := netip.ParseAddr(inside); err != nil || len(name)-len(inside) == 1 {
			return ""
		}
		return inside
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"#%*,/:<>?@[\\]^`{|}\x7f", r) }) {
		return ""
	}
	return name
}

// AllowsHost reports whether one of the allowed hosts, with or without a port, is that of
// a Host header.
func AllowsHost(allowed []string, header string) bool {
	name := HostName(header)
	return name != "" && slices.ContainsFunc(allowed, func(h string) bool {
		return strings.EqualFold(h, header) || strings.EqualFold(strings.Trim(h, "[]"), name)
	})
}

// IsOrigin reports whether s is the origin of a web page as browsers send it
// (RFC 6454, 6.2): a scheme and a host, and a port where it is not the usual one.
func IsOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !IsHost(u.Host) || s != u.Scheme+"://"+u.Host {
		return false
	}
	return u.Port() != map[string]string{"http": "80", "https": "443"}[u.Scheme] || u.Port() == ""
}

// Scopes returns the scopes that tools, prompts and resources of the file require,
// sorted, also where only its servers were read.
func (f *File) Scopes() []string {
	var all []string
	for _, key := range []string{"tools", "prompts", "resources"} {
		for _, one := range f.Root.Get(key).Items() {
			for _, scope := range one.Get("requiredScopes").Items() {
				all = append(all, scope.Text().String())
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

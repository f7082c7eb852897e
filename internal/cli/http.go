package cli

import (
	"crypto/tls"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// httpOptions are the flags about serving over HTTP.
type httpOptions struct {
	address string
	auth    config.ServerAuth
	// introspection is without its secret, which the environment has.
	introspection config.Introspection
	insecure      bool
	hosts         []string
	origins       []string
	certificate   string
	key           string
	maxBody       int64
	idle          time.Duration
	grace         time.Duration
	metrics       bool
	status        bool
	details       bool
}

func (o *httpOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "http", "", "serve streamable HTTP at `ADDR` (HOST:PORT; :PORT is on 127.0.0.1) instead of stdio")
	f.StringVar(&o.auth.Type, "auth", "", "authenticate callers: `KIND` is bearer (tokens from --auth-tokens or "+tokensVariable+") or oauth (access tokens of --auth-issuer); overrides server.auth of the file")
	f.StringVar(&o.auth.TokensFile, "auth-tokens", "", "read tokens from this `FILE`, one line \"NAME TOKEN [SCOPE...]\" per caller")
	f.StringVar(&o.auth.Issuer, "auth-issuer", "", "accept access tokens of the authorization server at this `URL`")
	f.StringVar(&o.auth.Audience, "auth-audience", "", "accept access tokens for this `AUDIENCE`, usually the public URL of the endpoint")
	f.StringArrayVar(&o.auth.RequiredScopes, "auth-scope", nil, "accept only access tokens with this `SCOPE` (repeatable)")
	f.StringVar(&o.auth.JWKS, "auth-jwks", "", "get the issuer's keys from this `URL` (default: from its metadata)")
	f.StringVar(&o.introspection.URL, "auth-introspection", "", "check access tokens that are not JWTs at this `URL` (RFC 7662)")
	f.StringVar(&o.introspection.ClientID, "auth-introspection-client", "", "use this client `ID` for introspection; its secret is in "+introspectionVariable)
	f.StringVar(&o.auth.PublicURL, "public-url", "", "the public `URL` of the endpoint, if it is not --auth-audience")
	f.BoolVar(&o.insecure, "insecure", false, "allow other machines to call the tools without authentication")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "accept this `HOST` in the Host header (repeatable); overrides server.allowedHosts (default: on loopback addresses, loopback hosts only)")
	f.StringArrayVar(&o.origins, "allow-origin", nil, "accept requests from web pages of this `ORIGIN`, such as https://example.com (repeatable); overrides server.allowedOrigins")
	f.StringVar(&o.certificate, "tls-cert", "", "serve HTTPS with the certificates in this `FILE` (PEM); reloaded when it changes")
	f.StringVar(&o.key, "tls-key", "", "the private key of --tls-cert, in this `FILE` (PEM)")
	f.Int64Var(&o.maxBody, "max-request-bytes", server.DefaultMaxBody, "refuse requests larger than `N` bytes")
	f.DurationVar(&o.idle, "session-idle", server.DefaultSessionIdle, "forget sessions after this idle `TIME`; their clients go on all the same")
	f.DurationVar(&o.grace, "shutdown-grace", server.DefaultGrace, "give running calls this `TIME` to finish at shutdown")
	f.BoolVar(&o.metrics, "metrics", false, "serve Prometheus metrics at /metrics")
	f.BoolVar(&o.status, "status", false, "serve the state of the upstream servers at /status, as JSON")
	f.BoolVar(&o.details, "error-details", false, "send callers the whole error of a failed call: its place in the file, upstream server, arguments and reply; by default the log has it")
	flagGroup(f, "Flags for HTTP", "http", "insecure", "allow-host", "allow-origin", "tls-cert", "tls-key",
		"max-request-bytes", "session-idle", "shutdown-grace", "metrics", "status", "error-details")
	flagGroup(f, "Flags for callers over HTTP", "auth", "auth-tokens", "auth-issuer", "auth-audience", "auth-scope", "auth-jwks",
		"auth-introspection", "auth-introspection-client", "public-url")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if o.address != "" {
			return nil
		}
		for _, name := range []string{
			"auth", "auth-tokens", "auth-issuer", "auth-audience", "auth-scope", "auth-jwks", "auth-introspection", "auth-introspection-client", "public-url", "insecure", "allow-host", "allow-origin", "tls-cert", "tls-key",
			"max-request-bytes", "session-idle", "shutdown-grace", "metrics", "status", "error-details",
		} {
			if f.Changed(name) {
				return usagef("--%s needs --http ADDR", name)
			}
		}
		return nil
	}
}

// listening is an open port and how it is to be served.
type listening struct {
	listener net.Listener
	options  server.HTTPOptions
	url      string
}

func (l *listening) close() {
	if l != nil {
		_ = l.listener.Close() // the server has closed it, or nothing was served
	}
}

// tokens returns those of --auth-tokens; nil without the flag.
func (l *listening) tokens() *auth.TokensFile {
	if l == nil {
		return nil
	}
	tokens, _ := l.options.Guard.(*auth.TokensFile)
	return tokens
}

// readAgain adds the files that the flags name to others, for a reloader.
func (o *httpOptions) readAgain(others []string) []string {
	if o.auth.TokensFile == "" {
		return slices.Clone(others)
	}
	return append(slices.Clone(others), o.auth.TokensFile)
}

func (o *httpOptions) at() address { return address{"--http", o.address} }

// check returns an error if the flags are invalid, whatever the file contains.
func (o *httpOptions) check() error {
	if o.address == "" {
		return nil
	}
	if _, _, err := o.at().split(); err != nil {
		return err
	}
	if (o.certificate == "") != (o.key == "") {
		return usagef("--tls-cert FILE and --tls-key FILE need each other")
	}
	if o.maxBody < 1 || o.idle <= 0 || o.grace <= 0 {
		return usagef("--max-request-bytes, --session-idle and --shutdown-grace must be more than 0")
	}
	for _, h := range o.hosts {
		if !config.IsHost(h) {
			return usagef("--allow-host %s: expected a host, such as tools.example.com or tools.example.com:8443", h)
		}
	}
	for _, origin := range o.origins {
		if !config.IsOrigin(origin) {
			return usagef("--allow-origin %s: expected an origin, such as https://example.com", origin)
		}
	}
	return o.checkAuth()
}

// served is what serves a file over HTTP.
type served interface {
	// Guard returns what authenticates callers as the file configures; nil: nothing.
	Guard() (auth.Guard, error)
	File() *config.File
}

// openEndpoint opens the port that the flags name. It returns nil if they select stdio.
// Flags for authentication override the file.
func openEndpoint(a *app, o httpOptions, engine served, log *slog.Logger) (*listening, error) {
	if o.address == "" {
		return nil, nil
	}
	l := &listening{options: server.HTTPOptions{
		AllowedHosts: o.hosts, AllowedOrigins: o.origins,
		MaxBody: o.maxBody, SessionIdle: o.idle, Grace: o.grace,
	}}
	var err error
	if l.options.SessionKey, err = sessionKey(a, log); err != nil {
		return nil, err
	}
	guard, byFlags, err := newGuard(a, o, engine)
	if err == nil && guard == nil {
		err = unscoped(engine.File())
	}
	if err != nil {
		return nil, err
	}
	if byFlags {
		l.options.Guard = guard
	}
	scheme := "http"
	if o.certificate != "" {
		pair, err := newCertificate(o.certificate, o.key, log)
		if err != nil {
			return nil, failedf("--tls-cert %s, --tls-key %s: %w", o.certificate, o.key, err)
		}
		scheme = "https"
		l.options.TLS = &tls.Config{GetCertificate: pair.get, MinVersion: tls.VersionTLS12}
	}
	l.listener, err = listen(o.at(), func() error {
		if guard != nil || o.insecure {
			return nil
		}
		return usagef("--http %s: other machines could call the tools without authentication; add --auth or %s, or allow it with --insecure", o.address, authSetting)
	})
	if err != nil {
		return nil, err
	}
	l.url = scheme + "://" + l.listener.Addr().String() + server.Path
	return l, nil
}

package cli

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
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
}

func (o *httpOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "http", "", "serve streamable HTTP at `ADDR` (HOST:PORT; :PORT is on 127.0.0.1) instead of stdio")
	f.StringVar(&o.auth.Type, "auth", "", "let in whom `KIND` proves: bearer (tokens of --auth-tokens or "+tokensVariable+") or oauth (access tokens of --auth-issuer); instead of the file's server.auth")
	f.StringVar(&o.auth.TokensFile, "auth-tokens", "", "read a line \"NAME TOKEN [SCOPE...]\" for each caller from this `FILE`")
	f.StringVar(&o.auth.Issuer, "auth-issuer", "", "take access tokens of the authorization server at this `URL`")
	f.StringVar(&o.auth.Audience, "auth-audience", "", "take access tokens for this `AUDIENCE`, as a rule the public URL of the endpoint")
	f.StringArrayVar(&o.auth.RequiredScopes, "auth-scope", nil, "take access tokens with this `SCOPE` only (repeatable)")
	f.StringVar(&o.auth.JWKS, "auth-jwks", "", "get the issuer's keys from this `URL` instead of asking its metadata for it")
	f.StringVar(&o.introspection.URL, "auth-introspection", "", "ask at this `URL` about access tokens that are no JWTs (RFC 7662)")
	f.StringVar(&o.introspection.ClientID, "auth-introspection-client", "", "ask as the client with this `ID`, whose secret is in "+introspectionVariable)
	f.StringVar(&o.auth.PublicURL, "public-url", "", "the `URL` of the endpoint as clients know it, where --auth-audience is another")
	f.BoolVar(&o.insecure, "insecure", false, "listen beyond this machine without auth: anybody can call the tools")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "let requests name this `HOST` (repeatable), instead of the file's server.allowedHosts; on loopback addresses, only loopback hosts are known")
	f.StringArrayVar(&o.origins, "allow-origin", nil, "let web pages of this `ORIGIN` in, such as https://example.com (repeatable), instead of the file's server.allowedOrigins")
	f.StringVar(&o.certificate, "tls-cert", "", "serve HTTPS with the certificates in this `FILE` (PEM), which is read again when it changes")
	f.StringVar(&o.key, "tls-key", "", "the private key of --tls-cert, in this `FILE` (PEM)")
	f.Int64Var(&o.maxBody, "max-request-bytes", server.DefaultMaxBody, "refuse requests longer than `N` bytes")
	f.DurationVar(&o.idle, "session-idle", server.DefaultSessionIdle, "end sessions that were not used for this `TIME`")
	f.DurationVar(&o.grace, "shutdown-grace", server.DefaultGrace, "give calls under way this `TIME` at a signal")
	f.BoolVar(&o.metrics, "metrics", false, "show metrics to Prometheus at /metrics")
	f.BoolVar(&o.status, "status", false, "show the state of the upstream servers at /status, as JSON")
	flagGroup(f, "Flags for HTTP", "http", "insecure", "allow-host", "allow-origin", "tls-cert", "tls-key",
		"max-request-bytes", "session-idle", "shutdown-grace", "metrics", "status")
	flagGroup(f, "Flags for callers over HTTP", "auth", "auth-tokens", "auth-issuer", "auth-audience", "auth-scope", "auth-jwks",
		"auth-introspection", "auth-introspection-client", "public-url")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if o.address != "" {
			return nil
		}
		for _, name := range []string{
			"auth", "auth-tokens", "auth-issuer", "auth-audience", "auth-scope", "auth-jwks", "auth-introspection", "auth-introspection-client", "public-url", "insecure", "allow-host", "allow-origin", "tls-cert", "tls-key",
			"max-request-bytes", "session-idle", "shutdown-grace", "metrics", "status",
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

// check says what is wrong with the flags, whatever the file says.
func (o *httpOptions) check() error {
	if o.address == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(o.address); err != nil {
		return usagef("--http %s: expected HOST:PORT, such as 127.0.0.1:8080", o.address)
	}
	if (o.certificate == "") != (o.key == "") {
		return usagef("--tls-cert FILE and --tls-key FILE are needed together")
	}
	if o.maxBody < 1 || o.idle <= 0 || o.grace <= 0 {
		return usagef("--max-request-bytes, --session-idle and --shutdown-grace must be more than 0")
	}
	for _, h := range o.hosts {
		if !config.IsHost(h) {
			return usagef("--allow-host %s: expected a host as requests name it, such as tools.example.com or tools.example.com:8443", h)
		}
	}
	for _, origin := range o.origins {
		if !config.IsOrigin(origin) {
			return usagef("--allow-origin %s: expected an origin as browsers send it, such as https://example.com", origin)
		}
	}
	return o.checkAuth()
}

// open opens the port that the flags ask for; nil where they ask for stdio. What
// flags say about who may come in is stronger than the file.
func (a *app) open(o httpOptions, engine *mcpgraph.Engine, log *slog.Logger) (*listening, error) {
	if o.address == "" {
		return nil, nil
	}
	host, port, _ := net.SplitHostPort(o.address) // which has been checked
	if host == "" {
		host = "127.0.0.1"
	}
	l := &listening{options: server.HTTPOptions{
		AllowedHosts: o.hosts, AllowedOrigins: o.origins,
		MaxBody: o.maxBody, SessionIdle: o.idle, Grace: o.grace,
	}}
	guard, byFlags, err := a.guard(o, engine)
	if err == nil && guard == nil {
		err = unscoped(engine.File())
	}
	if err != nil {
		return nil, err
	}
	if byFlags {
		l.options.Guard = guard
	}
	if guard == nil && !o.insecure && !loopback(host) {
		return nil, usagef("--http %s: that can be reached from other machines, which could call the tools; add --auth or %s, or --insecure if that is meant", o.address, authSetting)
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
	if l.listener, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, failedf("--http %s: %w", o.address, err)
	}
	l.url = scheme + "://" + l.listener.Addr().String() + server.Path
	return l, nil
}

// loopback reports whether only this machine can reach an address with this
// host.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

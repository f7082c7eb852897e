package cli

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// tokensVariable names the variable that has the callers' tokens, in the form of
// the file of --auth-tokens.
const tokensVariable = "MCPGRAPH_AUTH_TOKENS"

// httpOptions are the flags about serving over HTTP.
type httpOptions struct {
	address     string
	auth        string
	tokensFile  string
	oauth       auth.OAuthOptions
	insecure    bool
	hosts       []string
	origins     []string
	certificate string
	key         string
	maxBody     int64
	idle        time.Duration
	grace       time.Duration
	metrics     bool
}

func (o *httpOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "http", "", "serve streamable HTTP at `ADDR` (HOST:PORT; :PORT is on 127.0.0.1) instead of stdio")
	f.StringVar(&o.auth, "auth", "", "let in whom `KIND` proves: bearer (tokens of --auth-tokens or "+tokensVariable+") or oauth (access tokens of --auth-issuer)")
	f.StringVar(&o.tokensFile, "auth-tokens", "", "read a line \"NAME TOKEN\" for each caller from this `FILE`")
	f.StringVar(&o.oauth.Issuer, "auth-issuer", "", "take access tokens of the authorization server at this `URL`")
	f.StringVar(&o.oauth.Audience, "auth-audience", "", "take access tokens for this `AUDIENCE`, as a rule the public URL of the endpoint")
	f.StringArrayVar(&o.oauth.Scopes, "auth-scope", nil, "take access tokens with this `SCOPE` only (repeatable)")
	f.StringVar(&o.oauth.JWKS, "auth-jwks", "", "get the issuer's keys from this `URL` instead of asking its metadata for it")
	f.StringVar(&o.oauth.Resource, "public-url", "", "the `URL` of the endpoint as clients know it, where --auth-audience is another")
	f.BoolVar(&o.insecure, "insecure", false, "listen beyond this machine without --auth: anybody can call the tools")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "let requests name this `HOST` (repeatable); on loopback addresses, only loopback hosts are known")
	f.StringArrayVar(&o.origins, "allow-origin", nil, "let web pages of this `ORIGIN` in, such as https://example.com (repeatable)")
	f.StringVar(&o.certificate, "tls-cert", "", "serve HTTPS with the certificates in this `FILE` (PEM)")
	f.StringVar(&o.key, "tls-key", "", "the private key of --tls-cert, in this `FILE` (PEM)")
	f.Int64Var(&o.maxBody, "max-request-bytes", server.DefaultMaxBody, "refuse requests longer than `N` bytes")
	f.DurationVar(&o.idle, "session-idle", server.DefaultSessionIdle, "end sessions that were not used for this `TIME`")
	f.DurationVar(&o.grace, "shutdown-grace", server.DefaultGrace, "give calls under way this `TIME` at a signal")
	f.BoolVar(&o.metrics, "metrics", false, "show metrics to Prometheus at /metrics")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if o.address != "" {
			return nil
		}
		for _, name := range []string{
			"auth", "auth-tokens", "auth-issuer", "auth-audience", "auth-scope", "auth-jwks", "public-url", "insecure", "allow-host", "allow-origin", "tls-cert", "tls-key",
			"max-request-bytes", "session-idle", "shutdown-grace", "metrics",
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

// open opens the port that the flags ask for; nil where they ask for stdio.
func (a *app) open(o httpOptions) (*listening, error) {
	if o.address == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(o.address)
	if err != nil {
		return nil, usagef("--http %s: expected HOST:PORT, such as 127.0.0.1:8080", o.address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if o.maxBody < 1 || o.idle <= 0 || o.grace <= 0 {
		return nil, usagef("--max-request-bytes, --session-idle and --shutdown-grace must be more than 0")
	}
	l := &listening{options: server.HTTPOptions{
		AllowedHosts: o.hosts, AllowedOrigins: o.origins, MaxBody: o.maxBody, SessionIdle: o.idle, Grace: o.grace,
	}}
	if l.options.Guard, err = a.guard(o); err != nil {
		return nil, err
	}
	if l.options.Guard == nil && !o.insecure && !loopback(host) {
		return nil, usagef("--http %s: that can be reached from other machines, which could call the tools; add --auth, or --insecure if that is meant", o.address)
	}
	scheme := "http"
	if o.certificate != "" {
		pair, err := tls.LoadX509KeyPair(o.certificate, o.key)
		if err != nil {
			return nil, failed(fmt.Errorf("--tls-cert %s, --tls-key %s: %w", o.certificate, o.key, err))
		}
		scheme = "https"
		l.options.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if l.listener, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, failed(fmt.Errorf("--http %s: %w", o.address, err))
	}
	l.url = scheme + "://" + l.listener.Addr().String() + server.Path
	return l, nil
}

// guard returns who may come in; nil lets everybody.
func (a *app) guard(o httpOptions) (auth.Guard, error) {
	ofOAuth := o.oauth.Issuer != "" || o.oauth.Audience != "" || len(o.oauth.Scopes) > 0 || o.oauth.JWKS != "" || o.oauth.Resource != ""
	switch {
	case o.auth != "" && o.auth != "bearer" && o.auth != "oauth":
		return nil, usagef("--auth %s: expected bearer or oauth", o.auth)
	case o.auth != "bearer" && o.tokensFile != "":
		return nil, usagef("--auth-tokens needs --auth bearer")
	case o.auth != "oauth" && ofOAuth:
		return nil, usagef("--auth-issuer, --auth-audience, --auth-scope, --auth-jwks and --public-url need --auth oauth")
	case o.auth == "bearer":
		return a.tokens(o.tokensFile)
	case o.auth == "oauth":
		guard, err := auth.NewOAuth(o.oauth)
		if err != nil {
			return nil, usagef("--auth oauth (--auth-issuer, --auth-audience, --public-url, --auth-jwks): %v", err)
		}
		return guard, nil
	}
	return nil, nil
}

func (a *app) tokens(path string) (auth.Guard, error) {
	text, where := "", tokensVariable
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, failed(fmt.Errorf("--auth-tokens: %w", err))
		}
		text, where = string(data), path
	} else if text, _ = a.getenv(tokensVariable); strings.TrimSpace(text) == "" {
		return nil, usagef("--auth bearer needs tokens: --auth-tokens FILE, or the variable %s", tokensVariable)
	}
	tokens, err := auth.ParseTokens(text)
	if err != nil {
		return nil, failed(fmt.Errorf("%s: %w", where, err))
	}
	return tokens, nil
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

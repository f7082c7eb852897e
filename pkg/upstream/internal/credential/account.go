package credential

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Login is what is known of a login to a server.
type Login struct {
	Server    string
	LoggedIn  bool
	Issuer    string // the authorization server; empty if it is not known
	Scopes    []string
	ExpiresAt time.Time // of the access token; zero if it is not known
	Renewable bool      // without a person
	File      string    // where it is kept
}

// CanLogin reports whether a person can log in to the server.
func (r *Resolver) CanLogin() bool {
	return r.oauth != nil && r.oauth.auth.Flow == config.FlowAuthorizationCode
}

// loginFlow returns the flow by which a person logs in. It returns an error if nobody
// can.
func (r *Resolver) loginFlow() (*oauthClient, error) {
	if r.CanLogin() {
		return r.oauth, nil
	}
	return nil, &Error{
		Message: "nobody can log in to it",
		Hint:    fmt.Sprintf("set mcpServers.%s.auth to {type: oauth2, flow: authorizationCode}", r.name),
	}
}

// Login logs a person in: open shows the address to go to, and the browser comes
// back to a port of this machine. It waits until then, or until ctx ends. If there is a
// login already, it returns an error for another authorization server that the server
// names.
func (r *Resolver) Login(ctx context.Context, open func(context.Context, string) error) (Login, error) {
	o, err := r.loginFlow()
	if err != nil {
		return Login{}, err
	}
	before, _, err := o.store.load(o.key())
	if err != nil {
		return Login{}, o.storeError(err)
	}
	tokens, err := o.login(ctx, Challenge{}, before.Issuer, open)
	if err != nil {
		return Login{}, err
	}
	r.serverToken.forget()
	return o.describe(tokens, true)
}

// DiscoveredIssuer returns the authorization server that the server named, now or at the
// login; empty if that is not known, or if the entry names it.
func (r *Resolver) DiscoveredIssuer() string {
	if r.oauth == nil || r.oauth.isConfigured() {
		return ""
	}
	if found := r.oauth.known(); found != nil {
		return found.issuer
	}
	tokens, _, err := r.oauth.store.load(r.oauth.key())
	if err != nil {
		return ""
	}
	return tokens.Issuer
}

// LoginState returns what is known of the login, without asking anyone.
func (r *Resolver) LoginState() (Login, error) {
	o, err := r.loginFlow()
	if err != nil {
		return Login{}, err
	}
	tokens, ok, err := o.store.load(o.key())
	if err != nil {
		return Login{}, o.storeError(err)
	}
	usable := tokens.RefreshToken != "" || tokens.AccessToken != "" && (tokens.ExpiresAt.IsZero() || time.Now().Before(tokens.ExpiresAt))
	return o.describe(tokens, ok && usable)
}

// Logout forgets the tokens, and revokes them if the authorization server can (RFC
// 7009). It reports whether there were any.
func (r *Resolver) Logout(ctx context.Context) (bool, error) {
	o, err := r.loginFlow()
	if err != nil {
		return false, err
	}
	unlock, err := o.store.lock(ctx, o.key())
	if err != nil {
		return false, o.storeError(err)
	}
	defer unlock()
	tokens, ok, err := o.store.load(o.key())
	if err == nil && ok {
		err = o.store.remove(o.key())
	}
	if err != nil {
		return false, o.storeError(err)
	}
	r.serverToken.forget()
	if !ok || tokens.RevocationURL == "" {
		return ok, nil
	}
	o.redact.Learn(tokens.AccessToken, tokens.RefreshToken, tokens.ClientSecret)
	// The refresh token takes the access tokens along (RFC 7009, 2.1), but a
	// server need not know that.
	for hint, token := range map[string]string{"refresh_token": tokens.RefreshToken, "access_token": tokens.AccessToken} {
		if token != "" {
			err = errors.Join(err, o.revoke(ctx, tokens, hint, token))
		}
	}
	if err != nil {
		return true, &Error{Message: "its tokens are forgotten here, but could not be revoked: " + o.redact.Text(err.Error())}
	}
	return true, nil
}

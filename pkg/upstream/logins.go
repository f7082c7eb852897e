package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Login is what is known of a login to a server.
type Login struct {
	Server    string
	LoggedIn  bool
	Issuer    string // the authorization server; empty where it is not known
	Scopes    []string
	ExpiresAt time.Time // of the access token; zero where it is not known
	Renewable bool      // without a person
	File      string    // where it is kept
}

// Login logs a person in to a server whose auth has the flow
// authorizationCode: open shows the address to go to, and the browser comes
// back to a port of this machine. It waits until then, or until ctx ends.
// Errors are *[Error].
func (p *Pool) Login(ctx context.Context, server string, open func(ctx context.Context, url string) error) (Login, error) {
	s, err := p.server("login", server, "")
	if err != nil {
		return Login{}, err
	}
	l, err := s.authority.login(ctx, open)
	if err != nil {
		return Login{}, s.failed(ctx, "login", "", nil, 0, err)
	}
	return l, nil
}

// Logout forgets the tokens of a server, and revokes them where its
// authorization server can (RFC 7009). It reports whether there were any.
// Errors are *[Error].
func (p *Pool) Logout(ctx context.Context, server string) (bool, error) {
	s, err := p.server("logout", server, "")
	if err != nil {
		return false, err
	}
	there, err := s.authority.logout(ctx)
	if err != nil {
		return false, s.failed(ctx, "logout", "", nil, 0, err)
	}
	return there, nil
}

// Logins returns what is known of the logins to the servers that a person can
// log in to, in the order of the servers and without asking anyone. Errors are
// *[Error].
func (p *Pool) Logins(ctx context.Context) ([]Login, error) {
	var all []Login
	for _, name := range p.names {
		s := p.servers[name]
		o, err := s.authority.person()
		if err != nil {
			continue
		}
		l, err := o.loggedIn()
		if err != nil {
			return nil, s.failed(ctx, "login", "", nil, 0, err)
		}
		all = append(all, l)
	}
	return all, nil
}

// person returns what logs in; an error where nobody can.
func (a *authority) person() (*oauth, error) {
	if a.oauth != nil && a.oauth.auth.Flow == config.FlowAuthorizationCode {
		return a.oauth, nil
	}
	return nil, &credentialError{
		message: "nobody can log in to it",
		hint:    fmt.Sprintf("set mcpServers.%s.auth to {type: oauth2, flow: authorizationCode}", a.name),
	}
}

func (a *authority) login(ctx context.Context, open func(context.Context, string) error) (Login, error) {
	o, err := a.person()
	if err != nil {
		return Login{}, err
	}
	r, err := o.login(ctx, challenge{}, open)
	if err != nil {
		return Login{}, err
	}
	a.own.forget()
	return o.told(r, true)
}

func (o *oauth) loggedIn() (Login, error) {
	r, ok, err := o.store.load(o.key())
	if err != nil {
		return Login{}, o.unstored(err)
	}
	usable := r.RefreshToken != "" || r.AccessToken != "" && (r.ExpiresAt.IsZero() || time.Now().Before(r.ExpiresAt))
	return o.told(r, ok && usable)
}

func (o *oauth) told(r record, in bool) (Login, error) {
	file, err := o.store.file()
	if err != nil {
		return Login{}, o.unstored(err)
	}
	return Login{
		Server: o.entry.Name, LoggedIn: in, Issuer: r.Issuer, Scopes: r.Scopes,
		ExpiresAt: r.ExpiresAt, Renewable: r.RefreshToken != "", File: file,
	}, nil
}

func (a *authority) logout(ctx context.Context) (bool, error) {
	o, err := a.person()
	if err != nil {
		return false, err
	}
	unlock, err := o.store.lock(o.key())
	if err != nil {
		return false, o.unstored(err)
	}
	defer unlock()
	r, ok, err := o.store.load(o.key())
	if err == nil && ok {
		err = o.store.remove(o.key())
	}
	if err != nil {
		return false, o.unstored(err)
	}
	a.own.forget()
	if !ok || r.RevocationURL == "" {
		return ok, nil
	}
	o.redact.learn(r.AccessToken, r.RefreshToken, r.ClientSecret)
	// The refresh token takes the access tokens along (RFC 7009, 2.1), but a
	// server need not know that.
	for hint, token := range map[string]string{"refresh_token": r.RefreshToken, "access_token": r.AccessToken} {
		if token != "" {
			err = errors.Join(err, o.revoke(ctx, r, hint, token))
		}
	}
	if err != nil {
		return true, &credentialError{message: "its tokens are forgotten here, but could not be revoked: " + o.redact.text(err.Error())}
	}
	return true, nil
}

// revoke tells the authorization server that a token is not needed any more.
func (o *oauth) revoke(ctx context.Context, r record, hint, token string) error {
	form := url.Values{"token": {token}, "token_type_hint": {hint}}
	if r.ClientSecret == "" {
		form.Set("client_id", r.ClientID)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.RevocationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if r.ClientSecret != "" {
		request.SetBasicAuth(url.QueryEscape(r.ClientID), url.QueryEscape(r.ClientSecret)) // RFC 6749, 2.3.1
	}
	response, err := o.http.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %s", response.Status)
	}
	return nil
}

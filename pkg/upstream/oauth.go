package upstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// oauth gets the tokens of one server from its authorization server (OAuth
// 2.1, draft-ietf-oauth-v2-1).
type oauth struct {
	entry  *config.Upstream
	auth   *config.Auth
	store  *tokenStore
	http   *http.Client
	redact *redactor
	open   func(ctx context.Context, url string) error // opens a browser; may be nil

	mu    sync.Mutex
	found *endpoints
}

func newOAuth(s *server, o Options) *oauth {
	a := &oauth{entry: s.entry, auth: s.entry.Auth, redact: s.redact, open: o.OpenBrowser}
	// A redirect would carry the secrets of the request somewhere else.
	a.http = &http.Client{Timeout: oauthTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	a.redact.learn(a.auth.ClientSecret, a.auth.RefreshToken)
	a.store = &tokenStore{path: cmp.Or(a.auth.Store, o.TokenFile)}
	return a
}

// token gets a token by the flow of the entry.
func (o *oauth) token(ctx context.Context, why renewal) (Token, error) {
	if o.auth.Flow == config.FlowClientCredentials {
		return o.clientCredentials(ctx, why)
	}
	return o.stored(ctx, why)
}

// setting names a setting of the entry.
func (o *oauth) setting(name string) string {
	return fmt.Sprintf("mcpServers.%s.%s", o.entry.Name, name)
}

// party is who asks for tokens.
type party struct {
	id, secret string
	style      oauth2.AuthStyle
}

func (o *oauth) configured(e *endpoints) party {
	return party{o.auth.ClientID, o.auth.ClientSecret, e.style(o.auth.ClientSecret)}
}

// tokenError is an error that the authorization server answered (RFC 6749,
// 5.2).
type tokenError struct{ code, text string }

func (e *tokenError) Error() string { return e.text }

// ask asks the token endpoint (RFC 6749, 3.2).
func (o *oauth) ask(ctx context.Context, e *endpoints, c party, grant string, form url.Values) (*oauth2.Token, error) {
	form.Set("grant_type", grant)
	if e.resource != "" {
		form.Set("resource", e.resource)
	}
	if o.auth.Audience != "" {
		form.Set("audience", o.auth.Audience)
	}
	// The library's client for one grant type asks for any, where the form names
	// it.
	request := clientcredentials.Config{
		ClientID: c.id, ClientSecret: c.secret, TokenURL: e.tokenURL, AuthStyle: c.style, EndpointParams: form,
	}
	t, err := request.Token(context.WithValue(ctx, oauth2.HTTPClient, o.http))
	if err != nil {
		return nil, o.refusedBy(err)
	}
	o.redact.learn(t.AccessToken, t.RefreshToken)
	if !validValue(t.AccessToken) {
		return nil, errors.New("the authorization server issued something that cannot be a token")
	}
	return t, nil
}

// refusedBy says what the authorization server said, without what was sent to
// it.
func (o *oauth) refusedBy(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return errors.New(o.redact.text(err.Error()))
	}
	text := "the authorization server refused"
	switch {
	case refused.ErrorCode != "":
		text += ": " + refused.ErrorCode
		if refused.ErrorDescription != "" {
			text += " (" + refused.ErrorDescription + ")"
		}
	case refused.Response != nil:
		text += ": HTTP " + refused.Response.Status
	}
	return &tokenError{refused.ErrorCode, o.redact.text(text)}
}

// clientCredentials gets a token for the program itself (RFC 6749, 4.4).
func (o *oauth) clientCredentials(ctx context.Context, why renewal) (Token, error) {
	seen := challengeOf(why.challenge)
	e, err := o.rediscover(ctx, why)
	if err != nil {
		return Token{}, err
	}
	t, err := o.ask(ctx, e, o.configured(e), "client_credentials", scopeForm(o.scopes(e, seen)))
	if err != nil {
		return Token{}, &credentialError{
			message: "it needs a token, and " + err.Error(),
			hint:    "check " + o.setting("auth.clientId") + ", auth.clientSecret and auth.scopes",
		}
	}
	return Token{Value: t.AccessToken, ExpiresAt: t.Expiry}, nil
}

// scopes returns what is asked for: what the config says, else what the server
// does, and beside it what the server missed last.
func (o *oauth) scopes(e *endpoints, seen challenge) []string {
	scopes := o.auth.Scopes
	if len(scopes) == 0 {
		scopes = e.scopes
	}
	if seen.code == "insufficient_scope" {
		scopes = union(scopes, seen.scopes)
	}
	return scopes
}

func scopeForm(scopes []string) url.Values {
	form := url.Values{}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	return form
}

func union(a, b []string) []string {
	seen := map[string]bool{}
	var all []string
	for _, list := range [][]string{a, b} {
		for _, s := range list {
			if !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		}
	}
	return all
}

// stored gets a token from the store: the one that is there, while it is
// fresh, else a new one for its refresh token (RFC 6749, 6), which is kept.
// Where there is none the person has to log in.
func (o *oauth) stored(ctx context.Context, why renewal) (Token, error) {
	t, before, err := o.kept(ctx, why)
	if err != nil || t.Value != "" {
		return t, err
	}
	if o.auth.Flow == config.FlowRefreshToken {
		return Token{}, &credentialError{
			message: "the authorization server does not take the refresh token (any more)",
			hint:    "put a new one into " + o.setting("auth.refreshToken"),
		}
	}
	return o.loginWithin(ctx, challengeOf(why.challenge), before)
}

// kept gets a token without a person, none where that is not possible. before
// reports whether there was a login.
func (o *oauth) kept(ctx context.Context, why renewal) (t Token, before bool, err error) {
	unlock, err := o.store.lock(o.key())
	if err != nil {
		return Token{}, false, o.unstored(err)
	}
	defer unlock()
	r, ok, err := o.store.load(o.key())
	if err != nil {
		return Token{}, false, o.unstored(err)
	}
	o.redact.learn(r.AccessToken, r.RefreshToken, r.ClientSecret)
	seen := challengeOf(why.challenge)
	if o.auth.Flow == config.FlowRefreshToken && (!ok || r.Seed != hash("refresh token", o.auth.RefreshToken)) {
		if r, err = o.seeded(ctx, seen); err != nil {
			return Token{}, false, err
		}
		ok = true
	}
	switch {
	case ok && r.fresh(time.Now()) && r.AccessToken != why.stale:
		return r.token(), true, nil // another process was faster
	case r.RefreshToken == "", o.missesScopes(seen):
		return Token{}, ok, nil
	case why.challenge != nil && r.Issuer != "":
		e, err := o.rediscover(ctx, why)
		if err == nil && e.issuer != r.Issuer {
			return Token{}, ok, nil // the tokens are another's
		}
	}
	var refused *tokenError
	switch err := o.refresh(ctx, &r); {
	case errors.As(err, &refused) && refused.code == "invalid_grant":
		return Token{}, true, nil
	case err != nil:
		return Token{}, true, &credentialError{message: "its token could not be renewed: " + err.Error()}
	}
	if err := o.store.save(o.key(), r); err != nil {
		return Token{}, true, o.unstored(err)
	}
	return r.token(), true, nil
}

// missesScopes reports whether what was granted to a person is not enough:
// refreshing does not add to it (RFC 6749, 6).
func (o *oauth) missesScopes(seen challenge) bool {
	return seen.code == "insufficient_scope" && o.auth.Flow == config.FlowAuthorizationCode
}

// loginWithin logs in while a call waits, where a browser may be opened for
// it.
func (o *oauth) loginWithin(ctx context.Context, seen challenge, before bool) (Token, error) {
	if o.open != nil {
		r, err := o.login(ctx, seen, o.open)
		if err != nil {
			return Token{}, err
		}
		return r.token(), nil
	}
	e := &credentialError{message: "nobody has logged in to it yet", hint: fmt.Sprintf("run mcpgraph auth login CONFIG %s", o.entry.Name)}
	switch {
	case o.missesScopes(seen):
		e.message = "the login has not got the scopes that this takes: " + strings.Join(seen.scopes, " ")
		e.hint = "add them to " + o.setting("auth.scopes") + " and " + e.hint
	case before:
		e.message = "the login has ended"
	}
	return Token{}, e
}

// seeded is the record before the configured refresh token was ever used.
func (o *oauth) seeded(ctx context.Context, seen challenge) (record, error) {
	e, err := o.discover(ctx, seen)
	if err != nil {
		return record{}, err
	}
	c := o.configured(e)
	return record{
		Issuer: e.issuer, TokenURL: e.tokenURL, RevocationURL: e.revocationURL, Resource: e.resource,
		ClientID: c.id, ClientSecret: c.secret, AuthStyle: int(c.style), Scopes: o.auth.Scopes,
		RefreshToken: o.auth.RefreshToken, Seed: hash("refresh token", o.auth.RefreshToken),
	}, nil
}

// refresh renews the tokens of a record.
func (o *oauth) refresh(ctx context.Context, r *record) error {
	e := &endpoints{tokenURL: r.TokenURL, resource: r.Resource}
	c := party{r.ClientID, r.ClientSecret, oauth2.AuthStyle(r.AuthStyle)}
	form := url.Values{"refresh_token": {r.RefreshToken}} // without scopes they stay as they are
	t, err := o.ask(ctx, e, c, "refresh_token", form)
	if err != nil {
		return err
	}
	r.take(t)
	return nil
}

// take keeps the tokens that were issued. A server that issues no new refresh
// token leaves the old one as it is (RFC 6749, 6).
func (r *record) take(t *oauth2.Token) {
	r.AccessToken, r.ExpiresAt = t.AccessToken, t.Expiry
	r.RenewAt = renewAt(t.Expiry, time.Now())
	if t.RefreshToken != "" {
		r.RefreshToken = t.RefreshToken
	}
}

func (r *record) token() Token { return Token{Value: r.AccessToken, ExpiresAt: r.ExpiresAt} }

// key names the server in the store. It has the address, so that a token is
// never sent to another server of the same name.
func (o *oauth) key() string { return o.entry.Name + " " + resourceOf(o.entry.URL) }

func (o *oauth) unstored(err error) error {
	return &credentialError{message: "its token could not be kept or read: " + err.Error(), hint: "check " + o.setting("auth.store")}
}

// hash stands for secrets: it is the same for the same ones, and tells nothing
// of them.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

package credential

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

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// oauthClient gets the tokens of one server from its authorization server (OAuth
// 2.1, draft-ietf-oauth-v2-1).
type oauthClient struct {
	entry       *config.Upstream
	auth        *config.Auth
	store       *tokenStore
	http        *http.Client
	redact      *redact.Redactor
	openBrowser func(ctx context.Context, url string) error // opens a browser; may be nil
	locked      func() string                               // Options.LockedIssuer

	mu    sync.Mutex
	found *endpoints
}

func newOAuthClient(o Options) *oauthClient {
	a := &oauthClient{entry: o.Entry, auth: o.Entry.Auth, redact: o.Redact, openBrowser: o.OpenBrowser, locked: o.LockedIssuer}
	// A redirect would carry the secrets of the request somewhere else.
	a.http = &http.Client{Timeout: fetchTimeout(o.Entry), CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	a.redact.Learn(a.auth.ClientSecret, a.auth.RefreshToken)
	a.store = newTokenStore(cmp.Or(a.auth.Store, o.TokenFile))
	return a
}

// token gets a token by the flow of the entry.
func (o *oauthClient) token(ctx context.Context, why renewal) (Token, error) {
	if o.auth.Flow == config.FlowClientCredentials {
		return o.clientCredentials(ctx, why)
	}
	return o.stored(ctx, why)
}

// clientIdentity is the OAuth client that asks for tokens.
type clientIdentity struct {
	id, secret string
	style      oauth2.AuthStyle
}

func (o *oauthClient) configured(e *endpoints) clientIdentity {
	return clientIdentity{o.auth.ClientID, o.auth.ClientSecret, e.style(o.auth.ClientSecret)}
}

// tokenError is an error that the authorization server answered (RFC 6749,
// 5.2).
type tokenError struct{ code, text string }

func (e *tokenError) Error() string { return e.text }

// requestToken asks the token endpoint (RFC 6749, 3.2).
func (o *oauthClient) requestToken(ctx context.Context, e *endpoints, c clientIdentity, grant string, form url.Values) (*oauth2.Token, error) {
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
		return nil, o.answerError(ctx, err)
	}
	o.redact.Learn(t.AccessToken, t.RefreshToken)
	if !validHeaderValue(t.AccessToken) {
		return nil, errors.New("the authorization server issued something that cannot be a token")
	}
	return t, nil
}

// fetchTimeout bounds the requests that get a token for an entry together, and each of
// those for which a person is waited for in between. It is part of connecting.
func fetchTimeout(u *config.Upstream) time.Duration {
	return cmp.Or(u.ConnectTimeout, config.DefaultConnectTimeout)
}

// slowError is the error of an authorization server that did not answer in time.
type slowError struct{ after time.Duration }

func (e *slowError) Error() string { return fmt.Sprintf("there was no answer within %v", e.after) }

// failed returns the error of a token that could not be got: what, with err at its end.
// The hint is replaced if time was up.
func (o *oauthClient) failed(what string, err error, hint string) *Error {
	if slow := (*slowError)(nil); errors.As(err, &slow) {
		hint = "check " + o.entry.Setting("auth") + ", or raise " + o.entry.Setting("connectTimeoutMs")
	}
	return &Error{Message: what + err.Error(), Hint: hint}
}

// answerError returns the error that the authorization server answered, without
// what was sent to it. Libraries do not keep the causes of all errors, so ctx is asked too.
func (o *oauthClient) answerError(ctx context.Context, err error) error {
	var refused *oauth2.RetrieveError
	var late interface{ Timeout() bool }
	if errors.As(err, &late) && late.Timeout() || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &slowError{fetchTimeout(o.entry)}
	}
	if !errors.As(err, &refused) {
		return errors.New(o.redact.Text(err.Error()))
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
	return &tokenError{refused.ErrorCode, o.redact.Text(text)}
}

// clientCredentials gets a token for the program itself (RFC 6749, 4.4).
func (o *oauthClient) clientCredentials(ctx context.Context, why renewal) (Token, error) {
	seen := why.challenge()
	e, err := o.rediscover(ctx, why)
	if err != nil {
		return Token{}, err
	}
	t, err := o.requestToken(ctx, e, o.configured(e), "client_credentials", scopeForm(o.scopes(e, seen)))
	if err != nil {
		return Token{}, o.failed("it needs a token: ", err, "check "+o.entry.Setting("auth.clientId")+", auth.clientSecret and auth.scopes")
	}
	return Token{Value: t.AccessToken, ExpiresAt: t.Expiry}, nil
}

// scopes returns what is asked for: what the config says, else what the server
// does, and beside it what the server missed last.
func (o *oauthClient) scopes(e *endpoints, seen Challenge) []string {
	scopes := o.auth.Scopes
	if len(scopes) == 0 {
		scopes = e.scopes
	}
	if seen.Code == "insufficient_scope" {
		scopes = mergeScopes(scopes, seen.Scopes)
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

func mergeScopes(a, b []string) []string {
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
func (o *oauthClient) stored(ctx context.Context, why renewal) (Token, error) {
	t, before, err := o.fromStore(ctx, why)
	if err != nil || t.Value != "" {
		return t, err
	}
	if o.auth.Flow == config.FlowRefreshToken {
		return Token{}, &Error{
			Message: "the authorization server does not take the refresh token (any more)",
			Hint:    "put a new one into " + o.entry.Setting("auth.refreshToken"),
		}
	}
	return o.loginDuringCall(ctx, why.challenge(), before)
}

// fromStore gets a token without a person, none where that is not possible. before
// reports whether there was a login.
func (o *oauthClient) fromStore(ctx context.Context, why renewal) (t Token, before bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout(o.entry))
	defer cancel()
	unlock, err := o.store.lock(ctx, o.key())
	if err != nil {
		return Token{}, false, o.storeError(err)
	}
	defer unlock()
	r, ok, err := o.store.load(o.key())
	if err != nil {
		return Token{}, false, o.storeError(err)
	}
	o.redact.Learn(r.AccessToken, r.RefreshToken, r.ClientSecret)
	seen := why.challenge()
	if o.auth.Flow == config.FlowRefreshToken && (!ok || r.Seed != fingerprint("refresh token", o.auth.RefreshToken)) {
		if r, err = o.seedRecord(ctx, seen); err != nil {
			return Token{}, false, err
		}
		ok = true
	}
	if ok {
		if err := o.checkLocked(r.Issuer); err != nil {
			return Token{}, false, err
		}
	}
	switch {
	case ok && r.fresh(time.Now()) && r.AccessToken != why.stale:
		return r.token(), true, nil // another process was faster
	case r.RefreshToken == "", o.lacksScopes(seen):
		return Token{}, ok, nil
	case why.refusal != nil && r.Issuer != "":
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
		return Token{}, true, o.failed("its token could not be renewed: ", err, "")
	}
	if err := o.store.save(o.key(), r); err != nil {
		return Token{}, true, o.storeError(err)
	}
	return r.token(), true, nil
}

// lacksScopes reports whether what was granted to a person is not enough:
// refreshing does not add to it (RFC 6749, 6).
func (o *oauthClient) lacksScopes(seen Challenge) bool {
	return seen.Code == "insufficient_scope" && o.auth.Flow == config.FlowAuthorizationCode
}

// loginDuringCall logs in while a call waits, where a browser may be opened for
// it.
func (o *oauthClient) loginDuringCall(ctx context.Context, seen Challenge, before bool) (Token, error) {
	if o.openBrowser != nil {
		r, err := o.login(ctx, seen, "", o.openBrowser)
		if err != nil {
			return Token{}, err
		}
		return r.token(), nil
	}
	e := &Error{Message: "nobody has logged in to it yet", Hint: fmt.Sprintf("run mcpgraph auth login CONFIG %s", o.entry.Name)}
	switch {
	case o.lacksScopes(seen):
		e.Message = "the login has not got the scopes that this takes: " + strings.Join(seen.Scopes, " ")
		e.Hint = "add them to " + o.entry.Setting("auth.scopes") + " and " + e.Hint
	case before:
		e.Message = "the login has ended"
	}
	return Token{}, e
}

// seedRecord is the record before the configured refresh token was ever used.
func (o *oauthClient) seedRecord(ctx context.Context, seen Challenge) (loginRecord, error) {
	e, err := o.discover(ctx, seen)
	if err != nil {
		return loginRecord{}, err
	}
	c := o.configured(e)
	return loginRecord{
		Issuer: e.issuer, TokenURL: e.tokenURL, RevocationURL: e.revocationURL, Resource: e.resource,
		ClientID: c.id, ClientSecret: c.secret, AuthStyle: int(c.style), Scopes: o.auth.Scopes,
		RefreshToken: o.auth.RefreshToken, Seed: fingerprint("refresh token", o.auth.RefreshToken),
	}, nil
}

// refresh renews the tokens of a record.
func (o *oauthClient) refresh(ctx context.Context, r *loginRecord) error {
	e := &endpoints{tokenURL: r.TokenURL, resource: r.Resource}
	c := clientIdentity{r.ClientID, r.ClientSecret, oauth2.AuthStyle(r.AuthStyle)}
	form := url.Values{"refresh_token": {r.RefreshToken}} // without scopes they stay as they are
	t, err := o.requestToken(ctx, e, c, "refresh_token", form)
	if err != nil {
		return err
	}
	r.take(t)
	return nil
}

// take keeps the tokens that were issued. A server that issues no new refresh
// token leaves the old one as it is (RFC 6749, 6).
func (r *loginRecord) take(t *oauth2.Token) {
	r.AccessToken, r.ExpiresAt = t.AccessToken, t.Expiry
	r.RenewAt = renewAt(t.Expiry, time.Now())
	if t.RefreshToken != "" {
		r.RefreshToken = t.RefreshToken
	}
}

func (r *loginRecord) token() Token { return Token{Value: r.AccessToken, ExpiresAt: r.ExpiresAt} }

// key names the server in the store. It has the address, so that a token is
// never sent to another server of the same name.
func (o *oauthClient) key() string { return o.entry.Name + " " + resourceOf(o.entry.URL) }

func (o *oauthClient) storeError(err error) error {
	return &Error{Message: "its token could not be kept or read: " + err.Error(), Hint: "check " + o.entry.Setting("auth.store")}
}

// fingerprint stands for secrets: it is the same for the same ones, and tells nothing
// of them.
func fingerprint(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

package credential

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// loginTimeout is how long a person has for a login.
const loginTimeout = 5 * time.Minute

// login gets tokens by the authorization code flow with PKCE (RFC 6749, 4.1;
// RFC 7636; RFC 8252 for the loopback redirect) and keeps them. open shows an
// address to a person. Only the given issuer is asked unless it is empty, or the entry
// names one.
func (o *oauthClient) login(ctx context.Context, seen Challenge, issuer string, open func(context.Context, string) error) (loginRecord, error) {
	e, err := o.discoverAgain(ctx, seen) // it may have moved since the last one
	if err != nil {
		return loginRecord{}, err
	}
	if issuer != "" && !o.isConfigured() && !sameIssuer(issuer, e.issuer) {
		return loginRecord{}, o.changedIssuer(issuer, e.issuer, fmt.Sprintf("log out first with `mcpgraph auth logout CONFIG %s`, or ", o.entry.Name))
	}
	back, err := listenForCode(o.auth.RedirectPort)
	if err != nil {
		return loginRecord{}, &Error{
			Message: "the login needs a port of this machine: " + err.Error(), Hint: "check " + o.entry.Setting("auth.redirectPort"),
		}
	}
	defer back.close()
	scopes := o.scopes(e, seen)
	if before, ok, err := o.store.load(o.key()); err == nil && ok && before.Issuer == e.issuer && o.lacksScopes(seen) {
		scopes = mergeScopes(before.Scopes, scopes) // more is asked for, not something else
	}
	if e.offlineAccess {
		scopes = mergeScopes(scopes, []string{"offline_access"})
	}
	c, err := o.register(ctx, e, back.url, scopes)
	if err != nil {
		return loginRecord{}, err
	}
	verifier := oauth2.GenerateVerifier()
	address, err := o.authorizationURL(e, c, back, verifier, scopes)
	if err != nil {
		return loginRecord{}, err
	}
	if err := open(ctx, address); err != nil {
		return loginRecord{}, &Error{Message: "the login could not be shown: " + o.redact.Text(err.Error())}
	}
	code, err := back.wait(ctx, e)
	if err != nil {
		return loginRecord{}, &Error{Message: "the login failed: " + o.redact.Text(err.Error())}
	}
	o.redact.Learn(code, verifier)
	// From here on a logout waits, and ends this login too.
	unlock, err := o.store.lock(ctx, o.key())
	if err != nil {
		return loginRecord{}, o.storeError(err)
	}
	defer unlock()
	t, err := o.requestToken(ctx, e, c, "authorization_code", url.Values{
		"code": {code}, "redirect_uri": {back.url}, "code_verifier": {verifier},
	})
	if err != nil {
		return loginRecord{}, o.failed("the login failed: ", err, "")
	}
	r := loginRecord{
		Issuer: e.issuer, TokenURL: e.tokenURL, RevocationURL: e.revocationURL, Resource: e.resource,
		ClientID: c.id, ClientSecret: c.secret, AuthStyle: int(c.style), Scopes: scopes,
	}
	if granted, ok := t.Extra("scope").(string); ok {
		r.Scopes = strings.Fields(granted)
	}
	r.take(t)
	if err := o.store.save(o.key(), r); err != nil {
		return loginRecord{}, o.storeError(err)
	}
	return r, nil
}

// register returns the client of the config, or has the authorization server
// register one (RFC 7591).
func (o *oauthClient) register(ctx context.Context, e *endpoints, redirect string, scopes []string) (clientIdentity, error) {
	if o.auth.ClientID != "" {
		return o.configured(e), nil
	}
	hint := "register a client there with the redirect address " + redirect + " and set " + o.entry.Setting("auth.clientId")
	if e.registrationURL == "" {
		return clientIdentity{}, &Error{Message: "its authorization server does not register clients by itself", Hint: hint}
	}
	method := "none"
	if len(e.methods) > 0 && !slices.Contains(e.methods, method) {
		method = e.methods[0]
	}
	got, err := oauthex.RegisterClient(ctx, e.registrationURL, &oauthex.ClientRegistrationMetadata{
		ClientName: "mcpgraph", RedirectURIs: []string{redirect}, ApplicationType: "native",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: method, Scope: strings.Join(scopes, " "),
	}, o.http)
	if err != nil {
		return clientIdentity{}, o.failed("its authorization server did not register us: ", o.answerError(ctx, err), hint)
	}
	o.redact.Learn(got.ClientSecret)
	c := clientIdentity{id: got.ClientID, secret: got.ClientSecret, style: e.style(got.ClientSecret)}
	switch got.TokenEndpointAuthMethod {
	case "client_secret_basic":
		c.style = oauth2.AuthStyleInHeader
	case "client_secret_post":
		c.style = oauth2.AuthStyleInParams
	}
	return c, nil
}

func (o *oauthClient) authorizationURL(e *endpoints, c clientIdentity, back *codeListener, verifier string, scopes []string) (string, error) {
	if u, err := url.Parse(e.authorizationURL); err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return "", &Error{
			Message: fmt.Sprintf("the login has no address to go to: %q", e.authorizationURL),
			Hint:    "set " + o.entry.Setting("auth.authorizationUrl"),
		}
	}
	request := oauth2.Config{
		ClientID: c.id, RedirectURL: back.url, Scopes: scopes, Endpoint: oauth2.Endpoint{AuthURL: e.authorizationURL},
	}
	params := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	if e.resource != "" {
		params = append(params, oauth2.SetAuthURLParam("resource", e.resource))
	}
	if o.auth.Audience != "" {
		params = append(params, oauth2.SetAuthURLParam("audience", o.auth.Audience))
	}
	return request.AuthCodeURL(back.state, params...), nil
}

// codeListener waits on a loopback port for the browser to come back.
type codeListener struct {
	url, state string
	server     *http.Server
	callbacks  chan url.Values
}

func listenForCode(port int) (*codeListener, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	const path = "/callback"
	b := &codeListener{url: "http://" + l.Addr().String() + path, state: oauth2.GenerateVerifier(), callbacks: make(chan url.Values, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, b.handleCallback)
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.server.Serve(l) }() // it ends when it is closed
	return b, nil
}

// close answers what is being answered and ends.
func (b *codeListener) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = b.server.Shutdown(ctx)
	b.server.Close()
}

func (b *codeListener) handleCallback(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// Anyone can call a port; only who was sent by us knows the state.
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(b.state)) != 1 {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, "<!doctype html><title>mcpgraph</title><p>This is not the login that was begun.</p>")
		return
	}
	select {
	case b.callbacks <- q:
	default:
	}
	if q.Get("error") != "" {
		fmt.Fprintf(w, "<!doctype html><title>mcpgraph</title><p>The login failed: %s</p>", html.EscapeString(q.Get("error")))
		return
	}
	fmt.Fprint(w, "<!doctype html><title>mcpgraph</title><p>You may close this window and return to the terminal.</p>")
}

// wait returns the authorization code, once the issuer is who it should be
// (RFC 9207).
func (b *codeListener) wait(ctx context.Context, e *endpoints) (string, error) {
	var q url.Values
	select {
	case q = <-b.callbacks:
	case <-ctx.Done():
		return "", fmt.Errorf("the browser has not come back: %w", context.Cause(ctx))
	}
	issuer := q.Get("iss")
	switch {
	case (e.namesIssuer || issuer != "") && issuer != e.issuer && e.issuer != "":
		return "", fmt.Errorf("the answer came from %q, not from %q", issuer, e.issuer)
	case q.Get("error") != "":
		text := q.Get("error")
		if more := q.Get("error_description"); more != "" {
			text += " (" + more + ")"
		}
		return "", errors.New(text)
	case q.Get("code") == "":
		return "", errors.New("the answer has no code")
	}
	return q.Get("code"), nil
}

// describe returns what a person may know of a record.
func (o *oauthClient) describe(r loginRecord, in bool) (Login, error) {
	file, err := o.store.file()
	if err != nil {
		return Login{}, o.storeError(err)
	}
	return Login{
		Server: o.entry.Name, LoggedIn: in, Issuer: r.Issuer, Scopes: r.Scopes,
		ExpiresAt: r.ExpiresAt, Renewable: r.RefreshToken != "", File: file,
	}, nil
}

// revoke tells the authorization server that a token is not needed any more.
func (o *oauthClient) revoke(ctx context.Context, r loginRecord, hint, token string) error {
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

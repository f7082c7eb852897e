package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of introspection. A client without credentials can send any number of
// unknown tokens, and each causes a request.
const (
	introspectTime    = 5 * time.Second  // for one question, the wait for its turn included
	introspectAtOnce  = 16               // questions under way
	introspectWaiting = 256              // further ones that wait for their turn
	activeTime        = 30 * time.Second // an active token is not asked about again, or until its exp
	inactiveTime      = 10 * time.Second // nor is any other one
	maxIntrospected   = 10_000           // tokens of each kind that are remembered
	maxIntrospection  = 64 << 10         // bytes of an answer
)

// errIntrospection is returned if an opaque token cannot be checked.
var errIntrospection = fmt.Errorf("%w: cannot introspect the token", ErrUnavailable)

type tokenHash [sha256.Size]byte

// introspectionResult is what was found out about an opaque token.
type introspectionResult struct {
	caller Caller
	err    error // a *refusal
	until  time.Time
}

// introspector asks an authorization server about opaque tokens (RFC 7662). It is
// safe for concurrent use.
type introspector struct {
	config.Introspection
	issuer, audience string
	client           *http.Client

	// Apart, so that a flood of bad tokens does not displace the good ones.
	active, inactive *otter.Cache[tokenHash, introspectionResult]
	asking           singleflight.Group
	slots            chan struct{}
	waiting          atomic.Int32
}

func newIntrospector(o OAuthOptions) *introspector {
	client := *o.Client
	// A redirect would carry the client's secret and the token elsewhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	// Each result has its own expiry. Expiry by the library would need a
	// goroutine, and a Guard has no end at which to stop it.
	remember := otter.Options[tokenHash, introspectionResult]{MaximumSize: maxIntrospected}
	return &introspector{
		Introspection: *o.Introspection, issuer: o.Issuer, audience: o.Audience, client: &client,
		active: otter.Must(&remember), inactive: otter.Must(&remember), slots: make(chan struct{}, introspectAtOnce),
	}
}

// admit is check for the token of a request, which may be revoked before it is
// answered.
func (i *introspector) admit(ctx context.Context, token string) (Caller, error) {
	caller, err := i.check(ctx, token)
	if err != nil {
		return Caller{}, err
	}
	caller.Recheck = func(ctx context.Context) error {
		now, err := i.check(ctx, token)
		if err == nil && (now.Name != caller.Name || !now.Has(caller.Scopes)) {
			err = invalid(errors.New("it gives less than it did"))
		}
		return err
	}
	return caller, nil
}

// check returns the owner of the token. The error is a *refusal, or wraps
// ErrUnavailable.
func (i *introspector) check(ctx context.Context, token string) (Caller, error) {
	key := tokenHash(sha256.Sum256([]byte(token)))
	for _, known := range []*otter.Cache[tokenHash, introspectionResult]{i.active, i.inactive} {
		if v, ok := known.GetIfPresent(key); ok && time.Now().Before(v.until) {
			return v.caller, v.err
		}
	}
	// The first request asks for all; its client may be gone.
	answer := i.asking.DoChan(string(key[:]), func() (any, error) { return i.ask(key, token) })
	select {
	case a := <-answer:
		if a.Err != nil {
			return Caller{}, a.Err
		}
		v := a.Val.(introspectionResult)
		return v.caller, v.err
	case <-ctx.Done():
		return Caller{}, fmt.Errorf("%w: %w", errIntrospection, context.Cause(ctx))
	}
}

// ask asks the authorization server and caches the response. It returns an
// error if there was no valid response.
func (i *introspector) ask(key tokenHash, token string) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), introspectTime)
	defer cancel()
	if i.waiting.Add(1) > introspectAtOnce+introspectWaiting {
		i.waiting.Add(-1)
		return nil, fmt.Errorf("%w: too many introspection requests are waiting", errIntrospection)
	}
	defer i.waiting.Add(-1)
	select {
	case i.slots <- struct{}{}:
		defer func() { <-i.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: no free introspection slot within %v", errIntrospection, introspectTime)
	}
	body, err := i.post(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errIntrospection, err)
	}
	v, err := i.parseResponse(body, time.Now())
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: invalid introspection response: %w", errIntrospection, err)
	case v.err != nil:
		i.inactive.Set(key, v)
	default:
		i.active.Set(key, v)
	}
	return v, nil
}

// post sends the question, and returns the body of the answer.
func (i *introspector) post(ctx context.Context, token string) (string, error) {
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, i.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(i.ClientID), url.QueryEscape(i.ClientSecret)) // RFC 6749, 2.3.1
	response, err := i.client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s returned %s; check the client id and secret of introspection", i.URL, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxIntrospection+1))
	if err == nil && len(body) > maxIntrospection {
		err = fmt.Errorf("the response is longer than %d bytes", maxIntrospection)
	}
	return string(body), err
}

// parseResponse reads an answer (RFC 7662, 2.2). Names are exact, and none may be there
// twice. The error is about the answer; a token that is not taken is a verdict.
func (i *introspector) parseResponse(body string, now time.Time) (introspectionResult, error) {
	answer, err := value.ParseStrict(body)
	if err != nil {
		return introspectionResult{}, err
	}
	if answer.Kind() != value.Object || answer.Get("active").Kind() != value.Bool {
		return introspectionResult{}, errors.New(`the member "active" must be true or false`)
	}
	var c claims
	for name, place := range map[string]*string{"sub": &c.Subject, "client_id": &c.ClientID, "scope": &c.Scope} {
		if *place, err = member(answer, name); err != nil {
			return introspectionResult{}, err
		}
	}
	issuer, err := member(answer, "iss")
	kind, kindErr := member(answer, "token_type")
	use, useErr := member(answer, "token_use")
	exp, expErr := moment(answer, "exp")
	nbf, nbfErr := moment(answer, "nbf")
	if err := errors.Join(err, kindErr, useErr, expErr, nbfErr); err != nil {
		return introspectionResult{}, err
	}
	v := introspectionResult{until: now.Add(inactiveTime)}
	switch {
	case !answer.Get("active").Bool():
		v.err = invalid(errors.New("not active"))
	case !exp.IsZero() && !exp.After(now):
		v.err = invalid(errors.New("expired"))
	case nbf.After(now):
		v.err = invalid(errors.New("not valid yet"))
	case issuer != "" && issuer != i.issuer:
		v.err = invalid(errors.New("wrong issuer"))
	case !isFor(answer.Get("aud"), i.audience):
		v.err = invalid(errors.New("wrong audience"))
	case kind != "" && !strings.EqualFold(kind, "Bearer"), use != "" && use != "access_token":
		v.err = invalid(errors.New("not a bearer access token"))
	default:
		if v.caller, v.err = c.caller(exp); v.err == nil {
			v.until = now.Add(activeTime)
			if !exp.IsZero() && exp.Before(v.until) {
				v.until = exp
			}
		}
	}
	return v, nil
}

// member returns a string of an answer; empty if it is not there.
func member(answer value.Value, name string) (string, error) {
	switch v := answer.Get(name); v.Kind() {
	case value.String, value.Undefined, value.Null:
		return v.Str(), nil
	}
	return "", fmt.Errorf("%q is not a string", name)
}

// moment returns a time in seconds since 1970 of an answer; zero if it is not
// there.
func moment(answer value.Value, name string) (time.Time, error) {
	v := answer.Get(name)
	switch seconds := v.Float(); {
	case v.IsUndefined() || v.IsNull():
		return time.Time{}, nil
	case v.Kind() == value.Number && seconds >= 0 && seconds < 1e12:
		return time.Unix(int64(seconds), 0), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time in seconds", name)
}

// isFor reports whether aud, a string or a list of them, names the audience.
func isFor(aud value.Value, audience string) bool {
	return aud.Kind() == value.String && aud.Str() == audience ||
		slices.ContainsFunc(aud.Elems(), func(v value.Value) bool { return v.Kind() == value.String && v.Str() == audience })
}

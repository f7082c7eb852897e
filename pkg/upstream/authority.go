package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// authority decides what calls of one server may carry. It is safe for any
// number of goroutines.
type authority struct {
	name     string
	log      *slog.Logger
	rules    []rule
	source   CredentialSource // nil: the entry's auth counts
	own      *keeper          // of the server's own token; nil where it has none
	oauth    *oauth           // that own asks; nil where it asks something else
	exchange *exchange        // nil where callers' tokens are not exchanged
	subject  []rule           // where the token to exchange is
	hint     string
	nobody   grant
}

// rule says which value of what a caller sent becomes which header.
type rule struct {
	config.Forward
	meta bool // it is in _meta, not in the headers
}

// source names what the rule takes, for a person.
func (r *rule) source() string {
	if r.meta {
		return fmt.Sprintf("%q in the request's _meta", r.From)
	}
	return "the header " + r.From
}

// take returns the value in what the caller sent; empty where it is not there.
func (r *rule) take(c Credentials) string {
	if r.meta {
		return c.Meta.Get(r.From).Str()
	}
	return c.Headers.Get(r.From)
}

// maxForwarded is how many bytes a value has at most that is passed on. Servers
// take little more as a header, and what is passed on is looked for in all that
// the server says, which takes the longer the longer it is.
const maxForwarded = 16 << 10

// check says why the value cannot be passed on.
func (r *rule) check(v string) error {
	switch {
	case len(v) > maxForwarded:
		return &credentialError{message: fmt.Sprintf("%s cannot be passed on: it has %d bytes, expected at most %d", r.source(), len(v), maxForwarded)}
	case !validValue(v):
		return &credentialError{message: r.source() + " cannot be passed on: it has control characters"}
	}
	return nil
}

// isClientToken reports whether the rule passes the caller's own Authorization
// on, which was meant for us (MCP 2025-11-25, Authorization, Access Token
// Privilege Restriction).
func (r *rule) isClientToken() bool { return !r.meta && strings.EqualFold(r.From, "Authorization") }

func newAuthority(s *server, o Options) *authority {
	a := &authority{name: s.entry.Name, log: s.log, hint: "check " + s.setting("headers")}
	a.nobody.hint = a.hint
	if s.entry.Transport == config.Stdio {
		a.nobody.hint = "check " + s.setting("env")
		return a
	}
	for _, f := range s.entry.ForwardHeaders {
		a.rules = append(a.rules, rule{Forward: f})
	}
	for _, f := range s.entry.ForwardMeta {
		a.rules = append(a.rules, rule{Forward: f, meta: true})
	}
	for _, r := range a.rules {
		if r.isClientToken() && r.UnsafePassthrough {
			s.log.Warn("the callers' own Authorization is passed on to this server, which the MCP specification forbids",
				"setting", s.setting("forwardHeaders"))
		}
	}
	if a.source = o.Credentials[a.name]; a.source != nil {
		a.hint = "its credentials come from the program"
	} else if s.entry.Auth != nil {
		a.authenticate(s, o)
	}
	return a
}

// authenticate sets up the entry's auth.
func (a *authority) authenticate(s *server, o Options) {
	auth := s.entry.Auth
	a.hint = "check " + s.setting("auth")
	life := func() context.Context { return s.life }
	if auth.Type == config.AuthTokenExchange {
		a.exchange = &exchange{oauth: newOAuth(s, o), life: life, keepers: map[identity]*keeper{}}
		if auth.From != "" {
			a.subject = append(a.subject, rule{Forward: config.Forward{From: auth.From}})
		}
		if auth.FromMeta != "" {
			a.subject = append(a.subject, rule{Forward: config.Forward{From: auth.FromMeta}, meta: true})
		}
		return
	}
	a.own = &keeper{life: life, limit: max(2*oauthTimeout, s.entry.ConnectTimeout)}
	switch {
	case auth.Type == config.AuthOAuth2:
		if auth.Flow == config.FlowAuthorizationCode {
			a.hint = fmt.Sprintf("run mcpgraph auth login CONFIG %s", a.name)
			a.own.limit = max(a.own.limit, loginTimeout)
		}
		a.oauth = newOAuth(s, o)
		a.own.fetch = a.oauth.token
	case len(auth.TokenCommand) > 0:
		a.hint = "check " + s.setting("auth.tokenCommand")
		a.own.fetch = (&command{auth.TokenCommand, s.setting("auth.tokenCommand"), s.redact}).fetch
	default:
		a.hint = "check " + s.setting("auth.token")
		s.redact.learn(auth.Token)
		a.own.fetch = func(_ context.Context, why renewal) (Token, error) {
			if why.challenge != nil {
				return Token{}, errNoOther
			}
			return Token{Value: auth.Token}, nil
		}
	}
}

// errNoOther says that there is no credential in the place of a refused one.
var errNoOther = errors.New("there is no other credential")

// grant returns what this call may carry.
func (a *authority) grant(ctx context.Context) (*grant, error) {
	if a.rules == nil && a.source == nil && a.own == nil && a.exchange == nil {
		return &a.nobody, nil
	}
	return a.build(ctx, false)
}

// build makes the grant of a call. refresh is for the source.
func (a *authority) build(ctx context.Context, refresh bool) (*grant, error) {
	c := CredentialsOf(ctx)
	g := &grant{hint: a.hint}
	forwarded, err := a.forward(c, g)
	if err != nil {
		return nil, err
	}
	perCaller := a.rules != nil
	speaksFor := ""
	switch {
	case a.source != nil:
		t, err := a.source.Token(ctx, a.name, refresh)
		if err != nil {
			return nil, &credentialError{message: "its credential could not be got: " + err.Error()}
		}
		if !validValue(t.Value) {
			return nil, &credentialError{message: "its credential cannot be sent: it has control characters"}
		}
		g.token, perCaller, speaksFor = t.Value, true, "as "+t.Identity
		if t.Identity == "" {
			speaksFor = "with " + t.Value
		}
		g.keep(t.Value)
	case a.exchange != nil:
		subject, err := a.subjectToken(c, g)
		if err != nil {
			return nil, err
		}
		perCaller, speaksFor = true, subject
	}
	if perCaller {
		g.id = identify(a.name, c.Caller, speaksFor, forwarded)
	}
	switch {
	case a.exchange != nil:
		g.keeper = a.exchange.keeper(g.id, speaksFor)
	case a.own != nil:
		g.keeper = a.own
	}
	if g.keeper != nil && forwarded.Get("Authorization") == "" {
		t, err := g.keeper.get(ctx)
		if err != nil {
			return nil, g.cleanCredential(err)
		}
		g.token = t.Value
		if a.exchange != nil {
			g.keep(t.Value)
		}
	} else {
		g.keeper = nil
	}
	g.carry(forwarded)
	return g, nil
}

// forward takes what the rules name out of what the caller sent. Of rules for
// the same header the first counts that finds something.
func (a *authority) forward(c Credentials, g *grant) (http.Header, error) {
	var h http.Header
	for _, r := range a.rules {
		v := r.take(c)
		if v == "" || h.Get(r.To) != "" {
			continue
		}
		if r.isClientToken() && !r.UnsafePassthrough {
			return nil, &credentialError{
				message: "the caller's own Authorization must not be passed on to it",
				hint:    "let the caller send another header, or exchange the token (auth.type tokenExchange)",
			}
		}
		if err := r.check(v); err != nil {
			return nil, err
		}
		if h == nil {
			h = http.Header{}
		}
		h.Set(r.To, r.Prefix+v)
		g.keep(v)
		g.hint = "the caller has to send a good one as " + r.source()
	}
	for _, r := range a.rules {
		if r.Required && h.Get(r.To) == "" {
			return nil, missing(a.rulesFor(r.To))
		}
	}
	return h, nil
}

func (a *authority) rulesFor(header string) []rule {
	var of []rule
	for _, r := range a.rules {
		if strings.EqualFold(r.To, header) {
			of = append(of, r)
		}
	}
	return of
}

// missing says what a caller has to send.
func missing(rules []rule) error {
	var sources []string
	for _, r := range rules {
		sources = append(sources, r.source())
	}
	return &credentialError{
		message: "the call does not carry the credential that it needs",
		hint:    "send it as " + strings.Join(sources, ", or as ") + " (in Go: upstream.WithCredentials)",
	}
}

// subjectToken returns the caller's token that is exchanged.
func (a *authority) subjectToken(c Credentials, g *grant) (string, error) {
	for _, r := range a.subject {
		v := strings.TrimSpace(r.take(c))
		if scheme, rest, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "Bearer") {
			v = strings.TrimSpace(rest)
		}
		if v != "" {
			if err := r.check(v); err != nil {
				return "", err
			}
			g.keep(v)
			g.hint = "the caller has to send a good one as " + r.source()
			return v, nil
		}
	}
	return "", missing(a.subject)
}

// keep takes note of a secret that came with the call, and of what is secret in it
// by itself.
func (g *grant) keep(secret string) {
	if !slices.Contains(g.secrets, secret) {
		g.secrets = append(append(g.secrets, secret), credentialsIn(secret)...)
	}
}

// identify returns the identity of calls that carry this.
func identify(server, caller, speaksFor string, h http.Header) identity {
	parts := []string{server, caller, speaksFor}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		parts = append(append(parts, name), h[name]...)
	}
	return identity(hash(parts...))
}

// refused returns a grant in the place of one that the server has refused with
// err, with which the call may be repeated once, or the error with which it
// ends. An err that is no refusal comes back as it is.
func (a *authority) refused(ctx context.Context, g *grant, err error) (*grant, error) {
	if !refusal(err) {
		return nil, err
	}
	end := g.refusal(err)
	if g.token == "" {
		if g.headers == nil {
			end.message = "it wants a credential: " + err.Error()
		}
		return nil, end
	}
	if g.keeper != nil {
		a.log.DebugContext(ctx, "the server refused the token; it is renewed once", "caller", string(g.id))
		if _, why := g.keeper.renew(ctx, renewal{stale: g.token, challenge: err}); why != nil {
			var more *credentialError
			switch {
			case errors.As(why, &more):
				end.message += "; another could not be got: " + more.message
				if more.hint != "" {
					end.hint = more.hint
				}
			case why != errNoOther:
				end.message += "; another could not be got: " + why.Error()
			}
			return nil, g.cleanCredential(end)
		}
	}
	next, why := a.build(ctx, true)
	if why != nil {
		return nil, why
	}
	if next.token == g.token {
		return nil, end
	}
	return next, nil
}

// refusedAgain returns the error of a call whose renewed credential was refused
// too with err, nil where err is no refusal.
func (a *authority) refusedAgain(g *grant, err error) error {
	if !refusal(err) {
		return nil
	}
	return g.refusal(err)
}

func (g *grant) refusal(err error) *credentialError {
	return &credentialError{message: "it refused the credential: " + err.Error(), hint: g.hint, err: err}
}

// cleanCredential takes what the caller sent out of an error that is not yet
// an [Error].
func (g *grant) cleanCredential(err error) error {
	var e *credentialError
	if len(g.secrets) == 0 || !errors.As(err, &e) {
		return err
	}
	own := *e
	own.message = newRedactor(g.secrets).text(e.message)
	return &own
}

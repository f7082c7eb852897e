// Package credential resolves what the calls of one upstream server carry: headers
// that are forwarded from callers, tokens of the configuration, of a command or of
// an authorization server (OAuth 2.1), and tokens exchanged for those of callers
// (RFC 8693). It keeps tokens fresh and logins in a file.
package credential

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// Options are the settings of a resolver.
type Options struct {
	Entry  *config.Upstream
	Redact *redact.Redactor // learns the secrets that are got
	Log    *slog.Logger
	Life   context.Context // ends with the server; getting a token ends with it
	// Source returns the token for a call, instead of the entry's auth.
	// refresh says that the server has just refused the last one. It may be nil.
	Source func(ctx context.Context, info *callinfo.Info, refresh bool) (Token, error)
	// TokenFile is the file of logins and renewed refresh tokens, for entries without
	// auth.store. The default is mcpgraph/tokens.json in the user's configuration
	// directory.
	TokenFile string
	// OpenBrowser shows an address to a person who logs in. It may be nil.
	OpenBrowser func(ctx context.Context, url string) error
	// LockedIssuer returns the authorization server that the lock file has for the
	// server; empty if there is none. Another one that is discovered is refused. It may be
	// nil.
	LockedIssuer func() string
}

// Resolver resolves the credentials of the calls of one server. It is safe for
// concurrent use.
type Resolver struct {
	name        string
	log         *slog.Logger
	rules       []forwardRule
	source      func(context.Context, *callinfo.Info, bool) (Token, error) // nil: the entry's auth counts
	serverToken *tokenCache                                                // of the server's own token; nil if it has none
	oauth       *oauthClient                                               // that own asks; nil if it asks something else
	exchanger   *exchanger                                                 // nil unless callers' tokens are exchanged
	subject     []forwardRule                                              // where the token to exchange is
	hint        string
	anonymous   Call
}

// New returns the resolver of an entry.
func New(o Options) *Resolver {
	u := o.Entry
	r := &Resolver{name: u.Name, log: o.Log, hint: "check " + u.Setting("headers")}
	r.anonymous.hint = r.hint
	if u.Transport == config.Stdio {
		r.anonymous.hint = "check " + u.Setting("env")
		return r
	}
	for _, f := range u.ForwardHeaders {
		r.rules = append(r.rules, forwardRule{Forward: f})
	}
	for _, f := range u.ForwardMeta {
		r.rules = append(r.rules, forwardRule{Forward: f, meta: true})
	}
	for _, rule := range r.rules {
		if rule.isClientToken() && rule.UnsafePassthrough {
			r.log.Warn("the callers' own Authorization is passed on to this server, which the MCP specification forbids",
				"setting", u.Setting("forwardHeaders"))
		}
	}
	if r.source = o.Source; r.source != nil {
		r.hint = "its credentials come from the program"
	} else if u.Auth != nil {
		r.authenticate(o)
	}
	return r
}

// authenticate sets up the entry's auth.
func (r *Resolver) authenticate(o Options) {
	u, auth := o.Entry, o.Entry.Auth
	r.hint = "check " + u.Setting("auth")
	if auth.Type == config.AuthTokenExchange {
		r.exchanger = &exchanger{oauth: newOAuthClient(o), lifetime: o.Life, caches: map[Identity]*tokenCache{}}
		if auth.From != "" {
			r.subject = append(r.subject, forwardRule{Forward: config.Forward{From: auth.From}})
		}
		if auth.FromMeta != "" {
			r.subject = append(r.subject, forwardRule{Forward: config.Forward{From: auth.FromMeta}, meta: true})
		}
		return
	}
	r.serverToken = &tokenCache{lifetime: o.Life, timeout: fetchTimeout(u)}
	switch {
	case auth.Type == config.AuthOAuth2:
		if auth.Flow == config.FlowAuthorizationCode {
			r.hint = fmt.Sprintf("run mcpgraph auth login CONFIG %s", r.name)
			r.serverToken.timeout += loginTimeout
		}
		r.oauth = newOAuthClient(o)
		r.serverToken.fetch = r.oauth.token
	case len(auth.TokenCommand) > 0:
		r.hint = "check " + u.Setting("auth.tokenCommand")
		r.serverToken.fetch = (&tokenCommand{
			auth.TokenCommand, u.Setting("auth.tokenCommand"), r.serverToken.timeout, u.Setting("connectTimeoutMs"), o.Redact,
		}).fetch
	default:
		r.hint = "check " + u.Setting("auth.token")
		o.Redact.Learn(auth.Token)
		r.serverToken.fetch = func(_ context.Context, why renewal) (Token, error) {
			if why.refusal != nil {
				return Token{}, errNoOther
			}
			return Token{Value: auth.Token}, nil
		}
	}
}

// errNoOther is the error of a renewal if there is only one credential.
var errNoOther = errors.New("there is no other credential")

// Resolve returns the credentials of a call with info. Errors are those of ctx or
// *[Error].
func (r *Resolver) Resolve(ctx context.Context, info *callinfo.Info) (*Call, error) {
	if r.rules == nil && r.source == nil && r.serverToken == nil && r.exchanger == nil {
		return &r.anonymous, nil
	}
	return r.build(ctx, info, false)
}

// build makes the credentials of a call. refresh is for the source.
func (r *Resolver) build(ctx context.Context, info *callinfo.Info, refresh bool) (*Call, error) {
	call := &Call{hint: r.hint}
	forwarded, err := r.forward(info, call)
	if err != nil {
		return nil, err
	}
	perCaller := r.rules != nil
	speaksFor := ""
	switch {
	case r.source != nil:
		t, err := r.source(ctx, info, refresh)
		if err != nil {
			return nil, &Error{Message: "its credential could not be got: " + err.Error()}
		}
		if !validHeaderValue(t.Value) {
			return nil, &Error{Message: "its credential cannot be sent: it has control characters"}
		}
		call.Token, perCaller, speaksFor = t.Value, true, "as "+t.Identity
		if t.Identity == "" {
			speaksFor = "with " + t.Value
		}
		call.addSecret(t.Value)
	case r.exchanger != nil:
		subject, err := r.subjectToken(info, call)
		if err != nil {
			return nil, err
		}
		perCaller, speaksFor = true, subject
	}
	if perCaller {
		call.Identity = identify(r.name, info.Caller, speaksFor, forwarded)
	}
	switch {
	case r.exchanger != nil:
		call.cache = r.exchanger.cache(call.Identity, speaksFor)
	case r.serverToken != nil:
		call.cache = r.serverToken
	}
	if call.cache != nil && forwarded.Get("Authorization") == "" {
		t, err := call.cache.get(ctx)
		if err != nil {
			return nil, call.clean(err)
		}
		call.Token = t.Value
		if r.exchanger != nil {
			call.addSecret(t.Value)
		}
	} else {
		call.cache = nil
	}
	call.forwarded = forwarded
	if call.forwarded == nil {
		call.forwarded = http.Header{}
	}
	return call, nil
}

// Renew returns new credentials after the server has refused those of call,
// for the same caller. The call may be repeated with them once. It returns the error
// of the call if there are none.
func (r *Resolver) Renew(ctx context.Context, info *callinfo.Info, call *Call, refusal Refusal) (*Call, error) {
	end := call.Refused(refusal.Err)
	if call.Token == "" {
		if call.forwarded == nil {
			end.Message = "it wants a credential: " + refusal.Err.Error()
		}
		return nil, end
	}
	if call.cache != nil {
		r.log.DebugContext(ctx, "the server refused the token; it is renewed once", "caller", string(call.Identity))
		if _, why := call.cache.renew(ctx, renewal{stale: call.Token, refusal: &refusal}); why != nil {
			var more *Error
			switch {
			case errors.As(why, &more):
				end.Message += "; another could not be got: " + more.Message
				if more.Hint != "" {
					end.Hint = more.Hint
				}
			case why != errNoOther:
				end.Message += "; another could not be got: " + why.Error()
			}
			return nil, call.clean(end)
		}
	}
	next, why := r.build(ctx, info, true)
	if why != nil {
		return nil, why
	}
	if next.Token == call.Token {
		return nil, end
	}
	return next, nil
}

// IsPersonal reports whether calls carry credentials that are not the server's
// own.
func (r *Resolver) IsPersonal() bool {
	return r.rules != nil || r.source != nil || r.exchanger != nil
}

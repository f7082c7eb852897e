package credential

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// maxExchanged is how many callers' exchanged tokens are kept for a server.
const maxExchanged = 10_000

// exchanger turns callers' tokens into tokens for the server (RFC 8693).
type exchanger struct {
	oauth    *oauthClient
	lifetime context.Context

	mu     sync.Mutex
	caches map[Identity]*tokenCache
}

// cache returns what keeps the token that the subject's was exchanged for.
func (x *exchanger) cache(id Identity, subject string) *tokenCache {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.caches[id]
	if c == nil {
		if len(x.caches) >= maxExchanged {
			x.makeRoom()
		}
		c = &tokenCache{lifetime: x.lifetime, timeout: fetchTimeout(x.oauth.entry), fetch: func(ctx context.Context, why renewal) (Token, error) {
			return x.fetch(ctx, subject, why)
		}}
		x.caches[id] = c
	}
	return c
}

// makeRoom forgets the tokens that have expired, and any where none has: they
// can be got again.
func (x *exchanger) makeRoom() {
	now := time.Now()
	for id, c := range x.caches {
		c.mu.Lock()
		over := !c.token.ExpiresAt.IsZero() && now.After(c.token.ExpiresAt)
		c.mu.Unlock()
		if over {
			delete(x.caches, id)
		}
	}
	for id := range x.caches {
		if len(x.caches) < maxExchanged {
			return
		}
		delete(x.caches, id)
	}
}

func (x *exchanger) fetch(ctx context.Context, subject string, why renewal) (Token, error) {
	o := x.oauth
	seen := why.challenge()
	e, err := o.rediscover(ctx, why)
	if err != nil {
		return Token{}, err
	}
	form := url.Values{"subject_token": {subject}, "subject_token_type": {o.auth.SubjectTokenType}}
	if o.auth.RequestedTokenType != "" {
		form.Set("requested_token_type", o.auth.RequestedTokenType)
	}
	if scopes := o.scopes(e, seen); len(scopes) > 0 {
		form.Set("scope", scopeForm(scopes).Get("scope"))
	}
	t, err := o.requestToken(ctx, e, o.configured(e), oauthex.GrantTypeTokenExchange, form)
	if err != nil {
		return Token{}, o.failed("the caller's token could not be exchanged: ", err, "")
	}
	return Token{Value: t.AccessToken, ExpiresAt: t.Expiry}, nil
}

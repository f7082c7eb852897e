package upstream

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// maxExchanged is how many callers' exchanged tokens are kept for a server.
const maxExchanged = 10_000

// exchange turns callers' tokens into tokens for the server (RFC 8693).
type exchange struct {
	oauth *oauth
	life  func() context.Context

	mu      sync.Mutex
	keepers map[identity]*keeper
}

// keeper returns what keeps the token that the subject's was exchanged for.
func (x *exchange) keeper(id identity, subject string) *keeper {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.keepers[id]
	if k == nil {
		if len(x.keepers) >= maxExchanged {
			x.makeRoom()
		}
		k = &keeper{life: x.life, limit: oauthTimeout, fetch: func(ctx context.Context, why renewal) (Token, error) {
			return x.fetch(ctx, subject, why)
		}}
		x.keepers[id] = k
	}
	return k
}

// makeRoom forgets the tokens that have expired, and any where none has: they
// can be got again.
func (x *exchange) makeRoom() {
	now := time.Now()
	for id, k := range x.keepers {
		k.mu.Lock()
		over := !k.token.ExpiresAt.IsZero() && now.After(k.token.ExpiresAt)
		k.mu.Unlock()
		if over {
			delete(x.keepers, id)
		}
	}
	for id := range x.keepers {
		if len(x.keepers) < maxExchanged {
			return
		}
		delete(x.keepers, id)
	}
}

func (x *exchange) fetch(ctx context.Context, subject string, why renewal) (Token, error) {
	o := x.oauth
	seen := challengeOf(why.challenge)
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
	t, err := o.ask(ctx, e, o.configured(e), oauthex.GrantTypeTokenExchange, form)
	if err != nil {
		return Token{}, &credentialError{message: "the caller's token could not be exchanged: " + err.Error()}
	}
	return Token{Value: t.AccessToken, ExpiresAt: t.Expiry}, nil
}

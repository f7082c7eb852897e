package credential

import (
	"context"
	"sync"
	"time"
)

// Token is a credential for a server, sent as "Authorization: Bearer VALUE" (RFC
// 6750, 2.1).
type Token struct {
	Value     string
	ExpiresAt time.Time // zero if it is not known
	Identity  string    // the user that the token stands for; empty if each token is on its own
}

// renewMargin is how long before it expires a token is renewed, though not more
// than a fifth of its life.
const renewMargin = 30 * time.Second

// renewal is the reason for which a token is asked for.
type renewal struct {
	stale   string   // the token that the server refused; empty if none was
	refusal *Refusal // how it did; nil if it did not
}

// challenge returns the challenge of the refusal, empty if there was none.
func (r renewal) challenge() Challenge {
	if r.refusal == nil {
		return Challenge{}
	}
	return r.refusal.Challenge
}

// tokenCache keeps one token fresh: it gets it when it is first needed, again
// before it expires, and once more when the server refuses it. However many
// calls wait, one of them asks.
type tokenCache struct {
	// fetch gets a new token. Its context lasts as long as the server.
	fetch    func(context.Context, renewal) (Token, error)
	lifetime context.Context
	timeout  time.Duration // of one fetch

	mu      sync.Mutex
	token   Token
	renewAt time.Time // zero: never
	pending *pendingFetch
}

// pendingFetch is one fetch that any number of calls await.
type pendingFetch struct {
	done  chan struct{}
	token Token
	err   error
}

// get returns a token that has not expired.
func (c *tokenCache) get(ctx context.Context) (Token, error) {
	c.mu.Lock()
	now := time.Now()
	if c.token.Value != "" && (c.renewAt.IsZero() || now.Before(c.renewAt)) {
		defer c.mu.Unlock()
		return c.token, nil
	}
	last := c.token
	f := c.join(renewal{})
	c.mu.Unlock()
	t, err := f.await(ctx)
	if err != nil && last.Value != "" && now.Before(last.ExpiresAt) && ctx.Err() == nil {
		return last, nil // it is still good for a moment
	}
	return t, err
}

// renew returns a token other than the one that the server refused.
func (c *tokenCache) renew(ctx context.Context, why renewal) (Token, error) {
	c.mu.Lock()
	if c.token.Value != "" && c.token.Value != why.stale {
		defer c.mu.Unlock()
		return c.token, nil // another call was faster
	}
	f := c.join(why)
	c.mu.Unlock()
	return f.await(ctx)
}

// join joins the fetch under way, or starts one.
func (c *tokenCache) join(why renewal) *pendingFetch {
	if c.pending != nil {
		return c.pending
	}
	f := &pendingFetch{done: make(chan struct{})}
	c.pending = f
	go func() {
		ctx, cancel := context.WithTimeout(c.lifetime, c.timeout)
		defer cancel()
		f.token, f.err = c.fetch(ctx, why)
		c.mu.Lock()
		if c.pending == f { // it was not forgotten meanwhile
			c.pending = nil
			if f.err == nil {
				c.token, c.renewAt = f.token, renewAt(f.token.ExpiresAt, time.Now())
			}
		}
		c.mu.Unlock()
		close(f.done)
	}()
	return f
}

func (f *pendingFetch) await(ctx context.Context) (Token, error) {
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return Token{}, context.Cause(ctx)
	}
}

// renewAt returns when a token that was got now and expires then is renewed.
func renewAt(expires, now time.Time) time.Time {
	if expires.IsZero() {
		return time.Time{}
	}
	return expires.Add(-min(renewMargin, max(0, expires.Sub(now)/5)))
}

// forget drops the token, and the one that is being fetched, so that the next call
// asks for one. Calls that wait for that fetch still get what it brings.
func (c *tokenCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.renewAt, c.pending = Token{}, time.Time{}, nil
}

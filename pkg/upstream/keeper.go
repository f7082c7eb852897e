package upstream

import (
	"context"
	"sync"
	"time"
)

// renewBefore is how long before it expires a token is renewed, though not more
// than a fifth of its life.
const renewBefore = 30 * time.Second

// renewal says why a token is asked for.
type renewal struct {
	stale     string // the token that the server refused; empty where none was
	challenge error  // how it did; nil where it did not
}

// keeper keeps one token fresh: it gets it when it is first needed, again
// before it expires, and once more when the server refuses it. However many
// calls wait, one of them asks.
type keeper struct {
	// fetch gets a new token. Its context lasts as long as the server.
	fetch func(context.Context, renewal) (Token, error)
	life  func() context.Context
	limit time.Duration // of one fetch

	mu       sync.Mutex
	token    Token
	renewAt  time.Time // zero: never
	fetching *fetching
}

// fetching is one fetch that any number of calls await.
type fetching struct {
	done  chan struct{}
	token Token
	err   error
}

// get returns a token that has not expired.
func (k *keeper) get(ctx context.Context) (Token, error) {
	k.mu.Lock()
	now := time.Now()
	if k.token.Value != "" && (k.renewAt.IsZero() || now.Before(k.renewAt)) {
		defer k.mu.Unlock()
		return k.token, nil
	}
	last := k.token
	f := k.fly(renewal{})
	k.mu.Unlock()
	t, err := f.wait(ctx)
	if err != nil && last.Value != "" && now.Before(last.ExpiresAt) && ctx.Err() == nil {
		return last, nil // it is still good for a moment
	}
	return t, err
}

// renew returns a token other than the one that the server refused.
func (k *keeper) renew(ctx context.Context, why renewal) (Token, error) {
	k.mu.Lock()
	if k.token.Value != "" && k.token.Value != why.stale {
		defer k.mu.Unlock()
		return k.token, nil // another call was faster
	}
	f := k.fly(why)
	k.mu.Unlock()
	return f.wait(ctx)
}

// fly joins the fetch under way, or starts one.
func (k *keeper) fly(why renewal) *fetching {
	if k.fetching != nil {
		return k.fetching
	}
	f := &fetching{done: make(chan struct{})}
	k.fetching = f
	go func() {
		ctx, cancel := context.WithTimeout(k.life(), k.limit)
		defer cancel()
		f.token, f.err = k.fetch(ctx, why)
		k.mu.Lock()
		k.fetching = nil
		if f.err == nil {
			k.token, k.renewAt = f.token, renewAt(f.token.ExpiresAt, time.Now())
		}
		k.mu.Unlock()
		close(f.done)
	}()
	return f
}

func (f *fetching) wait(ctx context.Context) (Token, error) {
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
	return expires.Add(-min(renewBefore, max(0, expires.Sub(now)/5)))
}

// forget drops the token, so that the next call asks for one.
func (k *keeper) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.token, k.renewAt = Token{}, time.Time{}
}

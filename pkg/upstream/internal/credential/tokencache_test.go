package credential

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func newTestCache(life time.Duration, fetch func(n int) error) (*tokenCache, *atomic.Int32) {
	var fetched atomic.Int32
	return &tokenCache{
		lifetime: context.Background(), timeout: time.Minute,
		fetch: func(context.Context, renewal) (Token, error) {
			n := int(fetched.Add(1))
			if err := fetch(n); err != nil {
				return Token{}, err
			}
			return Token{Value: strconv.Itoa(n), ExpiresAt: time.Now().Add(life)}, nil
		},
	}, &fetched
}

func TestAnyNumberOfCallsAskForOneToken(t *testing.T) {
	gate := make(chan struct{})
	c, fetched := newTestCache(time.Hour, func(int) error { <-gate; return nil })
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			if got, err := c.get(t.Context()); err != nil || got.Value != "1" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	close(gate)
	wait.Wait()
	for range 100 {
		wait.Go(func() {
			if got, err := c.renew(t.Context(), renewal{stale: "1"}); err != nil || got.Value != "2" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	wait.Wait()
	if n := fetched.Load(); n != 2 {
		t.Errorf("%d tokens were asked for, want 2", n)
	}
}

func TestACallThatGivesUpDoesNotEndTheRenewal(t *testing.T) {
	gate := make(chan struct{})
	c, fetched := newTestCache(time.Hour, func(int) error { <-gate; return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.get(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	close(gate)
	if got, err := c.get(t.Context()); err != nil || got.Value != "1" || fetched.Load() != 1 {
		t.Errorf("got %+v, %v after %d fetches", got, err, fetched.Load())
	}
}

func TestATokenThatStillHoldsSurvivesAFailedRenewal(t *testing.T) {
	broken := errors.New("the authorization server is away")
	c, fetched := newTestCache(time.Hour, func(n int) error {
		if n > 1 {
			return broken
		}
		return nil
	})
	if _, err := c.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.renewAt = time.Now().Add(-time.Second)
	if got, err := c.get(t.Context()); err != nil || got.Value != "1" || fetched.Load() != 2 {
		t.Errorf("got %+v, %v after %d fetches", got, err, fetched.Load())
	}
	c.token.ExpiresAt = time.Now().Add(-time.Millisecond)
	if _, err := c.get(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestATokenThatIsFetchedDuringALogoutIsNotKept(t *testing.T) {
	gate, began := make(chan struct{}), make(chan struct{}, 1)
	c, fetched := newTestCache(time.Hour, func(n int) error {
		if n == 1 {
			began <- struct{}{}
			<-gate
		}
		return nil
	})
	var wait sync.WaitGroup
	wait.Go(func() {
		if got, err := c.get(t.Context()); err != nil || got.Value != "1" {
			t.Errorf("the call that waited got %+v, %v", got, err)
		}
	})
	<-began
	c.forget()
	if got, err := c.get(t.Context()); err != nil || got.Value != "2" {
		t.Errorf("the call after the logout got %+v, %v", got, err)
	}
	close(gate)
	wait.Wait()
	if got, err := c.get(t.Context()); err != nil || got.Value != "2" || fetched.Load() != 2 {
		t.Errorf("got %+v, %v after %d fetches", got, err, fetched.Load())
	}
}

func TestRenewAt(t *testing.T) {
	now := time.Now()
	for life, before := range map[time.Duration]time.Duration{
		time.Hour: 30 * time.Second, 100 * time.Second: 20 * time.Second, 5 * time.Second: time.Second, -time.Second: 0,
	} {
		if got := renewAt(now.Add(life), now); !got.Equal(now.Add(life - before)) {
			t.Errorf("a life of %v: renewed %v before its end, want %v", life, now.Add(life).Sub(got), before)
		}
	}
	if !renewAt(time.Time{}, now).IsZero() {
		t.Error("a token without an end is renewed")
	}
}

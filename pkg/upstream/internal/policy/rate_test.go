package policy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// densest returns how many of the times lie in one period at most.
func densest(times []time.Time, period time.Duration) int {
	most := 0
	for i, from := range times {
		n := 0
		for _, at := range times[i:] {
			if at.Sub(from) < period-time.Microsecond { // the limiter calculates in floats
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// However calls come, no period sees more requests than the limit, and they are
// spread over it.
func TestRateLimitHoldsInEveryPeriod(t *testing.T) {
	for _, c := range []struct {
		limit, atOnce int
		took          time.Duration // of three times as many calls as the limit
	}{
		{1, 1, 2 * time.Second},
		{5, 1, 2800 * time.Millisecond},
		{30, 3, 3107 * time.Millisecond}, // 87 calls behind the first three, 28 a second
	} {
		synctest.Test(t, func(t *testing.T) {
			s := layered(t, func(u *config.Upstream) { u.RateLimit = &config.RateLimit{Limit: c.limit, Period: time.Second} })
			time.Sleep(10*time.Second + 990*time.Millisecond) // just before a second is full
			began := time.Now()
			var mu sync.Mutex
			var times []time.Time
			var wait sync.WaitGroup
			for range 3 * c.limit {
				wait.Go(func() {
					_, err := s.through(context.Background(), "look", func(context.Context) (value.Value, error) {
						mu.Lock()
						defer mu.Unlock()
						times = append(times, time.Now())
						return good, nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if n := densest(times, time.Second); n > c.limit {
				t.Errorf("limit %d: %d requests in one second", c.limit, n)
			}
			if n := densest(times, time.Millisecond); n != c.atOnce {
				t.Errorf("limit %d: %d requests at once, want %d", c.limit, n, c.atOnce)
			}
			if took := time.Since(began).Round(time.Millisecond); took != c.took {
				t.Errorf("limit %d: took %v, want %v", c.limit, took, c.took)
			}
			if n := s.Counts.RateLimitWaits.Load(); n != int64(3*c.limit-c.atOnce) {
				t.Errorf("limit %d: %d waits counted", c.limit, n)
			}
		})
	}
}

// Every request counts, those of further attempts too.
func TestRateLimitCountsFurtherAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(4), func(u *config.Upstream) {
			u.Retry.InitialDelay, u.Retry.MaxDelay = time.Millisecond, 2*time.Millisecond
			u.RateLimit = &config.RateLimit{Limit: 2, Period: 10 * time.Second}
		})
		a := &answers{errs: []error{unavailable}}
		if r, err := s.through(context.Background(), "look", a.next); err == nil || r.Sent != 4 {
			t.Errorf("attempts %d: %v", r.Sent, err)
		}
		for i, gap := range a.gaps() {
			if gap.Round(10*time.Millisecond) != 5*time.Second {
				t.Errorf("attempt %d came after %v", i+2, gap)
			}
		}
	})
}

// A call that waits for its turn leaves the slots to others.
func TestCallThatWaitsForTheRateLimitHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, func(u *config.Upstream) {
			u.MaxConcurrency = 1
			u.RateLimit = &config.RateLimit{PerTool: []config.ToolRate{{Tool: "slow", Limit: 1, Period: 10 * time.Second}}}
		})
		a := &answers{errs: []error{nil}}
		_, _ = s.through(context.Background(), "slow", a.next)
		go s.through(context.Background(), "slow", a.next)
		synctest.Wait()
		began := time.Now()
		if _, err := s.through(context.Background(), "look", a.next); err != nil || time.Since(began) != 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute)
	})
}

func TestToolsOwnRateLimitKeepsOnlyItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, func(u *config.Upstream) {
			u.RateLimit = &config.RateLimit{PerTool: []config.ToolRate{{Tool: "slow", Limit: 1, Period: 10 * time.Second}}}
		})
		began := time.Now()
		a := &answers{errs: []error{nil}}
		for _, tool := range []string{"slow", "look", "look", "look"} {
			_, _ = s.through(context.Background(), tool, a.next)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("took %v without any reason to wait", took)
		}
		_, _ = s.through(context.Background(), "slow", a.next)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the second call of the slow tool went through after %v", took)
		}
	})
}

func TestCallThatCannotGetItsTurnInTimeFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, func(u *config.Upstream) {
			u.Timeout = 5 * time.Second
			u.RateLimit = &config.RateLimit{Limit: 1, Period: 10 * time.Second}
		})
		a := &answers{errs: []error{nil}}
		_, _ = s.through(context.Background(), "look", a.next)
		began := time.Now()
		r, err := s.through(context.Background(), "look", a.next)
		if err == nil || time.Since(began) != 0 || r.Sent != 0 || a.asked.Load() != 1 {
			t.Fatalf("%+v, %v after %v", r, err, time.Since(began))
		}
		for _, want := range []string{"rate limit of 1 requests in 10s", "next 5s", "mcpServers.fake.rateLimit"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	})
}

func TestCallGivenUpWhileItWaitsForTheRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, func(u *config.Upstream) { u.RateLimit = &config.RateLimit{Limit: 1, Period: 10 * time.Second} })
		a := &answers{errs: []error{nil}}
		_, _ = s.through(context.Background(), "look", a.next)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		_, err := s.through(ctx, "look", a.next)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "while it waited for the rate limit") {
			t.Error(err)
		}
	})
}

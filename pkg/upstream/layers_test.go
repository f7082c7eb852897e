package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// layered returns a server of which only the layers are used. In a bubble of
// synctest its times are exact.
func layered(t testing.TB, change ...func(*config.Upstream)) *server {
	u := &config.Upstream{Name: "fake", Timeout: time.Minute}
	for _, f := range change {
		f(u)
	}
	s := New([]*config.Upstream{u}, Options{}).servers["fake"]
	t.Cleanup(func() { s.close(context.Background()) })
	return s
}

func retrying(attempts int) func(*config.Upstream) {
	return func(u *config.Upstream) {
		u.Retry = &config.Retry{MaxAttempts: attempts, InitialDelay: time.Second, MaxDelay: 5 * time.Second, Backoff: 2}
	}
}

func breaking(u *config.Upstream) {
	u.CircuitBreaker = &config.CircuitBreaker{FailureThreshold: 3, SuccessThreshold: 2, ResetTimeout: time.Minute, HalfOpenMaxCalls: 1}
}

func caching(u *config.Upstream) {
	u.Cache = &config.Cache{TTL: time.Minute, MaxEntries: 100, Tools: []string{"look*"}}
}

// through makes a call of nobody in particular through the layers.
func (s *server) through(ctx context.Context, tool string, next func(context.Context) (value.Value, error)) (Result, error) {
	return s.callAs(ctx, "", tool, value.Undef, next)
}

// callAs makes a call through the layers, of which each try is one request.
func (s *server) callAs(ctx context.Context, id identity, tool string, args value.Value, next func(context.Context) (value.Value, error)) (Result, error) {
	return s.layers.call(ctx, id, tool, args, func(ctx context.Context) (reply value.Value, sent int, err error) {
		reply, err = s.layers.pass(ctx, id, tool, func() (value.Value, error) {
			sent++
			return next(ctx)
		})
		return reply, sent, err
	})
}

// mark makes known whether the server marks the tool as one that may be repeated.
func (s *server) mark(tool string, repeatable bool) {
	h, _ := s.hold(&grant{}, "call", tool)
	defer s.release(h)
	h.hints.known = map[string]bool{tool: repeatable}
}

// answers is a server's part: what it answers one time after the other, the
// last for ever.
type answers struct {
	errs  []error
	asked atomic.Int32
	times []time.Time
}

func (a *answers) next(context.Context) (value.Value, error) {
	n := int(a.asked.Add(1))
	a.times = append(a.times, time.Now())
	err := a.errs[min(n, len(a.errs))-1]
	if err != nil {
		return value.Undef, err
	}
	return good, nil
}

var good = value.FromEntries([]value.Entry{{Key: "content", Value: value.FromArray(nil)}})

// failing makes an error of a call as the pool makes it.
func (s *server) failing(raw error) error {
	return s.failed(context.Background(), "call", "look", nil, 0, raw)
}

func status(code int, header ...string) *statusError {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &statusError{Status: code, Header: h}
}

func TestWhatIsTriedAgain(t *testing.T) {
	notSent := func(err error) error { return errors.Join(errNotWritten, err) }
	handshake := func(err error) func(*server) error {
		return func(s *server) error { return s.failure("handshake", "look", "the handshake failed", "", err) }
	}
	startup := func(err error) func(*server) error {
		return func(s *server) error { return s.failure("start", "look", "could not be started", "", err) }
	}
	raw := func(err error) func(*server) error { return func(s *server) error { return s.failing(err) } }
	on := func(names ...string) func(*config.Upstream) {
		return func(u *config.Upstream) { u.Retry.RetryOn = names }
	}
	skip := func(names ...string) func(*config.Upstream) {
		return func(u *config.Upstream) { u.Retry.SkipOn = names }
	}
	unsafe := func(u *config.Upstream) { u.RetryUnsafe = true }
	const once, tried = 1, 3
	for _, c := range []struct {
		name   string
		err    func(*server) error
		change func(*config.Upstream)
		plain  int // tries of a tool that is not marked
		marked int // tries of a tool that may be repeated
	}{
		{"connection refused", startup(errors.New("connection refused")), nil, tried, tried},
		{"handshake that breaks off", handshake(overError("exited (code 1)")), nil, tried, tried},
		{"handshake that takes too long", handshake(context.DeadlineExceeded), nil, tried, tried},
		{"handshake too long, skipped as timeout", handshake(context.DeadlineExceeded), skip("timeout"), once, once},
		{"handshake too long, skipped as connect", handshake(context.DeadlineExceeded), skip("connect"), once, once},
		{"handshake refused as unauthorized", handshake(status(401)), nil, once, once},
		{"handshake answered 502", handshake(status(502)), nil, tried, tried},
		{"handshake answered 503", handshake(status(503)), nil, tried, tried},
		{"handshake that is not MCP, retryOn", handshake(errBroken), on("malformed"), tried, tried},
		{"no such program", startup(&exec.Error{Name: "nope", Err: exec.ErrNotFound}), nil, once, once},
		{"connection closed before the request", raw(notSent(overError("closed the connection"))), nil, tried, tried},
		{"timeout before the request", raw(notSent(errSilent)), nil, tried, tried},
		{"connection closed after the request", raw(overError("exited (code 1)")), nil, once, tried},
		{"connection reset after the request", raw(errLost), nil, once, tried},
		{"connection closed after the request, retryUnsafe", raw(overError("exited")), unsafe, tried, tried},
		{"connection closed after the request, retryOn", raw(overError("exited")), on("closed"), once, tried},
		{"connection closed after the request, skipped", raw(overError("exited")), skip("closed"), once, once},
		{"no answer", raw(errSilent), nil, once, tried},
		{"no answer, skipped", raw(errSilent), skip("timeout"), once, once},
		{"not MCP", raw(errBroken), nil, once, once},
		{"not MCP, retryOn", raw(errBroken), on("malformed"), once, tried},
		{"not MCP, retryOn, retryUnsafe", raw(errBroken), func(u *config.Upstream) { on("malformed")(u); unsafe(u) }, tried, tried},
		{"too long", raw(&tooLongError{10}), unsafe, once, once},
		{"HTTP 400", raw(status(400)), on("4xx"), once, once},
		{"HTTP 401", raw(status(401)), on("401", "4xx"), once, once},
		{"HTTP 403", raw(status(403)), on("403"), once, once},
		{"HTTP 404", raw(status(404)), nil, once, once},
		{"HTTP 408", raw(status(408)), nil, once, tried},
		{"HTTP 408, retryUnsafe", raw(status(408)), unsafe, tried, tried},
		{"HTTP 425, retryOn", raw(status(425)), on("425"), tried, tried},
		{"HTTP 429", raw(status(429)), nil, tried, tried},
		{"HTTP 429, class skipped", raw(status(429)), skip("4xx"), once, once},
		{"HTTP 500", raw(status(500)), nil, once, once},
		{"HTTP 500, retryOn", raw(status(500)), on("500"), tried, tried},
		{"HTTP 500, class in retryOn", raw(status(500)), on("5xx"), tried, tried},
		{"HTTP 501, class in retryOn but skipped", raw(status(501)), func(u *config.Upstream) { on("5xx")(u); skip("501")(u) }, once, once},
		{"HTTP 502", raw(status(502)), nil, once, tried},
		{"HTTP 502, retryUnsafe", raw(status(502)), unsafe, tried, tried},
		{"HTTP 502, retryOn", raw(status(502)), on("502", "5xx"), once, tried},
		{"HTTP 502, skipped", raw(status(502)), skip("502"), once, once},
		{"HTTP 502 before the request", raw(notSent(status(502))), nil, tried, tried},
		{"HTTP 503", raw(status(503)), nil, tried, tried},
		{"HTTP 503, skipped", raw(status(503)), skip("503"), once, once},
		{"HTTP 504", raw(status(504)), nil, once, tried},
		{"HTTP 504, retryUnsafe", raw(status(504)), unsafe, tried, tried},
		{"invalid arguments", raw(&RPCError{Code: -32602, Message: "no"}), on("-32602"), once, once},
		{"unknown method", raw(&RPCError{Code: -32601, Message: "no"}), unsafe, once, once},
		{"error of the server's own", raw(&RPCError{Code: -32001, Message: "busy"}), unsafe, once, once},
		{"error of the server's own, retryOn", raw(&RPCError{Code: -32001, Message: "busy"}), on("-32001"), tried, tried},
		{"code in the body of a status, retryOn", raw(&statusError{Status: 500, rpc: &RPCError{Code: -32001}}), on("-32001"), tried, tried},
		{"error that speaks of a token", raw(&RPCError{Code: -32001, Message: "Token expired"}), on("-32001"), once, once},
		{"missing credential", raw(&credentialError{message: "no token"}), unsafe, once, once},
		{"closed for good", raw(errShut), unsafe, once, once},
	} {
		for marked, want := range map[bool]int{false: c.plain, true: c.marked} {
			t.Run(fmt.Sprintf("%s/marked=%v", c.name, marked), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := layered(t, retrying(tried), func(u *config.Upstream) {
						if c.change != nil {
							c.change(u)
						}
					})
					s.mark("look", marked)
					a := &answers{errs: []error{c.err(s)}}
					r, err := s.through(context.Background(), "look", a.next)
					if err == nil || int(a.asked.Load()) != want || r.Attempts != want {
						t.Errorf("asked %d times, attempts %d, want %d; error %v", a.asked.Load(), r.Attempts, want, err)
					}
					if said := strings.Contains(err.Error(), "it was tried 3 times"); said != (want > 1) {
						t.Errorf("error %q", err)
					}
					if n := s.traffic().Retries; n != int64(want-1) {
						t.Errorf("%d retries counted", n)
					}
				})
			})
		}
	}
}

func TestNamesOfFailuresAreThoseOfTheConfig(t *testing.T) {
	if got := []string{failedConnect, failedClosed, failedTimeout, failedMalformed}; !slices.Equal(got, config.FailureNames()) {
		t.Errorf("%q, the config has %q", got, config.FailureNames())
	}
}

func TestResultOfTheToolsOwnIsNotTriedAgain(t *testing.T) {
	s := layered(t, retrying(3), func(u *config.Upstream) { u.RetryUnsafe = true })
	n := 0
	r, err := s.through(context.Background(), "look", func(context.Context) (value.Value, error) {
		n++
		return value.FromEntries([]value.Entry{{Key: "isError", Value: value.True}}), nil
	})
	if err != nil || n != 1 || r.Attempts != 1 || !r.Reply.Get("isError").Bool() {
		t.Errorf("asked %d times: %+v, %v", n, r, err)
	}
}

func TestLaterTrySucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(5))
		a := &answers{errs: []error{s.failing(status(503)), s.failing(status(429)), nil}}
		r, err := s.through(context.Background(), "look", a.next)
		if err != nil || r.Attempts != 3 || !value.Equal(r.Reply, good) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// gaps returns the times between the tries.
func (a *answers) gaps() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(a.times); i++ {
		out = append(out, a.times[i].Sub(a.times[i-1]))
	}
	return out
}

func TestDelaysGrowUpToTheirLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(6))
		a := &answers{errs: []error{s.failing(status(503))}}
		_, _ = s.through(context.Background(), "look", a.next)
		want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}
		if got := a.gaps(); !slices.Equal(got, want) {
			t.Errorf("delays %v, want %v", got, want)
		}
	})
}

func TestJitterVariesDelaysByAQuarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(40), func(u *config.Upstream) { u.Retry.Jitter, u.Retry.Backoff = true, 1 })
		a := &answers{errs: []error{s.failing(status(503))}}
		_, _ = s.through(context.Background(), "look", a.next)
		gaps := a.gaps()
		if least, most := slices.Min(gaps), slices.Max(gaps); least < 750*time.Millisecond || most > 1250*time.Millisecond || least == most {
			t.Errorf("delays from %v to %v", least, most)
		}
	})
}

func TestRetryAfterIsObeyed(t *testing.T) {
	at := func(d time.Duration) string { return time.Now().UTC().Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		name       string
		header     func() string
		jitter     bool
		tries      int
		least, max time.Duration
	}{
		{"seconds", func() string { return "4" }, false, 2, 4 * time.Second, 4010 * time.Millisecond},
		{"seconds with jitter", func() string { return "3" }, true, 2, 3 * time.Second, 5100 * time.Millisecond},
		{"date", func() string { return at(4 * time.Second) }, false, 2, 4 * time.Second, 4010 * time.Millisecond},
		{"past date", func() string { return at(-time.Hour) }, false, 2, time.Second, time.Second},
		{"nonsense", func() string { return "soon" }, false, 2, time.Second, time.Second},
		{"longer than maxDelay", func() string { return "6" }, false, 1, 0, 0},
		{"longer than a number holds", func() string { return "99999999999999999999" }, false, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := layered(t, retrying(2), func(u *config.Upstream) { u.Retry.Jitter = c.jitter })
				a := &answers{errs: []error{s.failing(status(429, "Retry-After", c.header()))}}
				_, err := s.through(context.Background(), "look", a.next)
				if says := strings.Contains(err.Error(), "(Retry-After), and mcpServers.fake.retry.maxDelayMs allows 5s"); says != (c.tries == 1) {
					t.Errorf("error %q", err)
				}
				if len(a.times) != c.tries {
					t.Fatalf("%d tries, want %d", len(a.times), c.tries)
				}
				if c.tries == 2 && (a.gaps()[0] < c.least || a.gaps()[0] > c.max) {
					t.Errorf("waited %v, want %v to %v", a.gaps()[0], c.least, c.max)
				}
			})
		})
	}
}

func TestRetryAfterBeyondTheTimeLeftEndsTheTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(2))
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		began := time.Now()
		a := &answers{errs: []error{s.failing(status(429, "Retry-After", "3"))}}
		_, err := s.through(ctx, "look", a.next)
		if time.Since(began) != 0 || len(a.times) != 1 || !strings.Contains(err.Error(), "HTTP 429") ||
			!strings.Contains(err.Error(), "wait of 3s (Retry-After), and the call has only 2s left") {
			t.Errorf("after %v, %d tries: %v", time.Since(began), len(a.times), err)
		}
	})
}

func TestCallGivenUpBetweenTriesSaysWhatTheLastOneCameTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(5))
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(1500*time.Millisecond, cancel)
		a := &answers{errs: []error{s.failing(status(503))}}
		r, err := s.through(ctx, "look", a.next)
		if !errors.Is(err, context.Canceled) || r.Attempts != 2 {
			t.Errorf("attempts %d, error %v", r.Attempts, err)
		}
		for _, want := range []string{"given up while it waited to try again", "HTTP 503", "tried 2 times", "its caller cancelled it"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	})
}

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
			if n := s.traffic().RateLimitWaits; n != int64(3*c.limit-c.atOnce) {
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
		a := &answers{errs: []error{s.failing(status(503))}}
		if r, err := s.through(context.Background(), "look", a.next); err == nil || r.Attempts != 4 {
			t.Errorf("attempts %d: %v", r.Attempts, err)
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
		if err == nil || time.Since(began) != 0 || r.Attempts != 0 || a.asked.Load() != 1 {
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

func TestCallsInFlightAreLimitedInTheOrderOfComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, func(u *config.Upstream) { u.MaxConcurrency = 2 })
		var mu sync.Mutex
		var order []int
		var now, most int
		for i := range 10 {
			go s.through(context.Background(), "look", func(context.Context) (value.Value, error) {
				mu.Lock()
				order = append(order, i)
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(time.Second + time.Duration(i)*time.Millisecond) // so that no two end together
				mu.Lock()
				now--
				mu.Unlock()
				return good, nil
			})
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if most != 2 || !slices.IsSorted(order) || len(order) != 10 {
			t.Errorf("%d at a time, order %v", most, order)
		}
	})
}

func TestCallThatWaitsToTryAgainHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(2), func(u *config.Upstream) { u.MaxConcurrency = 1 })
		failing := &answers{errs: []error{s.failing(status(503))}}
		go s.through(context.Background(), "look", failing.next)
		synctest.Wait()
		began := time.Now()
		a := &answers{errs: []error{nil}}
		_, err := s.through(context.Background(), "other", a.next)
		if err != nil || time.Since(began) != 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		time.Sleep(time.Minute) // until the first one is through
	})
}

// The order of the layers: cache, circuit breaker, retry, rate limit.
func TestLayersStandInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, caching, breaking, retrying(2), func(u *config.Upstream) {
			u.RateLimit = &config.RateLimit{Limit: 70, Period: time.Hour} // seven at once
		})
		a := &answers{errs: []error{nil}}
		for range 20 { // one request of the rate limit's seven, the others come from the cache
			if _, err := s.through(context.Background(), "look", a.next); err != nil {
				t.Fatal(err)
			}
		}
		failing := &answers{errs: []error{s.failing(status(503))}}
		for i := range 3 { // three calls of two tries each count as three failures
			if _, err := s.through(context.Background(), "find", failing.next); err == nil || errors.Is(err, errOpen) {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		if n := failing.asked.Load(); n != 6 {
			t.Errorf("the server was asked %d times, want 6", n)
		}
		if _, err := s.through(context.Background(), "find", failing.next); !errors.Is(err, errOpen) {
			t.Errorf("want the breaker before the rate limit: %v", err)
		}
		began := time.Now() // three seconds after the first request, for the delays of retry
		if _, err := s.through(context.Background(), "other", a.next); err != nil || time.Since(began) == 0 {
			t.Errorf("want all requests to count, those of further attempts too: %v", err)
		}
		if r, err := s.through(context.Background(), "look", a.next); err != nil || !r.FromCache {
			t.Errorf("want the cache before the rate limit: %+v, %v", r, err)
		}
		want := Traffic{Retries: 3, CacheHits: 20, RateLimitWaits: 1, Breakers: []Breaker{{"find", "open", 1}, {"look", "closed", 1}, {"other", "closed", 1}}}
		if got := s.traffic(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("traffic %+v, want %+v", got, want)
		}
	})
}

func TestEntryWithoutLayersHasNone(t *testing.T) {
	s := layered(t)
	if s.layers != nil {
		t.Error("layers without any setting")
	}
	r, err := s.callAs(context.Background(), "", "look", value.Undef, (&answers{errs: []error{nil}}).next)
	if err != nil || r.Attempts != 1 || r.FromCache {
		t.Errorf("%+v, %v", r, err)
	}
	s.layers.changed()
	if states := s.layers.states(); states != nil {
		t.Errorf("%v", states)
	}
}

// Settings that the config would not let pass do no harm either.
func TestSettingsWithoutNumbersDoNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, func(u *config.Upstream) {
			u.Retry = &config.Retry{}
			u.CircuitBreaker = &config.CircuitBreaker{}
			u.RateLimit = &config.RateLimit{PerTool: []config.ToolRate{{Tool: "look"}}}
			u.Cache = &config.Cache{Tools: []string{"look"}}
		})
		bad := &answers{errs: []error{s.failing(status(503))}}
		if r, err := s.through(context.Background(), "look", bad.next); err == nil || r.Attempts != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		n := &answers{errs: []error{nil}}
		for range 3 { // of a breaker that waits for no time
			if r, err := s.through(context.Background(), "look", n.next); err != nil || r.Attempts != 1 || r.FromCache {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

func TestOneCallersTroubleIsNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, breaking, func(u *config.Upstream) { u.RateLimit = &config.RateLimit{Limit: 30, Period: time.Hour} })
		failing := &answers{errs: []error{s.failing(status(503))}}
		for range 3 {
			_, _ = s.callAs(context.Background(), "alice", "look", value.Undef, failing.next)
		}
		if _, err := s.callAs(context.Background(), "alice", "look", value.Undef, failing.next); !errors.Is(err, errOpen) {
			t.Errorf("alice: %v", err)
		}
		if _, err := s.callAs(context.Background(), "alice", "other", value.Undef, failing.next); !errors.Is(err, errNoRoom) {
			t.Errorf("alice: %v", err) // three requests went out at once
		}
		for _, other := range []identity{"bob", "carol", ""} {
			a := &answers{errs: []error{nil}}
			if r, err := s.callAs(context.Background(), other, "look", value.Undef, a.next); err != nil || r.Attempts != 1 {
				t.Errorf("%q: %v", other, err)
			}
		}
		if got, want := s.traffic().Breakers, []Breaker{{"look", "closed", 3}, {"look", "open", 1}, {"other", "closed", 1}}; !slices.Equal(got, want) {
			t.Errorf("breakers %v, want %v", got, want)
		}
	})
}

// BenchmarkLayersOff is the cost of layers where none is on.
func BenchmarkLayersOff(b *testing.B) {
	s := layered(b)
	ctx := context.Background()
	next := func(context.Context) (value.Value, error) { return good, nil }
	for b.Loop() {
		_, _ = s.callAs(ctx, "", "look", value.Undef, next)
	}
}

// BenchmarkLayersOn is the cost of all layers but the cache, on the good way.
func BenchmarkLayersOn(b *testing.B) {
	s := layered(b, breaking, retrying(3), func(u *config.Upstream) {
		u.MaxConcurrency = 10
		u.RateLimit = &config.RateLimit{Limit: 1 << 30, Period: time.Second}
	})
	ctx := context.Background()
	next := func(context.Context) (value.Value, error) { return good, nil }
	for b.Loop() {
		_, _ = s.callAs(ctx, "", "look", value.Undef, next)
	}
}

// BenchmarkCacheHit is the cost of an answer from the cache.
func BenchmarkCacheHit(b *testing.B) {
	s := layered(b, caching)
	ctx := context.Background()
	args, _ := value.Parse(`{"query":"golang","page":1,"options":{"b":2,"a":1}}`)
	next := func(context.Context) (value.Value, error) { return good, nil }
	for b.Loop() {
		_, _ = s.callAs(ctx, "", "look", args, next)
	}
}

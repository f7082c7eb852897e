package policy

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// fixture is the layers of an entry, whose errors are those of the tests. In a
// bubble of synctest its times are exact.
type fixture struct{ *Layers }

func layered(t testing.TB, change ...func(*config.Upstream)) fixture {
	u := &config.Upstream{Name: "fake", Timeout: time.Minute}
	for _, f := range change {
		f(u)
	}
	l := New(Options{
		Entry: u, Log: func(*Call) *slog.Logger { return slog.New(slog.DiscardHandler) }, Counts: &Counts{}, Errors: fakeErrors{}, Classify: classify,
		Repeatable: func(context.Context, *Call, Failure) bool { return false },
	})
	t.Cleanup(l.Close)
	return fixture{l}
}

// failed is the error of a call.
type failed struct {
	Failure
	text  string
	cause error
}

func (e *failed) Error() string { return e.text }
func (e *failed) Unwrap() error { return e.cause }

func classify(err error) Failure {
	var e *failed
	if !errors.As(err, &e) {
		return Failure{}
	}
	f := e.Failure
	f.Words = e.text
	return f
}

// unavailable is tried again, broken is not.
var (
	unavailable = &failed{text: "unavailable", Failure: Failure{Names: []string{"503", "5xx"}, Retried: true, Fault: true}}
	broken      = &failed{text: "broken", Failure: Failure{Names: []string{"500", "5xx"}, Fault: true}}
)

type fakeErrors struct{}

var (
	errRateLimited = errors.New("rate limited")
	errCircuitOpen = errors.New("circuit open")
)

func (fakeErrors) Limited(c *Call, message string) error {
	return &failed{text: message + "; raise mcpServers.fake.rateLimit", cause: errRateLimited, Failure: Failure{Final: true, Silent: true}}
}

func (fakeErrors) Broken(_ *Call, message string) error {
	return &failed{text: message, cause: errCircuitOpen}
}

func (fakeErrors) Stopped(ctx context.Context, _ *Call, when string, _ error) error {
	return &failed{text: "given up " + when, cause: context.Cause(ctx), Failure: Failure{Final: true, Silent: true}}
}

func (fakeErrors) Amended(err error, words string) error {
	return &failed{text: err.Error() + words, cause: err, Failure: classify(err)}
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

// through makes a call without credentials through the layers.
func (s fixture) through(ctx context.Context, tool string, next func(context.Context) (value.Value, error)) (Reply, error) {
	return s.callAs(ctx, "", tool, value.Undef, next)
}

// callAs makes a call through the layers, of which each try is one request.
func (s fixture) callAs(ctx context.Context, caller, tool string, args value.Value, next func(context.Context) (value.Value, error)) (Reply, error) {
	c := &Call{Method: MethodCall, Name: tool, Args: args, As: &Credential{Identity: credential.Identity(caller)}}
	return s.Wrap(func(ctx context.Context, c *Call) (Reply, error) {
		release, err := s.Admit(ctx, c, true)
		if err != nil {
			return Reply{}, err
		}
		defer release()
		reply, err := next(ctx)
		return Reply{Value: reply, Sent: 1}, err
	})(ctx, c)
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

// gaps returns the times between the tries.
func (a *answers) gaps() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(a.times); i++ {
		out = append(out, a.times[i].Sub(a.times[i-1]))
	}
	return out
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
		failing := &answers{errs: []error{unavailable}}
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
		failing := &answers{errs: []error{unavailable}}
		for i := range 3 { // three calls of two tries each count as three failures
			if _, err := s.through(context.Background(), "find", failing.next); err == nil || errors.Is(err, errCircuitOpen) {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		if n := failing.asked.Load(); n != 6 {
			t.Errorf("the server was asked %d times, want 6", n)
		}
		if _, err := s.through(context.Background(), "find", failing.next); !errors.Is(err, errCircuitOpen) {
			t.Errorf("want the breaker before the rate limit: %v", err)
		}
		began := time.Now() // three seconds after the first request, for the delays of retry
		if _, err := s.through(context.Background(), "other", a.next); err != nil || time.Since(began) == 0 {
			t.Errorf("want all requests to count, those of further attempts too: %v", err)
		}
		if r, err := s.through(context.Background(), "look", a.next); err != nil || !r.Cached {
			t.Errorf("want the cache before the rate limit: %+v, %v", r, err)
		}
		if r, h, w := s.Counts.Retries.Load(), s.Counts.CacheHits.Load(), s.Counts.RateLimitWaits.Load(); r != 3 || h != 20 || w != 1 {
			t.Errorf("%d retries, %d results from the cache, %d waits", r, h, w)
		}
		if got, want := s.Breakers(), []Breaker{{"find", "open", 1}, {"look", "closed", 1}, {"other", "closed", 1}}; !slices.Equal(got, want) {
			t.Errorf("breakers %v, want %v", got, want)
		}
	})
}

func TestEntryWithoutLayersHasNone(t *testing.T) {
	s := layered(t)
	if s.Admits() || s.callers != nil {
		t.Error("layers without any setting")
	}
	r, err := s.callAs(context.Background(), "", "look", value.Undef, (&answers{errs: []error{nil}}).next)
	if err != nil || r.Sent != 1 || r.Cached {
		t.Errorf("%+v, %v", r, err)
	}
	s.DropResults()
	if states := s.Breakers(); states != nil {
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
		bad := &answers{errs: []error{unavailable}}
		if r, err := s.through(context.Background(), "look", bad.next); err == nil || r.Sent != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		n := &answers{errs: []error{nil}}
		for range 3 { // of a breaker that waits for no time
			if r, err := s.through(context.Background(), "look", n.next); err != nil || r.Sent != 1 || r.Cached {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

func TestOneCallersTroubleIsNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, breaking, func(u *config.Upstream) { u.RateLimit = &config.RateLimit{Limit: 30, Period: time.Hour} })
		failing := &answers{errs: []error{unavailable}}
		for range 3 {
			_, _ = s.callAs(context.Background(), "alice", "look", value.Undef, failing.next)
		}
		if _, err := s.callAs(context.Background(), "alice", "look", value.Undef, failing.next); !errors.Is(err, errCircuitOpen) {
			t.Errorf("alice: %v", err)
		}
		if _, err := s.callAs(context.Background(), "alice", "other", value.Undef, failing.next); !errors.Is(err, errRateLimited) {
			t.Errorf("alice: %v", err) // three requests went out at once
		}
		for _, other := range []string{"bob", "carol", ""} {
			a := &answers{errs: []error{nil}}
			if r, err := s.callAs(context.Background(), other, "look", value.Undef, a.next); err != nil || r.Sent != 1 {
				t.Errorf("%q: %v", other, err)
			}
		}
		if got, want := s.Breakers(), []Breaker{{"look", "closed", 3}, {"look", "open", 1}, {"other", "closed", 1}}; !slices.Equal(got, want) {
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

// What a call runs can be code of the embedding program, which the executor lets
// panic: the next call must be able to test the server.
func TestBreakerSurvivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, func(u *config.Upstream) {
			u.CircuitBreaker = &config.CircuitBreaker{FailureThreshold: 1, SuccessThreshold: 1, ResetTimeout: time.Minute, HalfOpenMaxCalls: 1}
		})
		call := func(next func(context.Context) (value.Value, error)) (err error, panicked bool) {
			defer func() { panicked = recover() != nil }()
			_, err = s.through(t.Context(), "look", next)
			return err, false
		}
		_, _ = call(func(context.Context) (value.Value, error) { return value.Undef, broken })
		time.Sleep(2 * time.Minute)
		if _, panicked := call(func(context.Context) (value.Value, error) { panic("boom") }); !panicked {
			t.Fatal("the breaker did not let the call through")
		}
		for range 2 {
			if err, _ := call(func(context.Context) (value.Value, error) { return value.True, nil }); err != nil {
				t.Fatalf("after the panic: %v", err)
			}
		}
		if got, want := s.Breakers(), []Breaker{{"look", "closed", 1}}; !slices.Equal(got, want) {
			t.Errorf("breakers %v, want %v", got, want)
		}
	})
}

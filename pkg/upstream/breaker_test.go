package upstream

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// callAnsweredWith makes one call that is answered with err.
func (s *server) callAnsweredWith(ctx context.Context, err error) error {
	_, got := s.through(ctx, "look", (&answers{errs: []error{err}}).next)
	return got
}

// breakerOf returns the state of the breaker of the tool look.
func (s *server) breakerOf() string {
	for _, b := range s.traffic().Breakers {
		if b.Tool == "look" {
			return b.State
		}
	}
	return "none"
}

// broken returns a server whose breaker has just opened.
func broken(t *testing.T, change ...func(*config.Upstream)) *server {
	s := layered(t, append([]func(*config.Upstream){withBreaker}, change...)...)
	for range 3 {
		_ = s.callAnsweredWith(context.Background(), s.failing(wire.EndedError("exited (code 1)")))
	}
	if state := s.breakerOf(); state != "open" {
		t.Fatalf("the breaker is %s after three failures", state)
	}
	return s
}

func TestBreakerOpensAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := broken(t)
		time.Sleep(20 * time.Second)
		a := &answers{errs: []error{nil}}
		r, err := s.through(context.Background(), "look", a.next)
		if !errors.Is(err, KindCircuitOpen) || a.asked.Load() != 0 || r.Sent != 0 {
			t.Fatalf("asked %d times, %+v, %v", a.asked.Load(), r, err)
		}
		for _, want := range []string{`tool "look"`, "circuit breaker is open after 3 failures in a row, for another 40s", "it exited (code 1)"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
		if _, err := s.through(context.Background(), "other", a.next); err != nil {
			t.Errorf("another tool of the server: %v", err)
		}
	})
}

func TestWhatCountsForTheBreaker(t *testing.T) {
	raw := func(err error) func(*server) error { return func(s *server) error { return s.failing(err) } }
	for _, c := range []struct {
		name   string
		err    func(*server) error
		counts bool
	}{
		{"closed", raw(wire.EndedError("exited")), true},
		{"no answer", raw(KindTimeout), true},
		{"not MCP", raw(wire.ErrMalformed), true},
		{"cannot be started", func(s *server) error {
			return s.newError("start", "look", "could not be started", "", errors.New("connection refused"))
		}, true},
		{"longer than maxCallTimeMs", raw(KindCallTime), true},
		{"HTTP 500", raw(status(500)), true},
		{"HTTP 503", raw(status(503)), true},
		{"HTTP 429", raw(status(429)), true},
		{"HTTP 401", raw(status(401)), false},
		{"HTTP 404", raw(status(404)), false},
		{"internal error", raw(&RPCError{Code: -32603, Message: "boom"}), true},
		{"invalid arguments", raw(&RPCError{Code: -32602, Message: "no"}), false},
		{"error of the server's own", raw(&RPCError{Code: -32050, Message: "no"}), false},
		{"answer over the limit", raw(&wire.TooLongError{Limit: 10}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := layered(t, withBreaker)
			for range 3 {
				_ = s.callAnsweredWith(context.Background(), c.err(s))
			}
			if open := s.breakerOf() == "open"; open != c.counts {
				t.Errorf("open %v, want %v", open, c.counts)
			}
		})
	}
}

func TestSuccessBetweenFailuresKeepsTheBreakerClosed(t *testing.T) {
	s := layered(t, withBreaker)
	bad := s.failing(status(503))
	for _, err := range []error{bad, bad, nil, bad, bad, nil, bad, bad} {
		_ = s.callAnsweredWith(context.Background(), err)
	}
	if state := s.breakerOf(); state != "closed" {
		t.Error(state)
	}
}

func TestCallGivenUpByItsCallerCountsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, withBreaker)
		giveUp := func() error {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(time.Second, cancel)
			_, err := s.through(ctx, "look", func(ctx context.Context) (value.Value, error) {
				<-ctx.Done()
				return value.Undef, s.requestError(ctx, "call", "look", nil, 0, context.Cause(ctx))
			})
			return err
		}
		for range 5 {
			if err := giveUp(); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if state := s.breakerOf(); state != "closed" {
			t.Errorf("%s after calls that were given up", state)
		}
		for range 3 {
			_ = s.callAnsweredWith(context.Background(), s.failing(status(503)))
		}
		time.Sleep(time.Minute)
		for range 5 { // probes that tell nothing neither close it nor use it up
			_ = giveUp()
			if state := s.breakerOf(); state != "half-open" {
				t.Fatalf("%s after a probe that was given up", state)
			}
		}
		for range 2 {
			if err := s.callAnsweredWith(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if state := s.breakerOf(); state != "closed" {
			t.Errorf("%s after two good probes", state)
		}
	})
}

func TestBreakerClosesAfterGoodProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := broken(t)
		time.Sleep(time.Minute)
		for i, want := range []string{"half-open", "closed"} {
			if err := s.callAnsweredWith(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			if state := s.breakerOf(); state != want {
				t.Errorf("%s after probe %d, want %s", state, i+1, want)
			}
		}
	})
}

func TestBadProbeOpensTheBreakerAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Room for many probes must not let it bear more failures.
		s := broken(t, func(u *config.Upstream) { u.CircuitBreaker.HalfOpenMaxCalls = 5 })
		time.Sleep(time.Minute)
		if err := s.callAnsweredWith(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		_ = s.callAnsweredWith(context.Background(), s.failing(status(503)))
		if state := s.breakerOf(); state != "open" {
			t.Errorf("%s after a bad probe", state)
		}
		time.Sleep(59 * time.Second)
		if err := s.callAnsweredWith(context.Background(), nil); !errors.Is(err, KindCircuitOpen) {
			t.Errorf("before its time: %v", err)
		}
		time.Sleep(time.Second)
		if err := s.callAnsweredWith(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestHalfOpenBreakerLetsSoManyProbesThroughAtATime(t *testing.T) {
	for _, most := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := broken(t, func(u *config.Upstream) { u.CircuitBreaker.HalfOpenMaxCalls = most })
			time.Sleep(time.Minute)
			var refused, asked atomic.Int32
			for range 6 {
				go func() {
					_, err := s.through(context.Background(), "look", func(context.Context) (value.Value, error) {
						asked.Add(1)
						time.Sleep(time.Second)
						return good, nil
					})
					if errors.Is(err, KindCircuitOpen) {
						refused.Add(1)
						if !strings.Contains(err.Error(), "until the calls that try it out have succeeded") {
							t.Error(err)
						}
					}
				}()
				synctest.Wait()
			}
			time.Sleep(2 * time.Second)
			if int(asked.Load()) != most || int(refused.Load()) != 6-most {
				t.Errorf("%d probes at a time, %d refused; want %d", asked.Load(), refused.Load(), most)
			}
		})
	}
}

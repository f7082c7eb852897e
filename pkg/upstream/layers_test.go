package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
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

func withRetry(attempts int) func(*config.Upstream) {
	return func(u *config.Upstream) {
		u.Retry = &config.Retry{MaxAttempts: attempts, InitialDelay: time.Second, MaxDelay: 5 * time.Second, Backoff: 2}
	}
}

func withBreaker(u *config.Upstream) {
	u.CircuitBreaker = &config.CircuitBreaker{FailureThreshold: 3, SuccessThreshold: 2, ResetTimeout: time.Minute, HalfOpenMaxCalls: 1}
}

// through makes a call of nobody in particular through the layers.
func (s *server) through(ctx context.Context, tool string, next func(context.Context) (value.Value, error)) (Reply, error) {
	return s.callAs(ctx, "", tool, value.Undef, next)
}

// callAs makes a call through the layers, of which each try is one request.
func (s *server) callAs(ctx context.Context, id credential.Identity, tool string, args value.Value, next func(context.Context) (value.Value, error)) (Reply, error) {
	c := &Call{Info: callinfo.None, Server: s.entry.Name, Method: policy.MethodCall, Name: tool, Args: args, As: &Credential{Identity: id}}
	return s.layers.Wrap(func(ctx context.Context, c *Call) (Reply, error) {
		release, err := s.layers.Admit(ctx, c, true)
		if err != nil {
			return Reply{}, err
		}
		defer release()
		reply, err := next(ctx)
		return Reply{Value: reply, Sent: 1}, err
	})(ctx, c)
}

// mark makes known whether the server marks the tool as one that may be repeated.
func (s *server) mark(tool string, repeatable bool) {
	slot, _ := s.acquireSlot(&Call{As: &Credential{}})
	defer s.releaseSlot(slot)
	slot.hints.known = map[string]bool{tool: repeatable}
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
	return s.requestError(context.Background(), "call", "look", nil, 0, raw)
}

func status(code int, header ...string) *wire.StatusError {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &wire.StatusError{Status: code, Header: h}
}

func TestWhatIsTriedAgain(t *testing.T) {
	notSent := func(err error) error { return errors.Join(wire.ErrNotWritten, err) }
	handshake := func(err error) func(*server) error {
		return func(s *server) error { return s.newError("handshake", "look", "the handshake failed", "", err) }
	}
	startup := func(err error) func(*server) error {
		return func(s *server) error { return s.newError("start", "look", "could not be started", "", err) }
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
		{"handshake that breaks off", handshake(wire.EndedError("exited (code 1)")), nil, tried, tried},
		{"handshake that takes too long", handshake(context.DeadlineExceeded), nil, tried, tried},
		{"handshake too long, skipped as timeout", handshake(context.DeadlineExceeded), skip("timeout"), once, once},
		{"handshake too long, skipped as connect", handshake(context.DeadlineExceeded), skip("connect"), once, once},
		{"handshake refused as unauthorized", handshake(status(401)), nil, once, once},
		{"handshake answered 502", handshake(status(502)), nil, tried, tried},
		{"handshake answered 503", handshake(status(503)), nil, tried, tried},
		{"handshake that is not MCP, retryOn", handshake(wire.ErrMalformed), on("malformed"), tried, tried},
		{"no such program", startup(&exec.Error{Name: "nope", Err: exec.ErrNotFound}), nil, once, once},
		{"connection closed before the request", raw(notSent(wire.EndedError("closed the connection"))), nil, tried, tried},
		{"timeout before the request", raw(notSent(KindTimeout)), nil, tried, tried},
		{"connection closed after the request", raw(wire.EndedError("exited (code 1)")), nil, once, tried},
		{"connection reset after the request", raw(wire.ErrLost), nil, once, tried},
		{"connection closed after the request, retryUnsafe", raw(wire.EndedError("exited")), unsafe, tried, tried},
		{"connection closed after the request, retryOn", raw(wire.EndedError("exited")), on("closed"), once, tried},
		{"connection closed after the request, skipped", raw(wire.EndedError("exited")), skip("closed"), once, once},
		{"no answer", raw(KindTimeout), nil, once, tried},
		{"no answer, skipped", raw(KindTimeout), skip("timeout"), once, once},
		{"not MCP", raw(wire.ErrMalformed), nil, once, once},
		{"not MCP, retryOn", raw(wire.ErrMalformed), on("malformed"), once, tried},
		{"not MCP, retryOn, retryUnsafe", raw(wire.ErrMalformed), func(u *config.Upstream) { on("malformed")(u); unsafe(u) }, tried, tried},
		{"too long", raw(&wire.TooLongError{Limit: 10}), unsafe, once, once},
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
		{"code in the body of a status, retryOn", raw(&wire.StatusError{Status: 500, RPC: &RPCError{Code: -32001}}), on("-32001"), tried, tried},
		{"error that speaks of a token", raw(&RPCError{Code: -32001, Message: "Token expired"}), on("-32001"), once, once},
		{"missing credential", raw(&credential.Error{Message: "no token"}), unsafe, once, once},
		{"closed for good", raw(KindPoolClosed), unsafe, once, once},
	} {
		for marked, want := range map[bool]int{false: c.plain, true: c.marked} {
			t.Run(fmt.Sprintf("%s/marked=%v", c.name, marked), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := layered(t, withRetry(tried), func(u *config.Upstream) {
						if c.change != nil {
							c.change(u)
						}
					})
					s.mark("look", marked)
					a := &answers{errs: []error{c.err(s)}}
					r, err := s.through(context.Background(), "look", a.next)
					if err == nil || int(a.asked.Load()) != want || r.Sent != want {
						t.Errorf("asked %d times, attempts %d, want %d; error %v", a.asked.Load(), r.Sent, want, err)
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

func TestResultOfTheToolsOwnIsNotTriedAgain(t *testing.T) {
	s := layered(t, withRetry(3), func(u *config.Upstream) { u.RetryUnsafe = true })
	n := 0
	r, err := s.through(context.Background(), "look", func(context.Context) (value.Value, error) {
		n++
		return value.FromEntries([]value.Entry{{Key: "isError", Value: value.True}}), nil
	})
	if err != nil || n != 1 || r.Sent != 1 || !r.Value.Get("isError").Bool() {
		t.Errorf("asked %d times: %+v, %v", n, r, err)
	}
}

// gaps returns the times between the tries.
func (a *answers) gaps() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(a.times); i++ {
		out = append(out, a.times[i].Sub(a.times[i-1]))
	}
	return out
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
				s := layered(t, withRetry(2), func(u *config.Upstream) { u.Retry.Jitter = c.jitter })
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
		s := layered(t, withRetry(2))
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
		s := layered(t, withRetry(5))
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(1500*time.Millisecond, cancel)
		a := &answers{errs: []error{s.failing(status(503))}}
		r, err := s.through(ctx, "look", a.next)
		if !errors.Is(err, context.Canceled) || r.Sent != 2 {
			t.Errorf("attempts %d, error %v", r.Sent, err)
		}
		for _, want := range []string{"given up while it waited to try again", "HTTP 503", "tried 2 times", "its caller cancelled it"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	})
}

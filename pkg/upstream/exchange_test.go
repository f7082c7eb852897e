package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// intercepted returns a pool whose server fake must not be reached.
func intercepted(t testing.TB, f Intercept, change ...func(*config.Upstream)) *Pool {
	t.Helper()
	u := &config.Upstream{
		Name: "fake", Transport: config.Stdio, Command: "/nonexistent/server",
		ConnectTimeout: testTimeout, Timeout: testTimeout, MaxMessageBytes: 1000,
	}
	for _, c := range change {
		c(u)
	}
	return start(t, Options{Intercept: f, Dial: func(context.Context, *config.Upstream) (io.ReadWriteCloser, error) {
		t.Error("the server was started")
		return nil, errors.New("no")
	}}, u)
}

func onURL(u *config.Upstream) {
	u.Command, u.Transport, u.URL = "", config.HTTP, "http://127.0.0.1:1/mcp"
}

// callLook calls the tool look of the server fake.
func callLook(ctx context.Context, p *Pool) (Reply, error) {
	return p.CallTool(ctx, nil, "fake", "look", value.FromEntries([]value.Entry{{Key: "q", Value: value.True}}))
}

func TestFailuresByNameAreTakenForRealOnes(t *testing.T) {
	const once, tried = 1, 3
	for _, c := range []struct {
		failure    Failure
		tries      int // of a tool that is not marked
		repeatable int // of one that is
		attempts   int // 0: as many as tries
		name, code string
		says       string
	}{
		{Failure{Name: "connect"}, tried, tried, 0, "connect", "", "connection refused"},
		{Failure{Name: "connect", Final: true}, once, once, 0, "connect", "", ""},
		{Failure{Name: "closed"}, once, tried, 0, "closed", "", "closed the connection before it had answered"},
		{Failure{Name: "timeout"}, once, tried, 0, "timeout", "", "no answer and no progress"},
		{Failure{Name: "timeout", Final: true}, once, once, 0, "timeout", "", "it took longer than"},
		{Failure{Name: "malformed"}, once, once, 0, "malformed", "", "not JSON-RPC"},
		{Failure{Name: "unauthorized"}, once, once, -1, "unauthorized", "", "credential"},
		{Failure{Name: "busy"}, once, once, -1, "busy", "", "rate limit exceeded"},
		{Failure{Name: "protocol"}, once, once, 0, "protocol", "", "longer than 1000 bytes"},
		{Failure{Name: "503"}, tried, tried, 0, "protocol", "503", "HTTP 503 Service Unavailable"},
		{Failure{Name: "503", RetryAfter: time.Hour}, once, once, 0, "protocol", "503", "Retry-After: 3600"},
		{Failure{Name: "429"}, tried, tried, 0, "protocol", "429", "HTTP 429"},
		{Failure{Name: "502"}, once, tried, 0, "protocol", "502", "HTTP 502"},
		{Failure{Name: "500"}, once, once, 0, "protocol", "500", "HTTP 500"},
		{Failure{Name: "401"}, once, once, 0, "unauthorized", "401", "HTTP 401"},
		{Failure{Name: "-32001"}, once, once, 0, "protocol", "-32001", "JSON-RPC error -32001"},
		{Failure{Name: "-32602", Message: "no such thing"}, once, once, 0, "protocol", "-32602", "no such thing"},
		{Failure{Name: "nonsense"}, once, once, -1, "", "", `no failure has the name "nonsense"`},
	} {
		for _, marked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", c.failure.Error(), marked), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n, want := 0, c.tries
					p := intercepted(t, func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
						n++
						return value.Undef, &c.failure
					}, withRetry(3), onURL)
					if marked {
						want = c.repeatable
						p.servers["fake"].repeatable = func(tool string) bool { return tool == "look" }
					}
					r, err := callLook(t.Context(), p)
					attempts := want
					if c.attempts != 0 {
						attempts = 0
					}
					if n != want || r.Sent != attempts {
						t.Errorf("%d tries, %d attempts counted; want %d, %d", n, r.Sent, want, attempts)
					}
					var e *Error
					if !errors.As(err, &e) || !strings.Contains(err.Error(), c.says) || e.Server != "fake" || e.Tool != "look" {
						t.Fatalf("error %#v", err)
					}
					if c.name != "" && (e.FailureName() != c.name || e.FailureCode() != c.code) {
						t.Errorf("failure %q %q", e.FailureName(), e.FailureCode())
					}
				})
			})
		}
	}
}

// Failures of real servers, written down and returned by an Intercept, are the same.
func TestRealFailuresComeAgainByTheirNames(t *testing.T) {
	answer := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	onCall := func(h http.Handler) http.Handler {
		served := &mcptest.Web{}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			if strings.Contains(string(body), "tools/call") {
				h.ServeHTTP(w, r)
				return
			}
			served.ServeHTTP(w, r)
		})
	}
	for name, h := range map[string]http.Handler{
		"503":         onCall(answer(503, "later", "Retry-After", "7")),
		"502":         onCall(answer(502, "")),
		"500":         onCall(answer(500, "oh")),
		"403":         onCall(answer(403, "not you")),
		"401":         onCall(answer(401, "who?")),
		"no JSON":     onCall(answer(200, "{{{", "Content-Type", "application/json")),
		"no MCP":      onCall(answer(200, "<html>", "Content-Type", "text/html")),
		"never there": answer(404, "nothing"),
		"breaks off": onCall(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			conn.Close()
		})),
		"code": onCall(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			body, _ := io.ReadAll(r.Body)
			m, _ := value.Parse(string(body))
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"not now"}}`, m.Get("id").JSON())
		})),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := callLook(t.Context(), virtualWeb(t, config.HTTP, h))
				var was, now *Error
				f, ok := FailureOf(err)
				if !errors.As(err, &was) || !ok || CheckFailureName(f.Name) != nil {
					t.Fatalf("failure %v of %v", f, err)
				}
				_, err = callLook(t.Context(), intercepted(t, func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
					return value.Undef, f
				}, onURL))
				if !errors.As(err, &now) || now.Message != was.Message || now.FailureName() != was.FailureName() ||
					now.FailureCode() != was.FailureCode() || now.RetryAfter() != was.RetryAfter() {
					t.Errorf("%#v\nwas %#v", now, was)
				}
				a, b := policyFailure(was), policyFailure(now)
				if a.Unknown = b.Unknown && a.Unknown; !reflect.DeepEqual(a, b) {
					t.Errorf("%+v\nwas %+v", b, a)
				}
			})
		})
	}
}

func TestFailureNames(t *testing.T) {
	for _, good := range append(FailureNames(), "400", "599", "-1", "-32603") {
		if err := CheckFailureName(good); err != nil {
			t.Error(err)
		}
	}
	for bad, says := range map[string]string{
		"timeot": `did you mean "timeout"?`, "5xx": "expected", "200": "expected", "600": "expected",
		"0503": "expected", "": "expected", "cancelled": "expected", "+5": "expected",
	} {
		if err := CheckFailureName(bad); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, err := range []error{nil, errors.New("other")} {
		if f, ok := FailureOf(err); ok {
			t.Errorf("%v of %v", f, err)
		}
	}
}

func TestPoliciesActOnAnIntercept(t *testing.T) {
	t.Run("cache", func(t *testing.T) {
		n := 0
		p := intercepted(t, func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
			n++
			return good, nil
		}, func(u *config.Upstream) {
			u.Cache = &config.Cache{TTL: time.Hour, MaxEntries: 10, Tools: []string{"*"}}
		})
		for want, from := range []bool{false, true} {
			if r, err := callLook(t.Context(), p); err != nil || r.Cached != from || n != 1 {
				t.Errorf("call %d: %+v, %v; %d exchanges", want, r, err, n)
			}
		}
	})
	t.Run("circuit breaker", func(t *testing.T) {
		n := 0
		p := intercepted(t, func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
			n++
			return value.Undef, &Failure{Name: "connect"}
		}, withBreaker)
		for range 5 {
			_, _ = callLook(t.Context(), p)
		}
		var e *Error
		if _, err := callLook(t.Context(), p); n != 3 || !errors.As(err, &e) || e.FailureName() != failedBusy {
			t.Errorf("%d exchanges, %v", n, err)
		}
	})
	t.Run("rate limit and slots", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var now, most atomic.Int32
			p := intercepted(t, func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Second)
				now.Add(-1)
				return good, nil
			}, func(u *config.Upstream) { u.MaxConcurrency = 2 })
			began := time.Now()
			done := make(chan error)
			for range 6 {
				go func() {
					_, err := callLook(t.Context(), p)
					done <- err
				}()
			}
			for range 6 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if took := time.Since(began); most.Load() != 2 || took != 3*time.Second {
				t.Errorf("%d at once, %v", most.Load(), took)
			}
		})
	})
	t.Run("another error", func(t *testing.T) {
		n, mine := 0, errors.New("not in the list")
		p := intercepted(t, func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
			n++
			return value.Undef, mine
		}, withRetry(3), withBreaker, func(u *config.Upstream) { u.RetryUnsafe = true })
		for range 4 { // the breaker stays closed
			if r, err := callLook(t.Context(), p); !errors.Is(err, mine) || err.Error() != mine.Error() || r.Sent != 0 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if n != 4 {
			t.Errorf("%d exchanges", n)
		}
	})
	t.Run("no object", func(t *testing.T) {
		p := intercepted(t, func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
			return value.FromString("hi"), nil
		})
		var e *Error
		if _, err := callLook(t.Context(), p); !errors.As(err, &e) || e.FailureName() != failedMalformed {
			t.Error(err)
		}
	})
	t.Run("given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := intercepted(t, func(ctx context.Context, _ Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
			cancel()
			<-ctx.Done()
			return value.Undef, ctx.Err()
		}, withRetry(3))
		var e *Error
		_, err := callLook(ctx, p)
		if !errors.As(err, &e) || e.FailureName() != failedCancelled {
			t.Error(err)
		}
		if f, ok := FailureOf(err); ok {
			t.Errorf("%v is no failure of a server", f)
		}
	})
	t.Run("call time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := intercepted(t, func(ctx context.Context, _ Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
				<-ctx.Done()
				return value.Undef, context.Cause(ctx)
			}, func(u *config.Upstream) { u.MaxCallTime = time.Second })
			_, err := callLook(t.Context(), p)
			if f, ok := FailureOf(err); !ok || f.Name != failedTimeout || !f.Final {
				t.Errorf("%v of %v", f, err)
			}
		})
	})
}

func TestInterceptWithoutNextNeedsNoCredential(t *testing.T) {
	saw := value.Undef
	p := intercepted(t, func(_ context.Context, x Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
		saw = x.Args
		return value.FromEntries([]value.Entry{
			{Key: "isError", Value: value.True},
			{Key: "content", Value: value.FromArray([]value.Value{value.FromString("refused Bearer sesame")})},
		}), nil
	}, onURL, func(u *config.Upstream) {
		u.Auth = &config.Auth{Type: config.AuthBearer, TokenCommand: []string{"/nonexistent/token"}}
		u.ForwardHeaders = []config.Forward{{From: "X-Key", To: "X-Key", Required: true}, {From: "X-More", To: "X-More"}}
	})
	info := &callinfo.Info{Header: http.Header{"X-More": {"sesame"}}}
	r, err := p.CallTool(t.Context(), info, "fake", "look", value.FromEntries(nil))
	if err != nil || strings.Contains(r.Value.JSON(), "sesame") || saw.JSON() != "{}" {
		t.Errorf("%s, %v; arguments %s", r.Value.JSON(), err, saw.JSON())
	}
}

func TestCallersDoNotShareWhatAnInterceptReturns(t *testing.T) {
	for name, change := range map[string]func(*config.Upstream){
		"headers": func(u *config.Upstream) { u.ForwardHeaders = []config.Forward{{From: "X-Key", To: "X-Key"}} },
		"exchange": func(u *config.Upstream) {
			u.Auth = &config.Auth{Type: config.AuthTokenExchange, From: "X-Key", TokenURL: "http://127.0.0.1:1/token"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := intercepted(t, func(_ context.Context, x Exchange, _ func(context.Context) (value.Value, error)) (value.Value, error) {
				return value.FromEntries([]value.Entry{{Key: "who", Value: value.FromString(x.Info.Header.Get("X-Key"))}}), nil
			}, onURL, change, func(u *config.Upstream) {
				u.Cache = &config.Cache{TTL: time.Hour, MaxEntries: 10, Tools: []string{"*"}}
			})
			for i, who := range []string{"alice", "bob", "alice", "a\nb", "c\nd"} {
				r, err := p.CallTool(t.Context(), &callinfo.Info{Header: http.Header{"X-Key": {who}}}, "fake", "look", value.Undef)
				if err != nil || r.Value.Get("who").Str() != who || r.Cached != (i == 2) {
					t.Errorf("%q got %s, %v", who, r.Value.JSON(), err)
				}
			}
		})
	}
}

// An Intercept that only looks on changes nothing.
func TestNextMakesTheExchange(t *testing.T) {
	var seen []Exchange
	looking := func(ctx context.Context, x Exchange, next func(context.Context) (value.Value, error)) (value.Value, error) {
		seen = append(seen, x)
		return next(ctx)
	}
	u := child(mcptest.Script{ReadOnly: []string{"echo"}})
	u.MaxConcurrency, u.RateLimit = 1, nil
	p := start(t, Options{Intercept: looking}, u)
	args, _ := value.Parse(`{"text":"hi"}`)
	r, err := p.CallTool(t.Context(), nil, u.Name, "echo", args)
	plain, err2 := start(t, Options{}, child(mcptest.Script{})).CallTool(t.Context(), nil, u.Name, "echo", args)
	if err != nil || err2 != nil || r.Value.JSON() != plain.Value.JSON() || r.Sent != 1 {
		t.Errorf("%+v, %v; without it %+v, %v", r, err, plain, err2)
	}
	if len(seen) != 1 || seen[0].Server != u.Name || seen[0].Tool != "echo" || seen[0].Args.JSON() != args.JSON() || seen[0].Info == nil {
		t.Errorf("saw %+v", seen)
	}
	_, err = start(t, Options{Intercept: looking}, &config.Upstream{
		Name: "none", Command: "/nonexistent/server", Transport: config.Stdio,
	}).CallTool(t.Context(), nil, "none", "echo", args)
	if f, ok := FailureOf(err); !ok || f.Name != failedConnect || !f.Final {
		t.Errorf("%v of %v", f, err)
	}
}

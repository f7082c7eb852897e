package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// instead serves requests of a method by f, and all others by h.
func instead(method string, f http.HandlerFunc, h http.Handler) (http.Handler, *atomic.Int32) {
	var count atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct{ Method string }
		if _ = json.Unmarshal(body, &m); m.Method == method {
			count.Add(1)
			f(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}), &count
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for r.Context().Err() == nil {
		fmt.Fprint(w, " ")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

func byUser(u *config.Upstream) {
	u.ForwardHeaders = []config.Forward{{From: "X-User", To: "X-User"}}
}

func callAs(p *Pool, user string) error {
	ctx := withInfo(context.Background(), &callinfo.Info{Header: http.Header{"X-User": {user}}})
	_, err := p.CallTool(ctx, nil, "fake", "echo", value.Undef)
	return err
}

// A server of the older era, or a proxy before it, may do anything with
// server/discover.
func TestServerThatDoesNotAnswerDiscoverIsOfTheOlderEra(t *testing.T) {
	t.Parallel()
	for name, discover := range map[string]http.HandlerFunc{
		"hangs": hang,
		"drips": drip,
		"drips events": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				fmt.Fprint(w, ": keep-alive\n\n")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		},
		"progress without end": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				fmt.Fprint(w, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}}`+"\n\n")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		},
		"resets": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			conn.Close()
		},
		"is over-long": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"x":%q}}`, strings.Repeat("x", 2<<20))
		},
		"ends an empty stream": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") },
		"accepts":              func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
		"is a gateway": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "upstream timed out", http.StatusGatewayTimeout)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &mcptest.Web{}
				h, asked := instead("server/discover", discover, w)
				p := virtualWeb(t, config.HTTP, h, byUser, small)
				began := time.Now()
				for _, user := range []string{"ada", "bob"} {
					if err := callAs(p, user); err != nil {
						t.Fatal(err)
					}
				}
				w.Forget()
				if err := callAs(p, "ada"); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > discoverTimeout+2*discoverGrace {
					t.Errorf("it took %v", took)
				}
				if n := asked.Load(); n != 1 {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

func TestManyCallersFindOutTheEraOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, asked := instead("server/discover", hang, &mcptest.Web{})
		p := virtualWeb(t, config.HTTP, h, byUser)
		began := time.Now()
		var wait sync.WaitGroup
		for user := range 50 {
			wait.Go(func() {
				if err := callAs(p, fmt.Sprint(user)); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n, took := asked.Load(), time.Since(began); n != 1 || took > discoverTimeout+2*discoverGrace {
			t.Errorf("asked %d times within %v", n, took)
		}
	})
}

// A caller that gets nowhere takes nothing from the others: neither what was
// found out, nor time.
func TestCallerThatIsRefusedUnlearnsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, asked := instead("server/discover", hang, &mcptest.Web{})
		guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.Header.Get("X-User") {
			case "mallory":
				http.Error(w, "who are you?", http.StatusForbidden)
			case "sloth":
				_, _ = io.Copy(io.Discard, r.Body)
				hang(w, r)
			default:
				h.ServeHTTP(w, r)
			}
		})
		p := virtualWeb(t, config.HTTP, guarded, byUser)
		slow := make(chan error)
		go func() { slow <- callAs(p, "sloth") }()
		synctest.Wait()
		began := time.Now()
		if err := callAs(p, "ada"); err != nil || time.Since(began) > 4*discoverTimeout {
			t.Fatal(err, time.Since(began))
		}
		if err := callAs(p, "mallory"); err == nil {
			t.Fatal("mallory was admitted")
		}
		if err := callAs(p, "bob"); err != nil {
			t.Fatal(err)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if err := <-slow; err == nil {
			t.Error("sloth was answered")
		}
	})
}

func TestSlowServerOfTheNewerEraIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &mcptest.Web{Modern: true}
		h, asked := instead("server/discover", func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * discoverTimeout)
			w.ServeHTTP(rw, r)
		}, w)
		p := virtualWeb(t, config.HTTP, h)
		mustCall(t, p, "echo", `{}`)
		if got := era(p.servers["fake"].era.Load()); got != eraModern || asked.Load() != 1 {
			t.Errorf("era %d, asked %d times", got, asked.Load())
		}
	})
}

// A server whose successor ignores the handshake that it knew is found again.
func TestEraIsFoundOutAnewWhereItTurnsOutWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		older := &mcptest.Web{}
		newer, _ := instead("initialize", hang, &mcptest.Web{Modern: true})
		var current atomic.Pointer[http.Handler]
		serve := func(h http.Handler) { current.Store(&h) }
		serve(older)
		p := virtualWeb(t, config.HTTP, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) }),
			func(u *config.Upstream) { u.ConnectTimeout = 20 * time.Second })
		mustCall(t, p, "echo", `{}`)
		older.Forget()
		serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Session-Id") != "" {
				http.Error(w, "no such session", http.StatusNotFound)
				return
			}
			newer.ServeHTTP(w, r)
		}))
		if e := mustFail(t, p, "echo", `{}`); !strings.Contains(e.Error(), "did not complete the handshake within 20s") {
			t.Error(e)
		}
		mustCall(t, p, "echo", `{}`)
	})
}

// olderHTTP serves HTTP+SSE, and answers POSTs to the stream's own address with
// the status.
func olderHTTP(status int) (http.Handler, *atomic.Int32) {
	s := &sseServer{}
	var refused atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/mcp" {
			refused.Add(1)
			http.Error(w, "refused", status)
			return
		}
		s.ServeHTTP(w, r)
	}), &refused
}

func untyped(u *config.Upstream) { u.MayBeSSE = true }

func TestAddressWithoutATypeFallsBackToSSE(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 404, 405, 406, 415} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, refused := olderHTTP(status)
				p := virtualWeb(t, config.HTTP, h, untyped, byUser)
				for _, user := range []string{"ada", "bob", "ada"} {
					if err := callAs(p, user); err != nil {
						t.Fatal(err)
					}
				}
				if n := refused.Load(); n != 2 { // server/discover and initialize
					t.Errorf("%d requests were refused", n)
				}
				if got := p.Stats()[0].Transport; got != config.SSE {
					t.Errorf("the transport is %q", got)
				}
			})
		})
	}
	for _, status := range []int{401, 403, 407, 429, 500, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, _ := olderHTTP(status)
				if e := mustFail(t, virtualWeb(t, config.HTTP, h, untyped), "echo", `{}`); !strings.Contains(e.Error(), fmt.Sprint("HTTP ", status)) {
					t.Error(e)
				}
			})
		})
	}
	t.Run("with a type", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h, _ := olderHTTP(404)
			if e := mustFail(t, virtualWeb(t, config.HTTP, h), "echo", `{}`); !strings.Contains(e.Error(), "mcpServers.fake.type") {
				t.Error(e)
			}
		})
	})
}

func TestNeitherKindOfHTTPIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"no page": {http.NotFound, "it answered HTTP 404 Not Found: \"404 page not found\"; as HTTP+SSE it failed too: HTTP 404"},
		"a stream of something else": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.NotFound(w, r)
				return
			}
			drip(&eventWriter{w}, r)
		}, `as HTTP+SSE it failed too: no event "endpoint" came in time`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				if e := mustFail(t, virtualWeb(t, config.HTTP, c.h, untyped), "echo", `{}`); !strings.Contains(e.Error(), c.want) {
					t.Error(e)
				}
				if took := time.Since(began); took > discoverTimeout+2*discoverGrace {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// eventWriter says that what it writes is a stream of events.
type eventWriter struct{ http.ResponseWriter }

func (w *eventWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
func (w *eventWriter) Write(p []byte) (int, error) {
	w.Header().Set("Content-Type", "text/event-stream")
	return w.ResponseWriter.Write(p)
}

// mcpgraph probes again where one kind of server takes the place of
// the other.
func TestServerThatMovesFromSSEToHTTPIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		older := &sseServer{}
		var current atomic.Pointer[http.Handler]
		serve := func(h http.Handler) { current.Store(&h) }
		refusing := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.URL.Path == "/mcp" {
				http.Error(w, "", http.StatusMethodNotAllowed)
				return
			}
			older.ServeHTTP(w, r)
		}))
		serve(refusing)
		p := virtualWeb(t, config.HTTP, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) }), untyped)
		mustCall(t, p, "echo", `{}`)
		newer := &mcptest.Web{}
		serve(newer)
		older.mu.Lock()
		older.cut[0]()
		older.mu.Unlock()
		synctest.Wait()
		mustCall(t, p, "echo", `{}`)
		if got := p.Stats()[0].Transport; got != config.HTTP {
			t.Errorf("the transport is %q", got)
		}
		serve(refusing)
		newer.Forget()
		mustFail(t, p, "echo", `{}`)
	})
}

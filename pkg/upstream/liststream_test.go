package upstream

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// What changes while the stream that announces it is closed is lost, so all lists count
// as changed when the stream is open again.
func TestReopenedStreamChangesLists(t *testing.T) {
	t.Parallel()
	for name, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &mcptest.Web{Script: offering(), Modern: modern, Events: true}
			s := httptest.NewServer(w)
			t.Cleanup(s.Close)
			p := start(t, Options{}, &config.Upstream{
				Name: "fake", Transport: config.HTTP, URL: s.URL, ConnectTimeout: testTimeout,
				Cache: &config.Cache{TTL: time.Hour, MaxEntries: 10, Tools: []string{"echo"}},
			})
			changes := make(chan ListChange, 1000)
			p.WatchLists(func(c ListChange) { changes <- c })
			echoes := func() float64 {
				mustCall(t, p, "echo", `{}`)
				return mustCall(t, p, "calls", `{}`).Get("structuredContent").Get("echo").Float()
			}
			if n := echoes() + echoes(); n != 2 {
				t.Fatalf("nothing is cached: %v", n)
			}
			if modern {
				eventually(t, "a stream", func() bool { return w.Streams() > 0 })
			} else {
				eventually(t, "a stream", func() bool {
					w.Notify("notifications/prompts/list_changed", map[string]any{})
					return len(changes) > 0
				})
				for c := range changes {
					if c.Resources {
						t.Errorf("the first stream counts as a change: %+v", c)
					}
					if len(changes) == 0 {
						break
					}
				}
			}
			s.CloseClientConnections()
			for c := <-changes; c != (ListChange{"fake", true, true}); c = <-changes {
				if modern || c.Resources { // else it is one of those of the first stream
					t.Errorf("%+v", c)
				}
			}
			if n := echoes(); !modern && n != 2 { // that of 2026-07-28 announces no changes of tools
				t.Errorf("a result of a tool that may be another one is kept: %v calls", n)
			}
			if n := w.Sessions(); n > 1 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

// A server that was busy once is asked again; one that takes the stream away for good has
// lists that are not known any more.
func TestStreamThatIsRefusedLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		modern bool
		code   int
		again  bool
	}{
		"busy": {true, -32000, true}, "another version": {true, -32601, false}, "no GET any more": {false, http.StatusMethodNotAllowed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &mcptest.Web{Script: offering(), Modern: c.modern, Events: true}
			var streams atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				isStream := r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen"
				switch {
				case !isStream || streams.Add(1) != 2:
					w.ServeHTTP(rw, r)
				case c.modern:
					rw.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"no"}}`, c.code)
				default:
					http.Error(rw, "no", c.code)
				}
			}))
			t.Cleanup(s.Close)
			p := start(t, Options{}, &config.Upstream{Name: "fake", Transport: config.HTTP, URL: s.URL, ConnectTimeout: testTimeout})
			changes := make(chan ListChange, 1000)
			p.WatchLists(func(c ListChange) { changes <- c })
			mustCall(t, p, "echo", `{}`)
			if c.modern {
				eventually(t, "a stream", func() bool { return w.Streams() > 0 })
			} else {
				eventually(t, "a stream", func() bool {
					w.Notify("notifications/prompts/list_changed", map[string]any{})
					return len(changes) > 0
				})
			}
			s.CloseClientConnections()
			eventually(t, "the change", func() bool { return <-changes == ListChange{"fake", true, true} })
			if n := streams.Load(); c.again != (n > 2) {
				t.Errorf("%d streams", n)
			}
		})
	}
}

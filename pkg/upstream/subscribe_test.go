package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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

// updates counts the calls of a subscriber.
type updates struct{ atomic.Int64 }

func (u *updates) updated() { u.Add(1) }

func (u *updates) await(t testing.TB, n int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d updates", n), func() bool { return u.Load() >= n })
}

func subscribe(t testing.TB, p *Pool, uri string, u *updates) (stop func()) {
	t.Helper()
	stop, err := p.Subscribe(context.Background(), nil, "fake", uri, u.updated)
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// subscribedTo returns what the server of the pool knows as subscribed.
func subscribedTo(t testing.TB, p *Pool) []string {
	t.Helper()
	var uris []string
	for _, uri := range mustCall(t, p, "subscribed", `{}`).Get("structuredContent").Get("uris").Elems() {
		uris = append(uris, uri.Str())
	}
	return uris
}

func TestEveryTransportTellsOfChanges(t *testing.T) {
	t.Parallel()
	everyTransport(t, offering(), func(t *testing.T, u *config.Upstream) {
		p := start(t, Options{}, u)
		var one, same, two updates
		stopOne := subscribe(t, p, "doc://1", &one)
		stopSame := subscribe(t, p, "doc://1", &same)
		stopTwo := subscribe(t, p, "doc://2", &two)
		mustCall(t, p, "touch", `{"text":"doc://1"}`)
		one.await(t, 1)
		same.await(t, 1)
		if n := two.Load(); n != 0 {
			t.Errorf("%d updates of another resource", n)
		}
		counts := mustCall(t, p, "calls", `{}`).Get("structuredContent")
		if n := counts.Get("resources/subscribe").Float() + counts.Get("subscriptions/listen").Float(); n > 3 { // one is for lists
			t.Errorf("subscribed %v times", n)
		}
		stopOne()
		stopOne()
		if got := subscribedTo(t, p); !slices.Equal(got, []string{"doc://1", "doc://2"}) {
			t.Error(got)
		}
		stopSame()
		eventually(t, "the end of the first", func() bool { return slices.Equal(subscribedTo(t, p), []string{"doc://2"}) })
		before := one.Load()
		mustCall(t, p, "touch", `{"text":"doc://1"}`)
		mustCall(t, p, "touch", `{"text":"doc://2"}`)
		two.await(t, 1)
		if one.Load() != before {
			t.Error("an update after the end")
		}
		stopTwo()
		eventually(t, "the end of all", func() bool { return len(subscribedTo(t, p)) == 0 })
		subscribe(t, p, "doc://1", &one)
		mustCall(t, p, "touch", `{"text":"doc://1"}`)
		one.await(t, before+1)
	})
}

// A part of a resource that changes is a change of the resource.
func TestChangeOfAPartIsAChange(t *testing.T) {
	t.Parallel()
	p := start(t, Options{Dial: dialScript(offering())}, &config.Upstream{Name: "fake"})
	var above, beside, last updates
	subscribe(t, p, "doc://a/b", &above)
	subscribe(t, p, "doc://a/bc", &beside)
	subscribe(t, p, "doc://end", &last)
	for _, uri := range []string{"doc://a/b/c", "doc://a/b?q", "doc://a/b#f", "doc://a/", "", strings.Repeat("/", 1<<20)} {
		mustCall(t, p, "notify", `{"method":"notifications/resources/updated","result":{"uri":"`+uri+`"}}`)
	}
	mustCall(t, p, "notify", `{"method":"notifications/resources/updated","result":{"uri":7}}`)
	mustCall(t, p, "notify", `{"method":"notifications/resources/updated","result":{"uri":"doc://end"}}`)
	last.await(t, 1)
	above.await(t, 1)
	if n := beside.Load(); n != 0 {
		t.Errorf("%d updates of what has only the same beginning", n)
	}
}

func TestSubscriptionsOutliveTheProcessOfTheirServer(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(offering()))
	var one, two updates
	subscribe(t, p, "doc://1", &one)
	stop := subscribe(t, p, "doc://2", &two)
	for round := int64(1); round <= 2; round++ {
		mustFail(t, p, "exit", `{"code":1}`)
		one.await(t, 2*round-1)
		eventually(t, "both subscriptions", func() bool { return slices.Equal(subscribedTo(t, p), []string{"doc://1", "doc://2"}) })
		mustCall(t, p, "touch", `{"text":"doc://1"}`)
		one.await(t, 2*round)
	}
	two.await(t, 2)
	if n := one.Load(); n != 4 {
		t.Errorf("%d updates, want one for each new process and each change", n)
	}
	stop()
	eventually(t, "the end of one", func() bool { return slices.Equal(subscribedTo(t, p), []string{"doc://1"}) })
}

// A server over HTTP that forgets sessions, breaks streams, or both.
func TestSubscriptionsOutliveConnections(t *testing.T) {
	t.Parallel()
	for name, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &mcptest.Web{Script: offering(), Modern: modern, Events: true}
			s := httptest.NewServer(w)
			t.Cleanup(s.Close)
			p := start(t, Options{}, &config.Upstream{Name: "fake", Transport: config.HTTP, URL: s.URL, ConnectTimeout: testTimeout})
			var one updates
			subscribe(t, p, "doc://1", &one)
			seen := int64(0)
			for _, breakIt := range []func(){s.CloseClientConnections, func() { w.Forget(); s.CloseClientConnections() }} {
				breakIt()
				one.await(t, seen+1) // nobody calls anything meanwhile
				seen = one.Load()
				eventually(t, "a stream", func() bool {
					w.Touch("doc://1")
					return one.Load() > seen
				})
				seen = one.Load()
				if got := w.Subscribed(); !slices.Equal(got, []string{"doc://1"}) {
					t.Error(got)
				}
			}
		})
	}
}

// A server may take the stream away and still know the session: then subscriptions go on
// with another session. One that only has not noticed the end of the stream is asked again.
func TestSubscriptionsOutliveTheirStream(t *testing.T) {
	t.Parallel()
	for status, sessions := range map[int]int{http.StatusBadRequest: 2, http.StatusUnauthorized: 2, http.StatusConflict: 1} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			w := &mcptest.Web{Script: offering(), Events: true}
			var streams atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && streams.Add(1) == 2 {
					http.Error(rw, "no", status)
					return
				}
				w.ServeHTTP(rw, r)
			}))
			t.Cleanup(s.Close)
			p := start(t, Options{}, &config.Upstream{Name: "fake", Transport: config.HTTP, URL: s.URL, ConnectTimeout: testTimeout})
			var one updates
			subscribe(t, p, "doc://1", &one)
			s.CloseClientConnections()
			one.await(t, 1)
			seen := one.Load()
			eventually(t, "an update", func() bool {
				w.Touch("doc://1")
				return one.Load() > seen
			})
			if n := w.Sessions(); n != sessions {
				t.Errorf("%d sessions, want %d", n, sessions)
			}
		})
	}
}

func TestServerThatIsGoneIsNotAskedInALoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var dials []time.Time
		gone := false
		var conn interface{ Close() error }
		p := New([]*config.Upstream{{Name: "fake", URL: "memory"}}, Options{Dial: func(ctx context.Context, u *config.Upstream) (c io.ReadWriteCloser, err error) {
			mu.Lock()
			defer mu.Unlock()
			dials = append(dials, time.Now())
			if gone {
				return nil, errors.New("there is nobody")
			}
			c, err = offering().Dial(ctx)
			conn = c
			return c, err
		}})
		var u updates
		for i := range 50 {
			subscribe(t, p, fmt.Sprintf("doc://%d", i), &u)
		}
		mu.Lock()
		gone, dials = true, nil
		mu.Unlock()
		conn.Close()
		time.Sleep(10 * time.Minute)
		mu.Lock()
		if n := len(dials); n < 15 || n > 30 {
			t.Errorf("asked %d times in 10 minutes: %v", n, dials)
		}
		gone = false
		mu.Unlock()
		if n := u.Load(); n != 0 {
			t.Errorf("%d updates", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := u.Load(); n != 50 {
			t.Errorf("%d updates after it is there again, want one for each", n)
		}
		// A new subscription does not wait for the others.
		mu.Lock()
		gone = true
		mu.Unlock()
		conn.Close()
		time.Sleep(5 * time.Minute)
		began := time.Now()
		if _, err := p.Subscribe(t.Context(), nil, "fake", "doc://new", u.updated); err == nil || !strings.Contains(err.Error(), "there is nobody") || time.Since(began) > time.Second {
			t.Error(err, time.Since(began))
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A server that does not answer the end of subscriptions holds up the next one for a
// moment only.
func TestServerThatHangsAtTheEndOfSubscriptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := virtualPipe(t, offering(func(s *mcptest.Script) { s.Mute = []string{"resources/unsubscribe"} }))
		var u updates
		var stops []func()
		for i := range 100 {
			stops = append(stops, subscribe(t, p, fmt.Sprintf("doc://%d", i), &u))
		}
		for _, stop := range stops {
			stop()
		}
		synctest.Wait()
		began := time.Now()
		subscribe(t, p, "doc://new", &u)
		if took := time.Since(began); took == 0 || took > 2*unsubscribeTime {
			t.Errorf("it took %v", took)
		}
	})
}

func TestSubscriptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	refusing := offering(func(s *mcptest.Script) {
		s.Errors = map[string]json.RawMessage{"resources/subscribe": json.RawMessage(`{"code":-32002,"message":"no such resource"}`)}
	})
	mute := offering(func(s *mcptest.Script) {
		s.Results = map[string]json.RawMessage{"resources/subscribe": json.RawMessage(`7`)}
	})
	for name, c := range map[string]struct {
		script mcptest.Script
		uri    string
		want   string
	}{
		"by the server":         {refusing, "doc://1", `resource "doc://1": it answered an error: no such resource (JSON-RPC error -32002)`},
		"oddly":                 {mute, "doc://1", "a result that is not an object"},
		"without a capability":  {mcptest.Script{}, "doc://1", "the server offers no subscriptions to resources"},
		"because it is so long": {offering(), strings.Repeat("x", 9000), "the URI is longer than 8192 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, Options{Dial: dialScript(c.script)}, &config.Upstream{Name: "fake"})
			var u updates
			_, err := p.Subscribe(t.Context(), nil, "fake", c.uri, u.updated)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Op != "subscribe" {
				t.Errorf("%v, want %s", err, c.want)
			}
			all := &p.servers["fake"].subscriptions
			eventually(t, "the end of the goroutine", func() bool {
				all.mu.Lock()
				defer all.mu.Unlock()
				return len(all.byIdentity) == 0 && all.watchers == 0
			})
		})
	}
}

// A server over HTTP without a stream of notifications could not tell.
func TestSubscriptionNeedsAStream(t *testing.T) {
	t.Parallel()
	h := rpcHandler(func(method string, _ value.Value, _ *http.Request) string {
		switch method {
		case "initialize":
			return `{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}},"serverInfo":{}}`
		case "resources/subscribe":
			return `{}`
		}
		return ""
	})
	p := start(t, Options{}, web(t, config.HTTP, h))
	if _, err := p.Subscribe(t.Context(), nil, "fake", "doc://1", func() {}); err == nil || !strings.Contains(err.Error(), "no stream of notifications") {
		t.Error(err)
	}
}

// In the newer era one resource that a server refuses does not keep the others out, and
// many of them do not need many streams.
func TestManySubscriptionsShareStreams(t *testing.T) {
	t.Parallel()
	w := &mcptest.Web{Script: offering(), Modern: true}
	p := start(t, Options{}, web(t, config.HTTP, w))
	var u updates
	var stops []func()
	for i := range 40 {
		stops = append(stops, subscribe(t, p, fmt.Sprintf("doc://%d", i), &u))
	}
	if n := len(w.Subscribed()); n != 40 {
		t.Errorf("%d subscriptions", n)
	}
	eventually(t, "the end of needless streams", func() bool { return w.Streams() <= maxListens+1 })
	for _, stop := range stops {
		stop()
	}
	eventually(t, "the end", func() bool { return len(w.Subscribed()) == 0 })
}

func TestSubscriptionsAreBounded(t *testing.T) {
	t.Parallel()
	p := start(t, Options{Dial: dialScript(offering())}, &config.Upstream{Name: "fake"})
	greedy := &callinfo.Info{Caller: "greedy"}
	var u updates
	for range maxCallerWatchers {
		if _, err := p.Subscribe(t.Context(), greedy, "fake", "doc://1", u.updated); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Subscribe(t.Context(), greedy, "fake", "doc://1", u.updated); err == nil || !strings.Contains(err.Error(), "already has 1000 subscriptions") {
		t.Error(err)
	}
	for range maxWatchers - maxCallerWatchers {
		subscribe(t, p, "doc://1", &u)
	}
	if _, err := p.Subscribe(t.Context(), nil, "fake", "doc://1", u.updated); err == nil || !strings.Contains(err.Error(), "already 10000 subscriptions") {
		t.Error(err)
	}
}

// Callers with credentials of their own have sessions of their own, which stay open while
// they are subscribed.
func TestSubscriptionsKeepTheSessionsOfTheirCallers(t *testing.T) {
	t.Parallel()
	w := &mcptest.Web{Script: offering()}
	u := web(t, config.HTTP, w, func(u *config.Upstream) { u.ForwardHeaders = []config.Forward{{From: "X-User", To: "X-User"}} })
	p := start(t, Options{}, u)
	var ada, bob updates
	for user, to := range map[string]*updates{"ada": &ada, "bob": &bob} {
		if _, err := p.Subscribe(t.Context(), &callinfo.Info{Header: http.Header{"X-User": {user}}}, "fake", "doc://1", to.updated); err != nil {
			t.Fatal(err)
		}
	}
	users := map[string]bool{}
	for _, a := range w.Arrivals("resources/subscribe") {
		users[a.Header.Get("X-User")] = true
	}
	if len(users) != 2 || !users["ada"] || !users["bob"] {
		t.Errorf("subscribed as %v", users)
	}
	s := p.servers["fake"]
	s.mu.Lock()
	s.closeIdleSlots(time.Now().Add(24 * time.Hour))
	n := len(s.slots)
	s.mu.Unlock()
	if n != 2 {
		t.Errorf("%d sessions are kept", n)
	}
	w.Touch("doc://1")
	ada.await(t, 1)
	bob.await(t, 1)
}

func TestFloodOfUpdatesIsOneAtATime(t *testing.T) {
	t.Parallel()
	p := start(t, Options{Dial: dialScript(offering())}, &config.Upstream{Name: "fake"})
	var running, most, count atomic.Int64
	release := make(chan struct{})
	if _, err := p.Subscribe(t.Context(), nil, "fake", "doc://1", func() {
		most.Store(max(most.Load(), running.Add(1)))
		count.Add(1)
		<-release
		running.Add(-1)
	}); err != nil {
		t.Fatal(err)
	}
	mustCall(t, p, "notify", `{"count":5000,"method":"notifications/resources/updated","result":{"uri":"doc://1"}}`)
	close(release)
	eventually(t, "two calls", func() bool { return count.Load() >= 1 && running.Load() == 0 })
	if most.Load() != 1 || count.Load() > 3 {
		t.Errorf("%d at once, %d in all", most.Load(), count.Load())
	}
}

func TestChangesOfListsAreTold(t *testing.T) {
	t.Parallel()
	everyTransport(t, offering(), func(t *testing.T, u *config.Upstream) {
		p := start(t, Options{}, u)
		var prompts, resources atomic.Int64
		stop := p.WatchLists(func(c ListChange) {
			if c.Server == "fake" && c.Prompts {
				prompts.Add(1)
			}
			if c.Server == "fake" && c.Resources {
				resources.Add(1)
			}
		})
		mustCall(t, p, "echo", `{}`)
		eventually(t, "both changes", func() bool {
			mustCall(t, p, "changed", `{"method":"notifications/prompts/list_changed"}`)
			mustCall(t, p, "changed", `{"method":"notifications/resources/list_changed"}`)
			return prompts.Load() > 0 && resources.Load() > 0
		})
		stop()
	})
}

func TestReopenedSessionChangesLists(t *testing.T) {
	t.Parallel()
	p := start(t, Options{}, child(offering()))
	changes := make(chan ListChange, 10)
	p.WatchLists(func(c ListChange) { changes <- c })
	mustFail(t, p, "exit", `{"code":1}`)
	mustCall(t, p, "echo", `{}`)
	if c := <-changes; c != (ListChange{"fake", true, true}) || len(changes) > 0 {
		t.Errorf("%+v, and %d more", c, len(changes))
	}
}

package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// changing is a resource whose text is a number, and how often it was read.
type changing struct{ text, reads atomic.Int64 }

func (c *changing) read(_ context.Context, r *server.Request) (value.Value, error) {
	c.reads.Add(1)
	if c.text.Load() < 0 {
		return value.Undef, errors.New("it is broken")
	}
	b := value.NewBuilder(2)
	b.Set("uri", value.FromString(r.URI))
	b.Set("text", value.FromString(fmt.Sprint(c.text.Load())))
	return value.FromArray([]value.Value{b.Value()}), nil
}

func (c *changing) options(every time.Duration) server.Options {
	return named(server.Options{Call: echo, Resources: []server.Resource{
		{URI: "a://b", Name: "b", Read: c.read, SubscribeEvery: every},
		{URI: "a://never", Name: "never", Read: c.read},
		{URI: "a://many/{n}", Template: true, Name: "many", Read: c.read, SubscribeEvery: every},
	}})
}

// eventually waits until something is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// noWatches waits until nothing of subscriptions is left.
func noWatches(t *testing.T, s *server.Server) {
	t.Helper()
	eventually(t, "subscriptions are left", func() bool {
		watches, watchers, counted := server.Watches(s)
		return watches+watchers+counted == 0
	})
}

const (
	updated       = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b"}}`
	taggedUpdated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"uri":"a://b"}}`
	subscribeTo   = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`
	emptyResult   = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func TestSubscriptionOfASessionOverStdio(t *testing.T) {
	t.Parallel()
	of := &changing{}
	c := start(t, of.options(time.Millisecond))
	c.want(fmt.Sprintf(subscribeTo, "a://b"), `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"resources/subscribe: send initialize first"}}`)
	c.initialize("2025-11-25")
	c.want(fmt.Sprintf(subscribeTo, "a://b"), emptyResult)
	c.want(fmt.Sprintf(subscribeTo, "a://b"), emptyResult) // the same again
	c.want(fmt.Sprintf(subscribeTo, "a://never"), `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"resources/subscribe: resource \"never\" cannot be subscribed to"}}`)
	c.want(fmt.Sprintf(subscribeTo, "a://none"), `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"unknown resource \"a://none\"","data":{"uri":"a://none"}}}`)
	if watches, watchers, counted := server.Watches(c.server); watches != 1 || watchers != 1 || counted != 1 {
		t.Errorf("%d watches for %d, %d counted", watches, watchers, counted)
	}
	for i := range 3 {
		eventually(t, "the resource is not read", func() bool { return of.reads.Load() > int64(i) })
		eventually(t, "the resource is not read again", func() func() bool {
			from := of.reads.Load()
			return func() bool { return of.reads.Load() > from+2 }
		}())
		of.text.Add(1)
		if line := c.line(); line != updated {
			t.Errorf("got %s", line)
		}
	}
	// A failure is no change, and neither is what comes after it.
	before := of.text.Load()
	of.text.Store(-1)
	from := of.reads.Load()
	eventually(t, "polls end with a failure", func() bool { return of.reads.Load() > from+3 })
	of.text.Store(before)
	from = of.reads.Load()
	eventually(t, "polls end with a failure", func() bool { return of.reads.Load() > from+3 })
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"a://b"}}`, emptyResult)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"a://b"}}`, emptyResult)
	noWatches(t, c.server)
	c.want(fmt.Sprintf(subscribeTo, "a://many/7"), emptyResult)
	c.closed()
	noWatches(t, c.server)
}

func TestSubscriptionsOverHTTPInBothEras(t *testing.T) {
	t.Parallel()
	of := &changing{}
	opts := of.options(time.Millisecond)
	opts.Info.Title = ""
	x := serveAs(t, opts, server.HTTPOptions{Grace: time.Hour})
	in := x.session("2025-11-25")
	stream := x.listen(http.MethodGet, "", in...)
	if g := x.post(fmt.Sprintf(subscribeTo, "a://b"), in...); g.body != emptyResult {
		t.Fatalf("%d %s", g.status, g.body)
	}
	headers := modern("subscriptions/listen", "")[:4]
	all := x.listen(http.MethodPost, fmt.Sprintf(listen, `"all"`, `{"resourceSubscriptions":["a://b","a://b","a://never","a://none"],"resourcesListChanged":true,"promptsListChanged":true}`), headers...)
	all.want(fmt.Sprintf(acknowledged, `"all"`, `{"resourceSubscriptions":["a://b"],"resourcesListChanged":true}`))
	for _, wrong := range []string{`{"resourceSubscriptions":true}`, `{"resourceSubscriptions":[7]}`} {
		if g := x.post(fmt.Sprintf(listen, "1", wrong), headers...); g.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", wrong, g.status, g.body)
		}
	}
	// Without authentication both poll on their own.
	eventually(t, "there are not two watches", func() bool { w, _, _ := server.Watches(x.server); return w == 2 })
	eventually(t, "the resource is not read", func() bool { return of.reads.Load() > 10 })
	of.text.Add(1)
	stream.want(updated)
	all.want(fmt.Sprintf(taggedUpdated, `"all"`))
	if g := x.ask(http.MethodDelete, server.Path, "", in...); g.status != http.StatusNoContent {
		t.Errorf("DELETE gives %d", g.status)
	}
	stream.wantEnd()
	eventually(t, "the session's watch is left", func() bool { w, _, _ := server.Watches(x.server); return w == 1 })
	all.body.Close()
	noWatches(t, x.server)
}

// A caller's subscriptions to one resource share a poller, which goes on until the last
// has ended.
func TestSubscriptionsOfACallerShareAPoller(t *testing.T) {
	t.Parallel()
	of := &changing{}
	_, guard := scopedOptions(t)
	x := serveAs(t, of.options(time.Hour), server.HTTPOptions{Guard: guard})
	var anns []*streamReader
	for range 5 {
		anns = append(anns, x.listen(http.MethodPost, fmt.Sprintf(listen, "1", `{"resourceSubscriptions":["a://b"]}`), append(authorizedAs("ann"), modern("subscriptions/listen", "")[:4]...)...))
		anns[len(anns)-1].want(fmt.Sprintf(acknowledged, "1", `{"resourceSubscriptions":["a://b"]}`))
	}
	eventually(t, "not all watch", func() bool { w, n, _ := server.Watches(x.server); return w == 1 && n == 5 })
	bob := x.listen(http.MethodPost, fmt.Sprintf(listen, "1", `{"resourceSubscriptions":["a://b"]}`), append(authorizedAs("bob"), modern("subscriptions/listen", "")[:4]...)...)
	bob.want(fmt.Sprintf(acknowledged, "1", `{"resourceSubscriptions":["a://b"]}`))
	eventually(t, "the resource is not read", func() bool { return of.reads.Load() == 2 })
	// The interval is that of the options that are published.
	if err := x.server.Replace(of.options(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	anns[0].body.Close() // which the poller was for
	bob.body.Close()
	eventually(t, "closed streams still watch", func() bool { w, n, _ := server.Watches(x.server); return w == 1 && n == 4 })
	for _, l := range anns[1:] {
		l.body.Close()
	}
	noWatches(t, x.server)
}

// The oldest subscription ends, and the others still hear of changes. After a reload
// without the resource nothing is watched.
// How often a resource is read follows the latest options at once.
func TestPollsFollowTheirOptions(t *testing.T) {
	t.Parallel()
	of := &changing{}
	c := start(t, of.options(time.Hour))
	c.initialize("2025-11-25")
	c.want(fmt.Sprintf(subscribeTo, "a://b"), emptyResult)
	eventually(t, "the resource is not read", func() bool { return of.reads.Load() == 1 })
	if err := c.server.Replace(of.options(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the resource is not read more often", func() bool { return of.reads.Load() > 3 })
	c.closed()
	noWatches(t, c.server)
}

func TestWatchesOutliveTheirOldestSubscription(t *testing.T) {
	t.Parallel()
	of := &changing{}
	c := start(t, of.options(time.Millisecond))
	c.want(fmt.Sprintf(listen, "1", `{"resourceSubscriptions":["a://b"]}`), fmt.Sprintf(acknowledged, "1", `{"resourceSubscriptions":["a://b"]}`))
	c.want(fmt.Sprintf(listen, "2", `{"resourceSubscriptions":["a://b"]}`), fmt.Sprintf(acknowledged, "2", `{"resourceSubscriptions":["a://b"]}`))
	eventually(t, "not both watch", func() bool { w, n, _ := server.Watches(c.server); return w == 1 && n == 2 })
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	eventually(t, "the cancelled one watches", func() bool { _, n, _ := server.Watches(c.server); return n == 1 })
	from := of.reads.Load()
	eventually(t, "nobody reads", func() bool { return of.reads.Load() > from+2 })
	of.text.Add(1)
	if line := c.line(); line != fmt.Sprintf(taggedUpdated, "2") {
		t.Errorf("got %s", line)
	}
	opts := of.options(time.Millisecond)
	opts.Resources = opts.Resources[1:]
	c.replace(opts)
	eventually(t, "a resource that has gone is watched", func() bool { w, _, _ := server.Watches(c.server); return w == 0 })
	c.in.Close()
	if line := c.line(); !strings.Contains(line, `"id":2,"result"`) {
		t.Errorf("got %s", line)
	}
	c.closed()
	noWatches(t, c.server)
}

// A subscription of a session ends with the token that it was made with.
func TestSubscriptionsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	of := &changing{}
	guard := &expiringGuard{}
	guard.life.Store(int64(time.Hour))
	x := serveAs(t, of.options(time.Millisecond), server.HTTPOptions{Guard: guard})
	in := x.session("2025-11-25")
	guard.life.Store(int64(100 * time.Millisecond))
	if g := x.post(fmt.Sprintf(subscribeTo, "a://b"), in...); g.body != emptyResult {
		t.Fatalf("%d %s", g.status, g.body)
	}
	guard.life.Store(int64(time.Hour))
	noWatches(t, x.server)
	// The session itself goes on.
	if g := x.post(fmt.Sprintf(subscribeTo, "a://b"), in...); g.body != emptyResult {
		t.Errorf("%d %s", g.status, g.body)
	}
	if _, n, counted := server.Watches(x.server); n != 1 || counted != 1 {
		t.Errorf("%d watch, %d count", n, counted)
	}
}

// A caller whose token is taken away is not polled for any more.
func TestSubscriptionsOfRevokedCallersEnd(t *testing.T) {
	t.Parallel()
	of := &changing{}
	guards := map[string]auth.Guard{}
	for _, callers := range []string{"ann bob", "bob"} {
		var tokens []config.CallerToken
		for _, caller := range strings.Fields(callers) {
			tokens = append(tokens, config.CallerToken{Caller: caller, Token: "0123456789abcdef-" + caller})
		}
		guard, err := auth.NewTokens(tokens)
		if err != nil {
			t.Fatal(err)
		}
		guards[callers] = guard
	}
	opts := of.options(time.Millisecond)
	opts.Access.Guard = guards["ann bob"]
	x := serveAs(t, opts, server.HTTPOptions{})
	for _, caller := range []string{"ann", "bob"} {
		if g := x.post(fmt.Sprintf(subscribeTo, "a://b"), x.session("2025-11-25", authorizedAs(caller)...)...); g.body != emptyResult {
			t.Fatalf("%d %s", g.status, g.body)
		}
	}
	opts.Access.Guard = guards["bob"]
	if err := x.server.Replace(opts); err != nil {
		t.Fatal(err)
	}
	eventually(t, "who has no access is polled for", func() bool {
		watches, watchers, counted := server.Watches(x.server)
		return watches == 1 && watchers == 1 && counted == 1
	})
	from := of.reads.Load()
	eventually(t, "nobody is polled for", func() bool { return of.reads.Load() > from+2 })
}

// Somebody subscribes to as much as the server takes.
func TestHostileSubscribers(t *testing.T) {
	lost := checkLeaks(t)
	of := &changing{}
	opts := of.options(time.Hour)
	x := serveAs(t, opts, server.HTTPOptions{})
	headers := modern("subscriptions/listen", "")[:4]
	uris := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"a://many/%d"`, i))
		}
		return `{"resourceSubscriptions":[` + strings.Join(list, ",") + `]}`
	}
	for _, n := range []int{256, 257, 10_000, 100_000} { // the stream itself counts too
		g := x.post(fmt.Sprintf(listen, "1", uris(n)), headers...)
		if g.status != http.StatusServiceUnavailable || !strings.Contains(g.body, "too many subscriptions") {
			t.Errorf("%d at once: %d %.200s", n, g.status, g.body)
		}
	}
	// Also of those that it does not have.
	if g := x.post(fmt.Sprintf(listen, "1", strings.ReplaceAll(uris(1001), "a://", "none://")), headers...); g.status != http.StatusServiceUnavailable || !strings.Contains(g.body, "may name 1000 resources") {
		t.Errorf("unknown ones: %d %.200s", g.status, g.body)
	}
	most := x.listen(http.MethodPost, fmt.Sprintf(listen, "1", uris(255)), headers...)
	eventually(t, "not all are watched", func() bool { w, _, counted := server.Watches(x.server); return w == 255 && counted == 256 })
	in := x.session("2025-11-25")
	if g := x.post(fmt.Sprintf(subscribeTo, "a://b"), in...); !strings.Contains(g.body, "too many subscriptions") {
		t.Errorf("one more: %d %s", g.status, g.body)
	}
	most.body.Close()
	noWatches(t, x.server)
	var refused int
	attempts := testscale.Of(1000, 10_000)
	for i := range attempts {
		g := x.post(fmt.Sprintf(subscribeTo, fmt.Sprintf("a://many/%d", i)), in...)
		if strings.Contains(g.body, "too many subscriptions") {
			refused++
		} else if g.body != emptyResult {
			t.Fatalf("%d %s", g.status, g.body)
		}
	}
	if _, watchers, counted := server.Watches(x.server); refused != attempts-256 || watchers != 256 || counted != 256 {
		t.Errorf("%d are refused, %d watch, %d count", refused, watchers, counted)
	}
	if g := x.ask(http.MethodDelete, server.Path, "", in...); g.status != http.StatusNoContent {
		t.Errorf("DELETE gives %d", g.status)
	}
	noWatches(t, x.server)
	x.close()
	lost()
}

// upstreamOf stands for a server that tells of changes itself.
type upstreamOf struct {
	mu      sync.Mutex
	updated map[int]func()
	began   int
	failing bool
}

func (u *upstreamOf) subscribe(_ context.Context, _ *server.Request, updated func()) (func(), error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.began++
	if u.failing {
		return nil, errors.New("it is down")
	}
	n := u.began
	u.updated[n] = updated
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.updated, n)
	}, nil
}

func (u *upstreamOf) counts() (began, open int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.began, len(u.updated)
}

func TestSubscriptionsAtAnUpstreamServer(t *testing.T) {
	t.Parallel()
	u := &upstreamOf{updated: map[int]func(){}}
	opts := named(server.Options{Call: echo, Dynamic: &server.Dynamic{
		Subscribes: true,
		Resources:  func(context.Context, *server.Request) []value.Value { return nil },
		Resource: func(_ *server.Request, uri string) *server.Resource {
			return &server.Resource{URI: uri, Name: "up", Read: echo, Subscribe: u.subscribe}
		},
	}})
	c := start(t, opts)
	c.want(fmt.Sprintf(listen, "1", `{"resourceSubscriptions":["a://b"]}`), fmt.Sprintf(acknowledged, "1", `{"resourceSubscriptions":["a://b"]}`))
	// It may have changed between the acknowledgement and the subscription upstream.
	if line := c.line(); line != fmt.Sprintf(taggedUpdated, "1") {
		t.Errorf("got %s", line)
	}
	if _, open := u.counts(); open != 1 {
		t.Errorf("%d subscriptions are open upstream", open)
	}
	u.mu.Lock()
	for range 1000 { // within the least time between two notifications
		u.updated[1]()
	}
	u.mu.Unlock()
	if line := c.line(); line != fmt.Sprintf(taggedUpdated, "1") {
		t.Errorf("got %s", line)
	}
	// Another program serves from here on: the resource may have changed meanwhile.
	c.replace(opts)
	eventually(t, "nobody subscribes after a reload", func() bool { began, open := u.counts(); return began == 2 && open == 1 })
	if line := c.line(); line != fmt.Sprintf(taggedUpdated, "1") {
		t.Errorf("got %s", line)
	}
	// The subscription is made for another one once the oldest has ended.
	c.want(fmt.Sprintf(listen, "2", `{"resourceSubscriptions":["a://b"]}`), fmt.Sprintf(acknowledged, "2", `{"resourceSubscriptions":["a://b"]}`))
	eventually(t, "not both watch", func() bool { _, n, _ := server.Watches(c.server); return n == 2 })
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	eventually(t, "nobody subscribes for the other", func() bool { began, open := u.counts(); return began == 3 && open == 1 })
	if line := c.line(); line != fmt.Sprintf(taggedUpdated, "2") {
		t.Errorf("got %s", line)
	}
	c.in.Close()
	if line := c.line(); !strings.Contains(line, `"id":2,"result"`) {
		t.Errorf("got %s", line)
	}
	c.closed()
	eventually(t, "a subscription is left upstream", func() bool { _, open := u.counts(); return open == 0 })
	noWatches(t, c.server)
}

// A server that is down is logged once, and stops nothing.
func TestFailedPollsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	of := &changing{}
	of.text.Store(-1)
	opts := of.options(time.Millisecond)
	var log lockedBuilder
	opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.want(fmt.Sprintf(subscribeTo, "a://b"), emptyResult)
	eventually(t, "polls end with a failure", func() bool { return of.reads.Load() > 20 })
	if n := strings.Count(log.String(), "cannot read a resource that a client subscribed to"); n != 1 || !strings.Contains(log.String(), "it is broken") {
		t.Errorf("logged %d times: %s", n, log.String())
	}
	c.closed()
}

type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

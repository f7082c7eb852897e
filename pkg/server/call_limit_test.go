package server_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// blockingOptions is a tool that says that it runs, and then waits until it is let go or
// cancelled.
func blockingOptions(t *testing.T, limits server.Limits) (opts server.Options, runs chan string, let chan struct{}) {
	runs, let = make(chan string, 10_000), make(chan struct{})
	opts = httpOptions(t)
	opts.Limits = limits
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		runs <- q.Caller + q.Args.Get("n").JSON()
		select {
		case <-let:
			return q.Args, nil
		case <-ctx.Done():
			return value.Undef, context.Cause(ctx)
		}
	}
	return opts, runs, let
}

func numbered(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d}}}`, n, n)
}

func TestCallsBeyondTheLimitRunInOrder(t *testing.T) {
	for _, limits := range []server.Limits{{Calls: 3}, {PerCaller: 3}, {Calls: 3, PerCaller: 5}} {
		opts, runs, let := blockingOptions(t, limits)
		c := start(t, opts)
		c.initialize("2025-11-25")
		const n = 300
		for i := range n {
			c.send("%s", numbered(i))
		}
		begun := map[string]bool{}
		for range 3 {
			begun[<-runs] = true
		}
		if len(begun) != 3 || !begun["0"] || !begun["1"] || !begun["2"] {
			t.Errorf("%+v: the first are %v", limits, begun)
		}
		c.want(`{"jsonrpc":"2.0","id":"p","method":"ping"}`, `{"jsonrpc":"2.0","id":"p","result":{}}`)
		for i := 3; i < n; i++ {
			if len(runs) > 0 {
				t.Fatalf("%+v: more than three run", limits)
			}
			let <- struct{}{}
			if got := <-runs; got != fmt.Sprint(i) {
				t.Fatalf("%+v: %s runs in the place of %d", limits, got, i)
			}
		}
		close(let)
		for range n {
			if line := c.line(); !strings.Contains(line, done) || strings.Contains(line, "isError") {
				t.Error(line)
			}
		}
		c.closed()
	}
}

func TestCallFailsAfterMaxWait(t *testing.T) {
	for limits, want := range map[server.Limits]string{
		{Calls: 1, Wait: time.Millisecond}:     "the server is busy: 1 call is running; the call was not run, it waited for ",
		{PerCaller: 1, Wait: time.Millisecond}: "this caller is at its limit: 1 call is running; the call was not run, it waited for ",
	} {
		opts, runs, let := blockingOptions(t, limits)
		c := start(t, opts)
		c.initialize("2025-11-25")
		c.send("%s", numbered(1))
		<-runs
		c.send("%s", numbered(2))
		got := parse(t, c.line())
		text := got.Get("result").Get("content").Elems()[0].Get("text").Str()
		if got.Get("id").JSON() != "2" || !got.Get("result").Get("isError").Bool() || !strings.HasPrefix(text, want) ||
			!strings.HasSuffix(text, "ms; try again later") {
			t.Errorf("got %s, want %s…", got.JSON(), want)
		}
		close(let)
		if line := c.line(); !strings.Contains(line, `"n":1`) {
			t.Error(line)
		}
		c.want(numbered(3), `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"n\":3}"}],"structuredContent":{"n":3}}}`)
		c.closed()
	}
}

func TestCancelledCallLeavesTheQueue(t *testing.T) {
	opts, runs, let := blockingOptions(t, server.Limits{Calls: 1, Wait: time.Hour})
	c := start(t, opts)
	c.initialize("2025-11-25")
	for i := range 4 {
		c.send("%s", numbered(i))
	}
	<-runs
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	// The ids can be used again when the calls have ended.
	for _, id := range []int{1, 2} {
		for ok := false; !ok; {
			c.send(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id)
			ok = strings.Contains(c.line(), `"result":{}`)
		}
	}
	let <- struct{}{}
	if got := <-runs; got != "3" {
		t.Errorf("%s runs after those that were cancelled", got)
	}
	close(let)
	for range 2 {
		if line := c.line(); !strings.Contains(line, done) {
			t.Error(line)
		}
	}
	c.closed()
}

func TestTooManyWaitingCallsAreRefusedAtOnce(t *testing.T) {
	opts, runs, let := blockingOptions(t, server.Limits{Calls: 1, Wait: time.Hour})
	c := start(t, opts)
	c.initialize("2025-11-25")
	for i := range 1002 {
		c.send("%s", numbered(i))
	}
	<-runs
	const want = `{"jsonrpc":"2.0","id":1001,"result":{"content":[{"type":"text","text":"the server is busy: 1 call is running and 1000 are waiting; the call was not run, try again later"}],"isError":true}}`
	if got := c.line(); got != want {
		t.Errorf("got %s", got)
	}
	close(let)
	for range 1001 {
		if line := c.line(); !strings.Contains(line, done) || strings.Contains(line, "isError") {
			t.Error(line)
		}
	}
	c.closed()
}

func TestReplacedLimitsCountRunningCalls(t *testing.T) {
	opts, runs, let := blockingOptions(t, server.Limits{Calls: 1, Wait: time.Hour})
	c := start(t, opts)
	c.initialize("2025-11-25")
	for i := range 6 {
		c.send("%s", numbered(i))
	}
	<-runs
	for _, more := range []server.Limits{{Calls: 3, Wait: time.Hour}, {PerCaller: 5, Wait: time.Hour}} {
		opts.Limits = more
		c.replace(opts)
		<-runs
		<-runs
		if len(runs) > 0 {
			t.Errorf("more than %+v run", more)
		}
	}
	opts.Limits = server.Limits{Calls: 1, Wait: time.Hour}
	c.replace(opts)
	for range 4 {
		let <- struct{}{}
		if line := c.line(); !strings.Contains(line, done) || len(runs) > 0 {
			t.Errorf("%s, and %d more run", line, len(runs))
		}
	}
	let <- struct{}{}
	<-runs
	opts.Limits = server.Limits{}
	c.replace(opts)
	close(let)
	for range 2 {
		if line := c.line(); !strings.Contains(line, done) {
			t.Error(line)
		}
	}
	c.closed()
}

func TestCallerAtItsLimitDoesNotBlockOthers(t *testing.T) {
	tokens := guardOf(t, "ann", "bob")
	opts, runs, let := blockingOptions(t, server.Limits{Calls: 2, PerCaller: 1, Wait: time.Hour})
	x := serve(t, opts, server.HTTPOptions{Guard: tokens})
	var all sync.WaitGroup
	ask := func(caller string, n int) (cancel func()) {
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() { _ = x.call(ctx, caller, n) })
		return cancel
	}
	ask("ann", 1)
	if got := <-runs; got != "ann1" {
		t.Fatal(got)
	}
	gone := ask("ann", 2)
	ask("ann", 3)
	ask("bob", 4)
	if got := <-runs; got != "bob4" {
		t.Errorf("%s runs", got)
	}
	gone() // a client that is gone leaves the line
	stay := ask("bob", 5)
	defer stay()
	// Those that run go one after the other, in no certain order.
	seen := map[string]bool{}
	for !seen["ann3"] || !seen["bob5"] {
		select {
		case let <- struct{}{}:
		case got := <-runs:
			seen[got] = true
		case <-time.After(30 * time.Second):
			t.Fatalf("after bob4 only %v have run", seen)
		}
	}
	close(let)
	all.Wait()
}

// call makes a call of revision 2026-07-28 and gives the body of the answer,
// empty where there is none.
func (x *testServer) call(ctx context.Context, caller string, n int) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url+server.Path,
		strings.NewReader(strings.Replace(numbered(n), `"arguments"`, `"_meta":{`+eraMeta+`},"arguments"`, 1)))
	if err != nil {
		x.t.Error(err)
		return ""
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer 0123456789abcdef-"+caller)
	for h := modern("tools/call", "echo"); len(h) > 0; h = h[2:] {
		r.Header.Set(h[0], h[1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body) // the client may be gone
	return string(body)
}

// TestLimitsHoldForManyCallers has callers call, cancel and give up waiting,
// and holds that no limit is ever exceeded and no turn lost.
func TestLimitsHoldForManyCallers(t *testing.T) {
	const callers, most, each = 5, 7, 2
	byCaller := map[string]*atomic.Int32{}
	for i := range callers {
		byCaller[fmt.Sprintf("c%d", i)] = &atomic.Int32{}
	}
	tokens := guardOf(t, slices.Collect(maps.Keys(byCaller))...)
	var running, ran, refused atomic.Int32
	var meet atomic.Pointer[barrier]
	opts := httpOptions(t)
	opts.Limits = server.Limits{Calls: most, PerCaller: each, Wait: 5 * time.Millisecond}
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		own := byCaller[q.Caller]
		if n := running.Add(1); n > most {
			t.Errorf("%d calls run", n)
		}
		if n := own.Add(1); n > each {
			t.Errorf("%d calls of one caller run", n)
		}
		defer running.Add(-1)
		defer own.Add(-1)
		ran.Add(1)
		if m := meet.Load(); m != nil {
			m.arrive(ctx)
		} else {
			time.Sleep(time.Millisecond)
		}
		return q.Args, nil
	}
	x := serve(t, opts, server.HTTPOptions{Guard: tokens})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for n := range 10 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+n)%3 == 0 {
					time.AfterFunc(time.Duration(n)*time.Millisecond, cancel)
				}
				if strings.Contains(x.call(ctx, fmt.Sprintf("c%d", i%callers), n), "the call was not run") {
					refused.Add(1)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if ran.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d calls ran, %d were refused", ran.Load(), refused.Load())
	}
	// Every turn was given back: as many as may run at the same time do, after
	// some tries where calls from before have not ended yet.
	for end := time.Now().Add(30 * time.Second); ; {
		ctx, cancel := context.WithCancel(t.Context())
		m := &barrier{most: most, met: make(chan struct{})}
		meet.Store(m)
		for i := range most {
			all.Go(func() {
				if strings.Contains(x.call(ctx, fmt.Sprintf("c%d", i/each), -1), `"isError":true`) {
					cancel()
				}
			})
		}
		all.Wait()
		cancel()
		if m.arrived.Load() == most {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("only %d calls run at the same time", m.arrived.Load())
		}
	}
}

// barrier is where calls wait for each other.
type barrier struct {
	most    int32
	arrived atomic.Int32
	met     chan struct{}
}

func (m *barrier) arrive(ctx context.Context) {
	if m.arrived.Add(1) == m.most {
		close(m.met)
	}
	select {
	case <-m.met:
	case <-ctx.Done():
	}
}

package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// expiringGuard lets everybody in, as ann. Tokens last for a while.
type expiringGuard struct{ life atomic.Int64 }

func (e *expiringGuard) Admit(http.ResponseWriter, *http.Request) (auth.Caller, error) {
	return auth.Caller{Name: "ann", Expires: time.Now().Add(time.Duration(e.life.Load()))}, nil
}
func (e *expiringGuard) Challenge(http.Header, []string) {}
func (e *expiringGuard) Pages() map[string]http.Handler  { return nil }

func TestRequestsEndWhenTheAccessTokenExpires(t *testing.T) {
	guard := &expiringGuard{}
	guard.life.Store(int64(time.Hour))
	opts := httpOptions(t)
	opts.Call = func(ctx context.Context, q *server.Request) (value.Value, error) {
		if q.Tool == "long" {
			<-ctx.Done()
			return value.Undef, context.Cause(ctx)
		}
		return value.FromString("short"), nil
	}
	opts.Tools = append(opts.Tools, tool(t, "long"))
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	in := x.session("2025-11-25")
	lasting := x.listen(http.MethodGet, "", in...)

	guard.life.Store(int64(50 * time.Millisecond))
	x.listen(http.MethodGet, "", in...).wantEnd()
	subscribed := x.listen(http.MethodPost, fmt.Sprintf(listen, "1", `{"toolsListChanged":true}`), modern("subscriptions/listen", "")...)
	if rest, err := io.ReadAll(subscribed.lines); err != nil || !strings.Contains(string(rest), `"result":`) {
		t.Errorf("%s %v", rest, err)
	}
	g := x.post(calling("long", "2"), in...)
	if !strings.Contains(g.body, "access token of this request has expired") || !strings.Contains(g.body, `"isError":true`) {
		t.Errorf("%d %s", g.status, g.body)
	}

	// The session goes on with a newer token, and with what was asked for by one.
	guard.life.Store(int64(time.Hour))
	if g := x.post(calling("echo", "3"), in...); !strings.Contains(g.body, "short") {
		t.Errorf("%d %s", g.status, g.body)
	}
	changed := named(opts)
	changed.Tools = changed.Tools[:1]
	if err := x.server.Replace(changed); err != nil {
		t.Fatal(err)
	}
	lasting.want(toolsChanged)
}

// deadlineListener is a listener whose connections tell until when each write may take.
type deadlineListener struct {
	net.Listener
	wrote func(deadline time.Time)
}

func (l deadlineListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &deadlineConn{Conn: c, wrote: l.wrote}, err
}

type deadlineConn struct {
	net.Conn
	wrote func(time.Time)
	mu    sync.Mutex
	at    time.Time
}

func (c *deadlineConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
	return c.Conn.SetWriteDeadline(t)
}

func (c *deadlineConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.wrote(c.at)
	c.mu.Unlock()
	return c.Conn.Write(b)
}

func TestAnswersStopSoonAfterTokenExpiry(t *testing.T) {
	guard := &expiringGuard{}
	guard.life.Store(int64(10 * time.Second))
	opts := named(httpOptions(t))
	opts.Call = func(context.Context, *server.Request) (value.Value, error) {
		return value.FromString(strings.Repeat("x", 1<<20)), nil
	}
	s, err := server.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	last := make(chan time.Time, 1000)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- s.ServeHTTP(ctx, deadlineListener{l, func(at time.Time) { last <- at }}, server.HTTPOptions{Guard: guard})
	}()
	x := &testServer{t: t, server: s, url: "http://" + l.Addr().String()}
	g := x.post(fmt.Sprintf(call, "1", `,"_meta":{`+eraMeta+`}`), modern("tools/call", "echo")...)
	latest := time.Now().Add(15 * time.Second) // of the grace, 5 seconds
	if g.status != http.StatusOK || len(g.body) < 1<<20 {
		t.Errorf("%d %.200s", g.status, g.body)
	}
	stop()
	<-ended
	close(last)
	n := 0
	for at := range last {
		if n++; at.IsZero() || at.After(latest) {
			t.Errorf("write %d may take until %v, which is %v too long", n, at, at.Sub(latest))
		}
	}
	if n == 0 {
		t.Error("nothing was written")
	}
}

// revokingGuard lets everybody in, as ann, whose tokens can be revoked.
type revokingGuard struct {
	expiringGuard
	rechecks atomic.Int64
	err      atomic.Pointer[error]
}

func (g *revokingGuard) Admit(http.ResponseWriter, *http.Request) (auth.Caller, error) {
	return auth.Caller{Name: "ann", Recheck: func(context.Context) error {
		g.rechecks.Add(1)
		if err := g.err.Load(); err != nil {
			return *err
		}
		return nil
	}}, nil
}

func TestRequestsEndOnceTheAccessTokenIsRevoked(t *testing.T) {
	server.SetRecheck(t, 10*time.Millisecond)
	opts, began, ended := hangingOptions(t)
	guard := &revokingGuard{}
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	in := x.session("2025-11-25")
	stream := x.listen(http.MethodGet, "", in...)
	subscribed := x.listen(http.MethodPost, fmt.Sprintf(listen, "1", `{"toolsListChanged":true}`), modern("subscriptions/listen", "")...)
	answered := make(chan httpReply, 1)
	go func() { answered <- x.post(fmt.Sprintf(call, "2", ""), in...) }()
	<-began
	rechecked := func() {
		t.Helper()
		for until := guard.rechecks.Load() + 10; guard.rechecks.Load() < until; time.Sleep(time.Millisecond) {
		}
	}
	rechecked()
	down := fmt.Errorf("%w: no route", auth.ErrUnavailable)
	guard.err.Store(&down)
	rechecked()
	select {
	case err := <-ended:
		t.Fatalf("the call ended with %v", err)
	default:
	}
	revoked := errors.New("it is not active")
	guard.err.Store(&revoked)
	stream.wantEnd()
	if rest, err := io.ReadAll(subscribed.lines); err != nil || !strings.Contains(string(rest), `"result":`) {
		t.Errorf("%s %v", rest, err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("the call ended with %v", err)
	}
	if g := <-answered; !strings.Contains(g.body, "was revoked") {
		t.Errorf("%d %s", g.status, g.body)
	}
	after := guard.rechecks.Load()
	time.Sleep(50 * time.Millisecond)
	if more := guard.rechecks.Load() - after; more > 0 {
		t.Errorf("%d rechecks for requests that are answered", more)
	}
}

package server_test

import (
	"context"
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

// expiring lets everybody in, as ann. Tokens last for a while.
type expiring struct{ life atomic.Int64 }

func (e *expiring) Admit(http.ResponseWriter, *http.Request) (auth.Caller, error) {
	return auth.Caller{Name: "ann", Expires: time.Now().Add(time.Duration(e.life.Load()))}, nil
}
func (e *expiring) Challenge(http.Header, []string) {}
func (e *expiring) Pages() map[string]http.Handler  { return nil }

func TestAnswersEndWhenTheAccessTokenExpires(t *testing.T) {
	guard := &expiring{}
	guard.life.Store(int64(time.Hour))
	opts := echoing(t)
	opts.Call = func(ctx context.Context, name string, _ value.Value) (value.Value, error) {
		if name == "long" {
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
	x.listen(http.MethodGet, "", in...).ends()
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

// deadlines is a listener whose connections tell until when each write may take.
type deadlines struct {
	net.Listener
	wrote func(deadline time.Time)
}

func (l deadlines) Accept() (net.Conn, error) {
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

func TestAnAnswerIsNotSentForLongAfterTheAccessTokenHasExpired(t *testing.T) {
	guard := &expiring{}
	guard.life.Store(int64(10 * time.Second))
	opts := named(echoing(t))
	opts.Call = func(context.Context, string, value.Value) (value.Value, error) {
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
		ended <- s.ServeHTTP(ctx, deadlines{l, func(at time.Time) { last <- at }}, server.HTTPOptions{Guard: guard})
	}()
	x := &site{t: t, server: s, url: "http://" + l.Addr().String()}
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

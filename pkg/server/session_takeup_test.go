package server_test

import (
	"context"
	"fmt"
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

const sessionKey = "0123456789abcdef"

// takingUp are options of a server that takes up sessions, and whose tool says what
// it knows of its client.
func takingUp(t *testing.T, guard auth.Guard) (server.Options, server.HTTPOptions) {
	o := httpOptions(t)
	o.Call = func(_ context.Context, r *server.Request) (value.Value, error) {
		return value.FromString(fmt.Sprintln(r.Client, r.Protocol, r.CanElicit(server.FormMode), r.CanElicit(server.URLMode), r.CanSample(), r.CanListRoots())), nil
	}
	return o, server.HTTPOptions{Guard: guard, SessionKey: []byte(sessionKey)}
}

func TestAnotherProcessTakesUpASession(t *testing.T) {
	guard := guardOf(t, "ann", "bob")
	o, over := takingUp(t, guard)
	first := serve(t, o, over)
	ann, bob := []string{"Authorization", "Bearer 0123456789abcdef-ann"}, []string{"Authorization", "Bearer 0123456789abcdef-bob"}
	begin := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`
	g := first.post(begin, ann...)
	in := append(ann, "Mcp-Session-Id", g.header.Get("Mcp-Session-Id"))
	want := first.post(fmt.Sprintf(call, "1", ""), in...)
	if want.status != http.StatusOK || !strings.Contains(want.body, "{c 1} 2025-11-25 true false false true") {
		t.Fatalf("%d %s", want.status, want.body)
	}
	first.stop(nil)

	other := serve(t, o, over)
	if g := other.post(fmt.Sprintf(call, "1", ""), append(bob, in[2:]...)...); g.status != http.StatusNotFound {
		t.Errorf("another caller: %d %s", g.status, g.body)
	}
	if g := other.ask(http.MethodDelete, server.Path, "", append(bob, in[2:]...)...); g.status != http.StatusNotFound {
		t.Errorf("another caller's DELETE: %d", g.status)
	}
	if g := other.post(fmt.Sprintf(call, "1", ""), in...); g.status != http.StatusOK || g.body != want.body {
		t.Errorf("%d %s\nwant %s", g.status, g.body, want.body)
	}
	// It may have missed that the list changed: the first stream says so, once.
	stream := other.listen(http.MethodGet, "", in...)
	stream.want(toolsChanged)
	second := other.listen(http.MethodGet, "", in...)
	if err := other.server.Replace(named(o)); err != nil { // the same list
		t.Fatal(err)
	}
	if g := other.ask(http.MethodDelete, server.Path, "", in...); g.status != http.StatusNoContent {
		t.Errorf("DELETE: %d", g.status)
	}
	stream.wantEnd()
	second.wantEnd()
	for range 2 {
		if g := other.post(fmt.Sprintf(call, "1", ""), in...); g.status != http.StatusNotFound {
			t.Errorf("after DELETE: %d %s", g.status, g.body)
		}
		if g := other.ask(http.MethodDelete, server.Path, "", in...); g.status != http.StatusNotFound {
			t.Errorf("DELETE again: %d", g.status)
		}
	}

	over.SessionKey = nil
	stranger := serve(t, o, over)
	if g := stranger.post(fmt.Sprintf(call, "1", ""), in...); g.status != http.StatusNotFound {
		t.Errorf("another key: %d %s", g.status, g.body)
	}
}

func TestIdleSessionGoesOn(t *testing.T) {
	var began, ended atomic.Int64
	x := serve(t, httpOptions(t), server.HTTPOptions{
		SessionIdle: time.Millisecond,
		Session:     func(context.Context) func(error) { began.Add(1); return func(error) { ended.Add(1) } },
	})
	in := x.session("2025-11-25")
	for n := range int64(3) {
		for deadline := time.Now().Add(10 * time.Second); ended.Load() <= n && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if g := x.post(fmt.Sprintf(call, "1", ""), in...); g.status != http.StatusOK {
			t.Fatalf("%d %s", g.status, g.body)
		}
	}
	if began.Load() != 4 {
		t.Errorf("it began %d times", began.Load())
	}
}

func TestSessionIsTakenUpOnce(t *testing.T) {
	o, over := takingUp(t, nil)
	in := serve(t, o, over).session("2025-11-25")
	var began, ended atomic.Int64
	over.Session = func(context.Context) func(error) {
		began.Add(1)
		time.Sleep(10 * time.Millisecond) // others use it meanwhile
		return func(error) { ended.Add(1) }
	}
	x := serve(t, o, over)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			switch g := x.post(fmt.Sprintf(call, fmt.Sprint(i), ""), in...); {
			case g.status != http.StatusOK:
				t.Errorf("%d %s", g.status, g.body)
			}
		})
	}
	all.Wait()
	if began.Load() != 1 {
		t.Errorf("it began %d times", began.Load())
	}
	x.ask(http.MethodDelete, server.Path, "", in...)
	if ended.Load() != 1 {
		t.Errorf("it ended %d times", ended.Load())
	}
}

func TestSessionsThatAreTakenUpCount(t *testing.T) {
	o, over := takingUp(t, nil)
	first := serve(t, o, over)
	var all [][]string
	for range 3 {
		all = append(all, first.session("2025-11-25"))
	}
	over.MaxSessions = 2
	x := serve(t, o, over)
	for i, want := range []int{200, 200, 503} {
		g := x.post(fmt.Sprintf(call, "1", ""), all[i]...)
		if g.status != want || want == 503 && g.header.Get("Retry-After") == "" {
			t.Errorf("session %d: %d %s", i, g.status, g.body)
		}
	}
	x.ask(http.MethodDelete, server.Path, "", all[0]...)
	if g := x.post(fmt.Sprintf(call, "1", ""), all[2]...); g.status != http.StatusOK {
		t.Errorf("after the end of another: %d %s", g.status, g.body)
	}
}

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// counted is a server whose calls are counted, over all its sessions and
// processes.
type counted struct {
	*config.Upstream
	script mcptest.Script
	calls  func(tool string) int
}

// everyTransportCounted runs the test over each transport, once where the server
// marks the tools as read-only, which may run twice, and once where it does not.
func everyTransportCounted(t *testing.T, tools []string, test func(t *testing.T, c *counted, safe bool)) {
	for _, way := range ways {
		for _, safe := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/safe=%v", way.name, safe), func(t *testing.T) {
				t.Parallel()
				c := newCounted(t)
				if safe {
					c.script.ReadOnly = tools
				}
				c.Upstream = way.open(t, c.script)
				test(t, c, safe)
			})
		}
	}
}

func newCounted(t *testing.T) *counted {
	file := filepath.Join(t.TempDir(), "calls")
	return &counted{script: mcptest.Script{CallLog: file}, calls: func(tool string) int {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if strings.TrimSpace(line) == tool {
				n++
			}
		}
		return n
	}}
}

// call makes one call, which has to run the tool so many times and say so.
func (c *counted) call(t *testing.T, p *Pool, tool, args string, want int) (Reply, error) {
	t.Helper()
	before := c.calls(tool)
	r, err := p.CallTool(context.Background(), nil, "fake", tool, mustParse(t, args))
	if ran := c.calls(tool) - before; ran != want || r.Sent != want {
		t.Errorf("%s %s: ran %d times, attempts %d, want %d; %s, %v", tool, args, ran, r.Sent, want, r.Value.JSON(), err)
	}
	return r, err
}

// An error inside an answer may come from a tool that has done its work, whatever
// it says. The session is opened again, and only a tool that may run twice does.
func TestAnswerThatSpeaksOfASessionRepeatsOnlyWhatIsSafe(t *testing.T) {
	everyTransportCounted(t, []string{"rpcerror"}, func(t *testing.T, c *counted, safe bool) {
		p := start(t, Options{}, c.Upstream)
		mustCall(t, p, "echo", `{}`)
		for _, answer := range []struct{ args, modern string }{
			{`{"code":-32600,"message":"session terminated"}`, "no"},
			{`{"code":-32000,"message":"no session with this id"}`, "no"},
			{`{"code":-32000,"message":"server not initialized"}`, "no"},
			{`{"code":-32022,"message":"unsupported protocol version"}`, "yes"},
		} {
			again := answer.modern == "yes" || !strings.Contains(t.Name(), "2026") // there are no sessions
			want := 1
			if again && safe {
				want = 2
			}
			opened := p.servers["fake"].opened.Load()
			if _, err := c.call(t, p, "rpcerror", answer.args, want); err == nil || !strings.Contains(err.Error(), "it answered an error") {
				t.Errorf("%s: %v", answer.args, err)
			}
			mustCall(t, p, "echo", `{}`)
			if reopened := p.servers["fake"].opened.Load() > opened; reopened != again {
				t.Errorf("%s: opened again: %v", answer.args, reopened)
			}
		}
	})
}

// turning makes tokens, another one each time.
func turning(made *atomic.Int32) CredentialSource {
	return sourceFunc(func(_ context.Context, _ string, refresh bool) (Token, error) {
		if refresh {
			made.Add(1)
		}
		return Token{Value: fmt.Sprintf("token-%d", made.Load()), Identity: "one"}, nil
	})
}

type sourceFunc func(ctx context.Context, server string, refresh bool) (Token, error)

func (f sourceFunc) Token(ctx context.Context, _ *callinfo.Info, server string, refresh bool) (Token, error) {
	return f(ctx, server, refresh)
}

// So may an answer that reads like an expired token: the credential is renewed.
func TestAnswerThatSpeaksOfATokenRepeatsOnlyWhatIsSafe(t *testing.T) {
	everyTransportCounted(t, []string{"rpcerror", "fail"}, func(t *testing.T, c *counted, safe bool) {
		if c.Transport == config.Stdio {
			t.Skip("a process has no credentials to renew")
		}
		var made atomic.Int32
		p := start(t, Options{Credentials: map[string]CredentialSource{"fake": turning(&made)}}, c.Upstream)
		mustCall(t, p, "echo", `{}`)
		want := 1
		if safe {
			want = 2
		}
		for i, answer := range []struct{ tool, args string }{
			{"rpcerror", `{"code":-32001,"message":"Token expired"}`},
			{"rpcerror", `{"code":-32000,"message":"401 Unauthorized"}`},
			{"fail", `{"text":"invalid_token: the token has expired"}`},
		} {
			r, err := c.call(t, p, answer.tool, answer.args, want)
			if n := int(made.Load()); n != i+1 {
				t.Errorf("%s: the credential was renewed %d times, want %d", answer.args, n, i+1)
			}
			if answer.tool == "fail" {
				if err != nil || !r.Value.Get("isError").Bool() {
					t.Errorf("%s: want what the tool said: %s, %v", answer.args, r.Value.JSON(), err)
				}
				continue
			}
			if renewed := err != nil && strings.Contains(err.Error(), "credential was renewed, but the call was not repeated"); renewed == safe {
				t.Errorf("%s: %v", answer.args, err)
			}
		}
	})
}

// A session that the server refuses by HTTP 404 or 400 was not looked into: the
// call is repeated, whatever the tool, and attempts counts both requests.
func TestRefusedSessionRepeatsEveryCall(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter, json.RawMessage){
		"404": nil, "400": refuseAs(400, -32000, "no valid session"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounted(t)
			w := &mcptest.Web{Script: c.script, Refuse: refuse}
			p := start(t, Options{}, web(t, config.HTTP, w))
			mustCall(t, p, "echo", `{}`)
			w.Forget()
			r, err := p.CallTool(context.Background(), nil, "fake", "echo", value.Undef)
			if err != nil || r.Sent != 2 || len(w.Arrivals("tools/call")) != 3 || c.calls("echo") != 2 {
				t.Errorf("attempts %d, %d requests, %d runs: %v", r.Sent, len(w.Arrivals("tools/call")), c.calls("echo"), err)
			}
		})
	}
}

// HTTP 400 without an id of a session in the request says nothing of sessions.
func TestRefusalOfARequestWithoutASessionRepeatsNothing(t *testing.T) {
	t.Parallel()
	calls := 0
	p := start(t, Options{}, web(t, config.HTTP, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, _ := value.Parse(string(body))
		id := v.Get("id").JSON()
		switch v.Get("method").Str() {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, handshake)
		case "tools/call":
			calls++
			refuseAs(400, -32000, "the session of the database is over")(w, []byte(id))
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		default:
			http.Error(w, "", http.StatusMethodNotAllowed)
		}
	})))
	a := mustParse(t, `{}`)
	r, err := p.CallTool(context.Background(), nil, "fake", "pay", a)
	if err == nil || calls != 1 || r.Sent != 1 {
		t.Errorf("%d calls, attempts %d: %v", calls, r.Sent, err)
	}
}

// HTTP 401 refuses the request itself.
func TestRefusedCredentialRepeatsEveryCall(t *testing.T) {
	t.Parallel()
	c := newCounted(t)
	w := &mcptest.Web{Script: c.script}
	var made atomic.Int32
	var requests atomic.Int32
	p := start(t, Options{Credentials: map[string]CredentialSource{"fake": turning(&made)}}, web(t, config.HTTP, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/call") {
			requests.Add(1)
			if r.Header.Get("Authorization") == "Bearer token-0" {
				http.Error(rw, "", http.StatusUnauthorized)
				return
			}
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		w.ServeHTTP(rw, r)
	})))
	r, err := p.CallTool(context.Background(), nil, "fake", "echo", value.Undef)
	if err != nil || r.Sent != 2 || requests.Load() != 2 || c.calls("echo") != 1 {
		t.Errorf("attempts %d, %d requests, %d runs: %v", r.Sent, requests.Load(), c.calls("echo"), err)
	}
}

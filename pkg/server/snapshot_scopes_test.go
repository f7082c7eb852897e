package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// scopedOptions are tools of which two need scopes, and callers some of whom have them.
func scopedOptions(t *testing.T) (server.Options, auth.Guard) {
	opts := httpOptions(t)
	for name, scopes := range map[string][]string{"erase": {"write", "admin"}, "note": {"write"}} {
		tool := opts.Tools[0]
		tool.Name, tool.RequiredScopes = name, scopes
		opts.Tools = append(opts.Tools, tool)
	}
	guard, err := auth.NewTokens([]config.CallerToken{
		{Caller: "ann", Token: "0123456789abcdef-ann", Scopes: []string{"write", "other"}},
		{Caller: "bob", Token: "0123456789abcdef-bob"},
		{Caller: "cat", Token: "0123456789abcdef-cat", Scopes: []string{"admin", "write"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return opts, guard
}

func authorizedAs(caller string) []string {
	return []string{"Authorization", "Bearer 0123456789abcdef-" + caller}
}

// calling is a call of a tool in a revision with sessions.
func calling(tool, id string) string {
	return strings.Replace(fmt.Sprintf(call, id, ""), `"echo"`, `"`+tool+`"`, 1)
}

func TestToolCallsRequireScopes(t *testing.T) {
	opts, guard := scopedOptions(t)
	var mu sync.Mutex
	seen := map[string]int{}
	opts.Observe = func(ctx context.Context, r *server.Request) (context.Context, func(server.Outcome)) {
		return ctx, func(o server.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			if r.Tool != "" {
				seen[fmt.Sprint(r.Caller, r.Scopes, " ", r.Tool, " ", o.Code)]++
			}
		}
	}
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	for _, c := range []struct {
		caller, tool string
		status       int
		scopes       string // to ask for, by clients of revisions with sessions
		modern       string // and of the one without
	}{
		{"ann", "echo", 200, "", ""},
		{"bob", "echo", 200, "", ""},
		{"ann", "note", 200, "", ""},
		{"cat", "erase", 200, "", ""},
		{"bob", "note", 403, "write", "write"},
		{"ann", "erase", 403, "write admin", "write admin"},
	} {
		in := x.session("2025-11-25", authorizedAs(c.caller)...)
		for _, g := range []struct {
			httpReply
			scopes string
		}{
			{x.post(calling(c.tool, "7"), in...), c.scopes},
			{x.post(strings.Replace(calling(c.tool, "7"), `"params":{`, `"params":{"_meta":{`+eraMeta+`},`, 1), append(authorizedAs(c.caller), modern("tools/call", c.tool)...)...), c.modern},
			{x.post(calling(c.tool, "8"), append(in[:len(in):len(in)], "Accept", "text/event-stream")...), c.scopes},
		} {
			challenge := g.header.Get("WWW-Authenticate")
			want := fmt.Sprintf("Bearer error=\"insufficient_scope\", error_description=\"missing scope; required: %s\", scope=\"%[1]s\"", g.scopes)
			if c.status == 200 {
				want = ""
			}
			if g.status != c.status || challenge != want || (c.status == 403) != strings.Contains(g.body, `"error":{"code":-32600,"message":"tool`) {
				t.Errorf("%s calls %s: %d %s %s", c.caller, c.tool, g.status, challenge, g.body)
			}
		}
		if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, in...); strings.Count(g.body, `"inputSchema"`) != 3 {
			t.Errorf("%s is shown %s", c.caller, g.body)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"bob[] note -32600", "ann[write other] erase -32600", "cat[admin write] erase 0"} {
		if seen[want] != 3 {
			t.Errorf("observed %v, want %s three times", seen, want)
		}
	}
}

func TestChallengesOfSessionsKeepTheScopesThatOtherToolsNeed(t *testing.T) {
	opts, _ := scopedOptions(t)
	opts.Tools[0].RequiredScopes = []string{"read"}
	guard, err := auth.NewTokens([]config.CallerToken{
		{Caller: "ann", Token: "0123456789abcdef-ann", Scopes: []string{"openid", "read"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	before := x.post(calling("note", "1"), x.session("2025-06-18", authorizedAs("ann")...)...)
	after := x.post(strings.Replace(calling("note", "1"), `"params":{`, `"params":{"_meta":{`+eraMeta+`},`, 1), append(authorizedAs("ann"), modern("tools/call", "note")...)...)
	if h := before.header.Get("WWW-Authenticate"); !strings.Contains(h, `scope="write read"`) {
		t.Error(h)
	}
	if h := after.header.Get("WWW-Authenticate"); !strings.Contains(h, `scope="write"`) {
		t.Error(h)
	}
}

func TestSessionAcceptsTokenWithMoreScopes(t *testing.T) {
	opts, _ := scopedOptions(t)
	guard, err := auth.NewTokens([]config.CallerToken{
		{Caller: "ann", Token: "0123456789abcdef-ann"}, {Caller: "ann", Token: "0123456789abcdef-ann-more", Scopes: []string{"write"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	in := x.session("2025-11-25", authorizedAs("ann")...)
	before, after := x.post(calling("note", "1"), in...), x.post(calling("note", "1"), append(in, authorizedAs("ann-more")...)...)
	if before.status != http.StatusForbidden || after.status != http.StatusOK {
		t.Errorf("%d %s, then %d %s", before.status, before.body, after.status, after.body)
	}
}

func TestBatchRefusesOnlyCallsWithoutScopes(t *testing.T) {
	opts, guard := scopedOptions(t)
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	g := x.post("["+calling("note", "1")+","+calling("echo", "2")+"]", x.session("2025-03-26", authorizedAs("bob")...)...)
	answers := parse(t, g.body)
	if g.status != http.StatusOK || answers.Len() != 2 {
		t.Fatalf("%d %s", g.status, g.body)
	}
	for _, a := range answers.Elems() {
		refused := a.Get("id").JSON() == "1"
		if a.Has("error") != refused || refused && a.Get("error").Get("data").JSON() != `{"requiredScopes":["write"]}` {
			t.Error(a.JSON())
		}
	}
}

func TestScopedToolsNeedAuthentication(t *testing.T) {
	opts, _ := scopedOptions(t)
	x := serve(t, opts, server.HTTPOptions{})
	if g := x.post(calling("note", "1"), x.session("2025-11-25")...); g.status != http.StatusForbidden || g.header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %v %s", g.status, g.header, g.body)
	}
}

func TestScopesAreNotCheckedOverStdio(t *testing.T) {
	opts, _ := scopedOptions(t)
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.send("%s", calling("erase", "1"))
	if got := parse(t, c.line()); !got.Has("result") {
		t.Error(got.JSON())
	}
}

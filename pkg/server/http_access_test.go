package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// guardAllowing lets one caller in.
func guardAllowing(t *testing.T, caller string) auth.Guard {
	t.Helper()
	guard, err := auth.NewTokens([]config.CallerToken{{Caller: caller, Token: "0123456789abcdef-" + caller}})
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func TestReplaceChangesAccessRules(t *testing.T) {
	opts := named(httpOptions(t))
	opts.Access = server.Access{Guard: guardAllowing(t, "ann"), AllowedOrigins: []string{"https://one.example"}}
	x := serve(t, opts, server.HTTPOptions{})
	check := func(when string, want map[string]int) {
		t.Helper()
		for who, status := range want {
			caller, origin, _ := strings.Cut(who, " ")
			headers := authorizedAs(caller)
			if origin != "" {
				headers = append(headers, "Origin", origin)
			}
			if g := x.ask(http.MethodPost, server.Path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headers...); g.status != status {
				t.Errorf("%s, %s: %d %s", when, who, g.status, g.body)
			}
		}
	}
	// An admitted request has no session yet: 400.
	check("at first", map[string]int{"ann": 400, "bob": 401, "ann https://one.example": 400, "ann https://two.example": 403})
	opts.Access = server.Access{Guard: guardAllowing(t, "bob"), AllowedOrigins: []string{"https://two.example"}}
	if err := x.server.Replace(opts); err != nil {
		t.Fatal(err)
	}
	check("then", map[string]int{"ann": 401, "bob": 400, "bob https://one.example": 403, "bob https://two.example": 400})
	opts.Access = server.Access{}
	if err := x.server.Replace(opts); err == nil {
		t.Error("everybody may come in")
	}
	check("after that was refused", map[string]int{"ann": 401, "bob": 400})
}

func TestAccessIsCheckedAgainAfterTheBody(t *testing.T) {
	opts := named(httpOptions(t))
	opts.Access.Guard = guardAllowing(t, "ann")
	x := serve(t, opts, server.HTTPOptions{})
	body, rest := io.Pipe()
	r, err := http.NewRequest(http.MethodPost, x.url+server.Path, body)
	if err != nil {
		t.Fatal(err)
	}
	// The body is asked for when the request was admitted.
	asked := make(chan struct{})
	r = r.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(asked) }}))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Expect", "100-continue")
	r.Header.Set("Authorization", "Bearer 0123456789abcdef-ann")
	go func() {
		<-asked
		opts.Access.Guard = guardAllowing(t, "bob")
		if err := x.server.Replace(opts); err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(rest, initialize, "2025-11-25")
		rest.Close()
	}()
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 20 * time.Second}}
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized || response.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("%s %v", response.Status, response.Header)
	}
}

func TestHTTPOptionsOverrideAccess(t *testing.T) {
	opts := named(httpOptions(t))
	opts.Access = server.Access{Guard: guardAllowing(t, "ann"), AllowedOrigins: []string{"https://one.example"}}
	x := serve(t, opts, server.HTTPOptions{Guard: guardAllowing(t, "bob"), AllowedOrigins: []string{}})
	for caller, status := range map[string]int{"ann": 401, "bob": 400} {
		if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, authorizedAs(caller)...); g.status != status {
			t.Errorf("%s: %d %s", caller, g.status, g.body)
		}
	}
	if g := x.post(`{}`, append(authorizedAs("bob"), "Origin", "https://one.example")...); g.status != http.StatusForbidden {
		t.Errorf("%d %s", g.status, g.body)
	}
	if err := x.server.Replace(named(httpOptions(t))); err != nil {
		t.Error(err)
	}
}

func TestReplaceRefusesToolsThatNobodyCouldCall(t *testing.T) {
	opts, guard := scopedOptions(t)
	x := serve(t, httpOptions(t), server.HTTPOptions{})
	if g := x.post(fmt.Sprintf(initialize, "2025-11-25")); g.status != http.StatusOK {
		t.Fatal(g.body)
	}
	if err := x.server.Replace(named(opts)); err == nil || !strings.Contains(err.Error(), "requires scopes") {
		t.Error(err)
	}
	opts.Access.Guard = guard
	if err := x.server.Replace(named(opts)); err != nil {
		t.Error(err)
	}
	opts.Access.Guard = nil
	if err := x.server.Replace(named(opts)); err == nil || !strings.Contains(err.Error(), "needs a restart") {
		t.Error(err)
	}
}

func TestAllowedHostsMatchWithAndWithoutPort(t *testing.T) {
	x := serve(t, httpOptions(t), server.HTTPOptions{AllowedHosts: []string{"Tools.example", "other.example:8443", "[2001:db8::1]"}})
	for host, status := range map[string]int{
		"tools.example": 400, "tools.example:8080": 400, "other.example:8443": 400, "[2001:db8::1]": 400, "[2001:DB8::1]:8443": 400,
		"127.0.0.1": 400, "LOCALHOST:1": 400, "other.example": 403, "other.example:80": 403, "tools.example.evil.example": 403, "": 400,
	} {
		if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Host", host); g.status != status {
			t.Errorf("%s: %d %s", host, g.status, g.body)
		}
	}
}

func TestStreamsEndWhenTheGuardChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "callers")
	write := func(callers ...string) {
		t.Helper()
		var text strings.Builder
		for _, c := range callers {
			fmt.Fprintf(&text, "%s 0123456789abcdef-%s\n", c, c)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ann", "bob")
	guard, err := auth.NewTokensFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x := serve(t, httpOptions(t), server.HTTPOptions{Guard: guard})
	ann, bob := x.listen(http.MethodGet, "", x.session("2025-11-25", authorizedAs("ann")...)...), x.listen(http.MethodGet, "", x.session("2025-11-25", authorizedAs("bob")...)...)
	write() // what cannot be used changes nothing
	if err := guard.Reload(); err == nil {
		t.Error("a file without tokens was taken")
	}
	x.changed("a")
	ann.want(toolsChanged)
	bob.want(toolsChanged)
	write("bob")
	if err := guard.Reload(); err != nil {
		t.Fatal(err)
	}
	ann.wantEnd()
	x.changed("b")
	bob.want(toolsChanged)
	if g := x.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, authorizedAs("ann")...); g.status != http.StatusUnauthorized {
		t.Errorf("%d %s", g.status, g.body)
	}
}

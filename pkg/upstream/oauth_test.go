package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/mcptest/protected"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// remote returns an entry named fake for a server over HTTP.
func remote(url string, auth *config.Auth, change ...func(*config.Upstream)) *config.Upstream {
	u := &config.Upstream{
		Name: "fake", Transport: config.HTTP, URL: url, Auth: auth,
		ConnectTimeout: testTimeout, Timeout: testTimeout, MaxMessageBytes: config.DefaultMaxMessageBytes,
	}
	for _, f := range change {
		f(u)
	}
	return u
}

// identityOf is the answer of the tool whoami of protected.Server.
type identityOf struct{ Sub, Client, Scope, Tenant string }

func whoami(ctx context.Context, p *Pool) (identityOf, error) {
	r, err := p.CallTool(ctx, nil, "fake", "whoami", value.Undef)
	if err != nil {
		return identityOf{}, err
	}
	var w identityOf
	return w, json.Unmarshal([]byte(text(r.Value)), &w)
}

func mustBe(t testing.TB, ctx context.Context, p *Pool, want identityOf) {
	t.Helper()
	got, err := whoami(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("the server saw %+v, want %+v", got, want)
	}
}

// mustRefuse calls whoami, which has to fail with an error that says all of
// these.
func mustRefuse(t testing.TB, ctx context.Context, p *Pool, says ...string) *Error {
	t.Helper()
	got, err := whoami(ctx, p)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v and error %v, want an *Error", got, err)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error does not say %q:\n%v", s, err)
		}
	}
	return e
}

func worker(flow string) *config.Auth {
	return &config.Auth{Type: config.AuthOAuth2, Flow: flow, ClientID: "worker", ClientSecret: "worker-secret", Scopes: []string{"read"}}
}

func TestClientCredentialsAreFoundByDiscovery(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	p := start(t, Options{}, remote(server.URL, worker(config.FlowClientCredentials)))
	mustBe(t, t.Context(), p, identityOf{Client: "worker", Scope: "read"})
	mustBe(t, t.Context(), p, identityOf{Client: "worker", Scope: "read"})
	if tokens, _ := server.Tokens(); len(tokens) != 1 {
		t.Errorf("%d tokens were used for two calls, want 1", len(tokens))
	}
}

func TestTheAuthorizationServerCanBeConfigured(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	for name, change := range map[string]func(*config.Auth){
		"issuer":   func(a *config.Auth) { a.Issuer = as.URL },
		"tokenUrl": func(a *config.Auth) { a.TokenURL = as.URL + "/token" },
	} {
		t.Run(name, func(t *testing.T) {
			auth := worker(config.FlowClientCredentials)
			change(auth)
			mustBe(t, t.Context(), start(t, Options{}, remote(server.URL, auth)), identityOf{Client: "worker", Scope: "read"})
		})
	}
}

func TestTokensAreForTheConfiguredResource(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	for name, resource := range map[string]string{"another": "https://elsewhere.example/mcp", "none": ""} {
		t.Run(name, func(t *testing.T) {
			auth := worker(config.FlowClientCredentials)
			auth.TokenURL, auth.Resource = as.URL+"/token", &resource
			mustRefuse(t, t.Context(), start(t, Options{}, remote(server.URL, auth)), "401")
		})
	}
}

func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	p := start(t, Options{}, remote(server.URL, worker(config.FlowClientCredentials)))
	mustBe(t, t.Context(), p, identityOf{Client: "worker", Scope: "read"})
	first, _ := server.Tokens()
	server.Distrust(first[0])

	// However many calls find the token refused, it is renewed once.
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if got, err := whoami(t.Context(), p); err != nil || got.Client != "worker" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	wait.Wait()
	if tokens, _ := server.Tokens(); len(tokens) != 2 {
		t.Errorf("%d tokens were used, want 2", len(tokens))
	}
}

func TestAHangingAuthorizationServerTakesNoLongerThanConnecting(t *testing.T) {
	t.Parallel()
	caller, err := value.Parse(`{"token":"caller-token"}`)
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(release) })
	for name, change := range map[string]func(*config.Auth){
		"token":     func(a *config.Auth) { a.TokenURL = hanging.URL },
		"discovery": func(a *config.Auth) { a.Issuer = hanging.URL },
		"exchange": func(a *config.Auth) {
			a.Type, a.TokenURL, a.FromMeta = config.AuthTokenExchange, hanging.URL, "token"
		},
		"refresh": func(a *config.Auth) {
			a.Flow, a.TokenURL, a.RefreshToken, a.Store = config.FlowRefreshToken, hanging.URL, "refresh-token", filepath.Join(t.TempDir(), "t")
		},
	} {
		t.Run(name, func(t *testing.T) {
			auth := worker(config.FlowClientCredentials)
			change(auth)
			p := start(t, Options{}, remote(hanging.URL, auth, func(u *config.Upstream) { u.ConnectTimeout = 20 * time.Millisecond }))
			_, err := p.CallTool(t.Context(), &callinfo.Info{Meta: caller}, "fake", "whoami", value.Undef)
			for _, says := range []string{"no answer within 20ms", "mcpServers.fake.connectTimeoutMs"} {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("got %v, want an error that says %q", err, says)
				}
			}
		})
	}
}

func TestATokenThatIsAlwaysRefusedIsNoLoop(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	auth := worker(config.FlowClientCredentials)
	resource := "https://elsewhere.example/mcp"
	auth.Resource = &resource // so that the server never takes it
	p := start(t, Options{}, remote(server.URL, auth))
	mustRefuse(t, t.Context(), p, "refused", "401", "mcpServers.fake.auth")
	tokens, refusals := server.Tokens()
	// One refusal is of the probe, which has no token.
	if len(tokens) > 2 || refusals > 3 {
		t.Errorf("%d tokens and %d refusals in one call, want at most 2 and 3", len(tokens), refusals)
	}
}

func TestTokensAreRenewedBeforeTheyExpire(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t, "-access", "3s")
	server := protected.Start(t, as)
	p := start(t, Options{}, remote(server.URL, worker(config.FlowClientCredentials)))
	mustBe(t, t.Context(), p, identityOf{Client: "worker", Scope: "read"})
	eventually(t, "a second token", func() bool {
		mustBe(t, t.Context(), p, identityOf{Client: "worker", Scope: "read"})
		tokens, _ := server.Tokens()
		return len(tokens) >= 2
	})
	tokens, refusals := server.Tokens()
	if refusals > 1 { // that of the probe
		t.Errorf("%d requests were refused, with %d tokens; want none", refusals, len(tokens))
	}
}

func TestAWrongClientSecretIsNamedAndNotShown(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	auth := worker(config.FlowClientCredentials)
	auth.ClientSecret = "worker-wrong-secret"
	e := mustRefuse(t, t.Context(), start(t, Options{}, remote(server.URL, auth)), "invalid_client", "mcpServers.fake.auth.clientId")
	if strings.Contains(e.Error(), auth.ClientSecret) {
		t.Errorf("the error holds the secret: %v", e)
	}
}

// loginAs returns options of a pool in which user logs in.
func loginAs(t testing.TB, user string) Options {
	return Options{
		TokenFile:   filepath.Join(t.TempDir(), "deep", "tokens.json"),
		OpenBrowser: func(ctx context.Context, url string) error { return mcptest.Browse(ctx, url, user) },
	}
}

func TestLoginRegistersAClientAndOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	entry := remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode})
	o := loginAs(t, "alice")
	without := Options{TokenFile: o.TokenFile}

	mustRefuse(t, t.Context(), start(t, without, entry), "nobody has logged in", "mcpgraph auth login CONFIG fake")
	login, err := start(t, o, entry).Login(t.Context(), "fake", o.OpenBrowser)
	if err != nil {
		t.Fatal(err)
	}
	if !login.LoggedIn || login.Issuer != as.URL || !login.Renewable || !slices.Equal(login.Scopes, []string{"read"}) || login.File != o.TokenFile {
		t.Errorf("got %+v", login)
	}
	if info, err := os.Stat(o.TokenFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of tokens: %v, %v; want mode 0600", info.Mode(), err)
	}
	p := start(t, without, entry)
	mustBe(t, t.Context(), p, identityOf{Sub: "alice", Client: "registered-3", Scope: "read"})

	// The refresh token works once, so the new one has to be kept.
	for range 3 {
		tokens, _ := server.Tokens()
		server.Distrust(tokens[len(tokens)-1])
		mustBe(t, t.Context(), p, identityOf{Sub: "alice", Client: "registered-3", Scope: "read"})
		p = start(t, without, entry)
	}

	if logins, err := p.Logins(t.Context()); err != nil || len(logins) != 1 || !logins[0].LoggedIn || logins[0].Issuer != as.URL {
		t.Errorf("Logins: %+v, %v", logins, err)
	}
	there, err := p.Logout(t.Context(), "fake")
	if !there || err != nil {
		t.Fatalf("Logout: %v, %v", there, err)
	}
	mustRefuse(t, t.Context(), start(t, without, entry), "nobody has logged in")
	tokens, _ := server.Tokens()
	if got, err := as.Introspect(t.Context(), tokens[len(tokens)-1]); err != nil || got.Active {
		t.Errorf("after the logout the authorization server says %+v, %v", got, err)
	}
	if logins, err := p.Logins(t.Context()); err != nil || len(logins) != 1 || logins[0].LoggedIn {
		t.Errorf("Logins after the logout: %+v, %v", logins, err)
	}
	if there, err := p.Logout(t.Context(), "fake"); there || err != nil {
		t.Errorf("a second Logout: %v, %v", there, err)
	}
}

// TestALogoutEndsALoginThatGetsItsTokens lets a logout begin while the authorization
// server issues the tokens of a login: none may be left afterwards.
func TestALogoutEndsALoginThatGetsItsTokens(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	target, err := url.Parse(as.URL)
	if err != nil {
		t.Fatal(err)
	}
	auth := &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode, ClientID: "desktop", AuthorizationURL: as.URL + "/authorize"}
	entry := remote(server.URL, auth)
	o := loginAs(t, "alice")
	var p, other *Pool
	loggedOut := make(chan error, 1)
	proxy := httputil.NewSingleHostReverseProxy(target)
	issuing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		go func() {
			_, err := other.Logout(t.Context(), "fake")
			loggedOut <- err
		}()
		select {
		case err := <-loggedOut: // it did not wait
			loggedOut <- err
		case <-time.After(50 * time.Millisecond):
		}
		proxy.ServeHTTP(w, r)
	}))
	defer issuing.Close()
	auth.TokenURL = issuing.URL + "/token"
	p, other = start(t, o, entry), start(t, o, entry)
	if _, err := p.Login(t.Context(), "fake", o.OpenBrowser); err != nil {
		t.Fatal(err)
	}
	if err := <-loggedOut; err != nil {
		t.Fatal(err)
	}
	if logins, err := p.Logins(t.Context()); err != nil || len(logins) != 1 || logins[0].LoggedIn {
		t.Errorf("after the logout: %+v, %v", logins, err)
	}
}

func TestLoginWithAConfiguredClient(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t, "-register=false")
	server := protected.Start(t, as)
	auth := &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode, ClientID: "desktop"}
	p := start(t, loginAs(t, "bob"), remote(server.URL, auth))
	// A call may log in by itself where there is a browser.
	mustBe(t, t.Context(), p, identityOf{Sub: "bob", Client: "desktop", Scope: "read"})
}

func TestLoginWithoutAClientSaysWhatToRegister(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t, "-register=false")
	server := protected.Start(t, as)
	auth := &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode}
	o := loginAs(t, "bob")
	_, err := start(t, o, remote(server.URL, auth)).Login(t.Context(), "fake", o.OpenBrowser)
	if err == nil || !strings.Contains(err.Error(), "does not register clients") || !strings.Contains(err.Error(), "mcpServers.fake.auth.clientId") {
		t.Errorf("got %v", err)
	}
}

func TestLoginIgnoresOthersThatCallThePort(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	o := loginAs(t, "alice")
	browse := o.OpenBrowser
	o.OpenBrowser = func(ctx context.Context, address string) error {
		response, err := http.Get(redirectOf(t, address) + "?code=stolen&state=guessed")
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("a guessed state was answered with %s", response.Status)
		}
		return browse(ctx, address)
	}
	p := start(t, o, remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode}))
	if _, err := p.Login(t.Context(), "fake", o.OpenBrowser); err != nil {
		t.Fatal(err)
	}
	mustBe(t, t.Context(), p, identityOf{Sub: "alice", Client: "registered-3", Scope: "read"})
}

func TestLoginDistrustsAnotherIssuer(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	o := loginAs(t, "alice")
	o.OpenBrowser = func(_ context.Context, address string) error {
		response, err := http.Get(redirectOf(t, address) + "?code=c0de&iss=https://evil.example&state=" + query(t, address).Get("state"))
		if err == nil {
			response.Body.Close()
		}
		return err
	}
	p := start(t, o, remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode}))
	if _, err := p.Login(t.Context(), "fake", o.OpenBrowser); err == nil || !strings.Contains(err.Error(), "https://evil.example") {
		t.Errorf("got %v", err)
	}
}

func TestAConfiguredRefreshTokenIsKeptUpToDate(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	o := loginAs(t, "carol")
	login := remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode, ClientID: "desktop"})
	if _, err := start(t, o, login).Login(t.Context(), "fake", o.OpenBrowser); err != nil {
		t.Fatal(err)
	}
	r := storedTokens(t, o.TokenFile)["fake "+server.URL]
	if r.RefreshToken == "" {
		t.Fatalf("got %+v", r)
	}
	auth := &config.Auth{
		Type: config.AuthOAuth2, Flow: config.FlowRefreshToken, ClientID: "desktop", RefreshToken: r.RefreshToken,
		Store: filepath.Join(t.TempDir(), "own.json"),
	}
	want := identityOf{Sub: "carol", Client: "desktop", Scope: "read"}
	// The configured token works once; every later program uses what was kept.
	for range 3 {
		p := start(t, Options{}, remote(server.URL, auth))
		mustBe(t, t.Context(), p, want)
		tokens, _ := server.Tokens()
		server.Distrust(tokens[len(tokens)-1])
		mustBe(t, t.Context(), p, want)
	}
	// Without the store the program is where it was: with a token that was used.
	if err := os.Remove(auth.Store); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, t.Context(), start(t, Options{}, remote(server.URL, auth)), "mcpServers.fake.auth.refreshToken")
}

func TestProgramsShareTheirTokens(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	o := loginAs(t, "alice")
	entry := remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode})
	if _, err := start(t, o, entry).Login(t.Context(), "fake", o.OpenBrowser); err != nil {
		t.Fatal(err)
	}
	server.Distrust(storedTokens(t, o.TokenFile)["fake "+server.URL].AccessToken)
	// Ten programs find the token refused at once. The refresh token works once,
	// and fosite ends the whole login where it is used twice.
	var wait sync.WaitGroup
	for range 10 {
		p := start(t, Options{TokenFile: o.TokenFile}, entry)
		wait.Go(func() {
			if got, err := whoami(t.Context(), p); err != nil || got.Sub != "alice" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	wait.Wait()
	if tokens, _ := server.Tokens(); len(tokens) != 2 {
		t.Errorf("%d tokens were used, want 2", len(tokens))
	}
}

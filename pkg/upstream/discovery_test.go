package upstream

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/mcptest/protected"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
)

func TestAMissingScopeIsAskedFor(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	auth := worker(config.FlowClientCredentials)
	auth.Scopes = []string{"write"}
	mustBe(t, t.Context(), start(t, Options{}, remote(server.URL, auth)), identityOf{Client: "worker", Scope: "write read"})

	// A person has to agree to more.
	login := &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode, Scopes: []string{"write"}}
	o := loginAs(t, "alice")
	if _, err := start(t, o, remote(server.URL, login)).Login(t.Context(), "fake", o.OpenBrowser); err != nil {
		t.Fatal(err)
	}
	p := start(t, Options{TokenFile: o.TokenFile}, remote(server.URL, login))
	mustRefuse(t, t.Context(), p, "the scopes that this takes: read", "mcpServers.fake.auth.scopes", "mcpgraph auth login CONFIG fake")
}

func TestAServerMayGetAnotherAuthorizationServer(t *testing.T) {
	t.Parallel()
	before, after := mcptest.StartAuthServer(t), mcptest.StartAuthServer(t)
	server := protected.Start(t, before)
	o := loginAs(t, "alice")
	login := remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode})
	person, without := start(t, o, login), start(t, Options{TokenFile: o.TokenFile}, login)
	client := start(t, Options{}, remote(server.URL, worker(config.FlowClientCredentials)))
	mustBe(t, t.Context(), person, identityOf{Sub: "alice", Client: "registered-3", Scope: "read"})
	mustBe(t, t.Context(), without, identityOf{Sub: "alice", Client: "registered-3", Scope: "read"})
	mustBe(t, t.Context(), client, identityOf{Client: "worker", Scope: "read"})

	server.Move(after)
	// A secret that was configured is not told to another server by itself.
	mustRefuse(t, t.Context(), client, "changed from "+before.URL+" to "+after.URL, "mcpServers.fake.auth.issuer")
	mustRefuse(t, t.Context(), client, "changed from "+before.URL+" to "+after.URL)
	mustRefuse(t, t.Context(), without, "the login has ended", "mcpgraph auth login CONFIG fake")
	mustBe(t, t.Context(), person, identityOf{Sub: "alice", Client: "registered-3", Scope: "read"})
	if logins, err := without.Logins(t.Context()); err != nil || logins[0].Issuer != after.URL {
		t.Errorf("got %+v, %v", logins, err)
	}
	mustBe(t, t.Context(), without, identityOf{Sub: "alice", Client: "registered-3", Scope: "read"})
}

// Somebody who has logged in is not sent somewhere else by the next login.
func TestALoginKeepsItsAuthorizationServer(t *testing.T) {
	t.Parallel()
	before, after := mcptest.StartAuthServer(t), mcptest.StartAuthServer(t)
	server := protected.Start(t, before)
	o := loginAs(t, "alice")
	p := start(t, Options{TokenFile: o.TokenFile}, remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode}))
	login := func() error {
		_, err := p.Login(t.Context(), "fake", o.OpenBrowser)
		return err
	}
	if err := login(); err != nil {
		t.Fatal(err)
	}
	if status, err := p.Status(t.Context(), nil, "fake"); err != nil || status.Issuer != before.URL {
		t.Errorf("the status has the issuer %q, %v", status.Issuer, err)
	}
	server.Move(after)
	if err := login(); err == nil || !strings.Contains(err.Error(), "changed from "+before.URL+" to "+after.URL) || !strings.Contains(err.Error(), "mcpgraph auth logout CONFIG fake") {
		t.Errorf("got %v", err)
	}
	if _, err := p.Logout(t.Context(), "fake"); err != nil {
		t.Fatal(err)
	}
	if err := login(); err != nil {
		t.Error(err)
	}
	if logins, err := p.Logins(t.Context()); err != nil || logins[0].Issuer != after.URL {
		t.Errorf("got %+v, %v", logins, err)
	}
}

// Where the lock file has an authorization server, no other is asked, and tokens of another
// are not used.
func TestTheLockKeepsTheAuthorizationServer(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	o := loginAs(t, "alice")
	entry := remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode})
	with := func(issuer string, mode lock.Mode, change ...func(*config.Auth)) *Pool {
		locked := &lock.File{Servers: []*lock.Server{{Name: "fake", Issuer: issuer}}}
		changed := *entry.Auth
		for _, f := range change {
			f(&changed)
		}
		return start(t, Options{TokenFile: o.TokenFile, Lock: locked, LockMode: mode}, remote(server.URL, &changed))
	}
	const other = "https://login.example"
	says := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "is "+as.URL+", but the lock file has "+other) && strings.Contains(err.Error(), "mcpServers.fake.auth.issuer")
	}
	if _, err := with(other, "").Login(t.Context(), "fake", o.OpenBrowser); !says(err) {
		t.Errorf("a login: %v", err)
	}
	if _, err := with(as.URL+"/", "").Login(t.Context(), "fake", o.OpenBrowser); err != nil {
		t.Errorf("a login at the locked one: %v", err)
	}
	if _, err := with(other, "").Tools(t.Context(), nil, "fake"); !says(err) {
		t.Errorf("a login that is there: %v", err)
	}
	for name, p := range map[string]*Pool{
		"locked": with(as.URL, ""), "none": with("", ""), "warn": with(other, lock.Warn), "off": with(other, lock.Off),
		"configured": with(other, "", func(a *config.Auth) { a.Issuer = as.URL }),
	} {
		if _, err := p.Tools(t.Context(), nil, "fake"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package upstream

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/mcptest/protected"
	"github.com/mcpgraph/mcpgraph/pkg/config"
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

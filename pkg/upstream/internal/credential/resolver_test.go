package credential

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// optionsFor returns what the resolver of an entry is made with.
func optionsFor(t testing.TB, entry *config.Upstream) Options {
	return Options{Entry: entry, Redact: redact.New(nil), Log: slog.New(slog.DiscardHandler), Life: t.Context()}
}

func TestIdentitiesAreApart(t *testing.T) {
	a := New(optionsFor(t, &config.Upstream{
		Name: "fake", Transport: config.HTTP, URL: "http://127.0.0.1:1",
		ForwardHeaders: []config.Forward{{From: "X-Token", To: "Authorization", Prefix: "Bearer "}, {From: "X-Tenant", To: "X-Tenant"}},
	}))
	seen := map[Identity]string{}
	for name, c := range map[string]*callinfo.Info{
		"alice":             {Header: http.Header{"X-Token": {"alice"}}},
		"bob":               {Header: http.Header{"X-Token": {"bob"}}},
		"alice as a caller": {Caller: "a", Header: http.Header{"X-Token": {"alice"}}},
		"alice at acme":     {Header: http.Header{"X-Token": {"alice"}, "X-Tenant": {"acme"}}},
		"the other way":     {Header: http.Header{"X-Token": {"acme"}, "X-Tenant": {"alice"}}},
	} {
		g, err := a.Resolve(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := a.Resolve(t.Context(), c)
		if again.Identity != g.Identity {
			t.Errorf("%s has two identities", name)
		}
		if other, ok := seen[g.Identity]; ok || g.Identity == "" {
			t.Errorf("%s and %q have one identity: %q", name, other, g.Identity)
		}
		if strings.Contains(string(g.Identity), "alice") {
			t.Errorf("the identity holds the credential: %q", g.Identity)
		}
		seen[g.Identity] = name
	}
}

// remote returns an entry over HTTP.
func remote(auth *config.Auth, rules ...config.Forward) *config.Upstream {
	return &config.Upstream{Name: "fake", Transport: config.HTTP, URL: "http://127.0.0.1:1", Auth: auth, ForwardHeaders: rules}
}

// mustSay checks an error, which has to be an *Error.
func mustSay(t *testing.T, err error, message, hint string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, message) || !strings.Contains(e.Hint, hint) {
		t.Errorf("got %v, want an error that says %q and %q", err, message, hint)
	}
}

func TestHeadersThatARuleForwards(t *testing.T) {
	r := New(optionsFor(t, remote(nil,
		config.Forward{From: "X-First", To: "Authorization", Prefix: "Bearer ", Required: true},
		config.Forward{From: "X-Second", To: "Authorization", Prefix: "Bearer "},
		config.Forward{From: "X-Tenant", To: "X-Tenant"})))
	call, err := r.Resolve(t.Context(), &callinfo.Info{Header: http.Header{"X-Second": {"two"}, "X-Tenant": {"acme"}, "X-Other": {"no"}}})
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := call.Headers(t.Context())
	if err != nil || len(h) != 2 || h.Get("Authorization") != "Bearer two" || h.Get("X-Tenant") != "acme" {
		t.Errorf("got %v, %v", h, err)
	}
	if !slices.Contains(call.Secrets, "two") || !r.IsPersonal() {
		t.Errorf("the secrets are %q", call.Secrets)
	}
	for value, says := range map[string]string{
		"": "does not carry the credential", "a\nb": "control characters", strings.Repeat("x", maxForwarded+1): "expected at most 16384",
	} {
		_, err := r.Resolve(t.Context(), &callinfo.Info{Header: http.Header{"X-First": {value}}})
		mustSay(t, err, says, "")
	}
}

func TestTheAuthorizationOfTheCallerNeedsUnsafePassthrough(t *testing.T) {
	for unsafe, says := range map[bool]string{false: "must not be passed on", true: ""} {
		r := New(optionsFor(t, remote(nil, config.Forward{From: "Authorization", To: "Authorization", UnsafePassthrough: unsafe})))
		call, err := r.Resolve(t.Context(), &callinfo.Info{Header: http.Header{"Authorization": {"Bearer mine"}}})
		if says != "" {
			mustSay(t, err, says, "tokenExchange")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if h, _, _ := call.Headers(t.Context()); h.Get("Authorization") != "Bearer mine" {
			t.Errorf("got %v", h)
		}
	}
}

func TestARefusedTokenIsAskedForAgain(t *testing.T) {
	refused := Refusal{Err: errors.New("HTTP 401")}
	tokens := []string{"one", "two", "two"}
	o := optionsFor(t, remote(nil))
	o.Source = func(_ context.Context, _ *callinfo.Info, refresh bool) (Token, error) {
		next := tokens[0]
		if tokens = tokens[1:]; refresh != (next == "two") {
			t.Errorf("token %s with refresh %v", next, refresh)
		}
		return Token{Value: next, Identity: "ada"}, nil
	}
	r := New(o)
	first, err := r.Resolve(t.Context(), &callinfo.Info{})
	if err != nil || first.Token != "one" {
		t.Fatalf("got %+v, %v", first, err)
	}
	second, err := r.Renew(t.Context(), &callinfo.Info{}, first, refused)
	if err != nil || second.Token != "two" || second.Identity != first.Identity {
		t.Fatalf("got %+v, %v", second, err)
	}
	_, err = r.Renew(t.Context(), &callinfo.Info{}, second, refused) // the source has no other
	mustSay(t, err, "it refused the credential: HTTP 401", "from the program")
}

func TestATokenOfTheConfigurationCannotBeRenewed(t *testing.T) {
	r := New(optionsFor(t, remote(&config.Auth{Type: config.AuthBearer, Token: "fixed"})))
	call, err := r.Resolve(t.Context(), &callinfo.Info{})
	if err != nil || call.Token != "fixed" || call.Identity != "" || r.IsPersonal() {
		t.Fatalf("got %+v, %v", call, err)
	}
	_, err = r.Renew(t.Context(), &callinfo.Info{}, call, Refusal{Err: errors.New("HTTP 401")})
	mustSay(t, err, "it refused the credential: HTTP 401", "check mcpServers.fake.auth.token")
	_, err = r.Login(t.Context(), nil)
	mustSay(t, err, "nobody can log in", "authorizationCode")
}

func TestAServerThatWantsACredentialGetsNone(t *testing.T) {
	r := New(optionsFor(t, remote(nil)))
	call, err := r.Resolve(t.Context(), &callinfo.Info{Header: http.Header{"Authorization": {"Bearer mine"}}})
	if err != nil || call.HasHeaders() {
		t.Fatalf("got %+v, %v", call, err)
	}
	_, err = r.Renew(t.Context(), &callinfo.Info{}, call, Refusal{Err: errors.New("HTTP 401")})
	mustSay(t, err, "it wants a credential: HTTP 401", "mcpServers.fake.headers")
}

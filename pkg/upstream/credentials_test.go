package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/mcptest/protected"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// tokensFor returns as many access tokens as there are users, each of another
// user, for the server.
func tokensFor(t testing.TB, server *protected.Server, users ...string) []string {
	t.Helper()
	var tokens []string
	for _, user := range users {
		o := loginAs(t, user)
		entry := remote(server.URL, &config.Auth{Type: config.AuthOAuth2, Flow: config.FlowAuthorizationCode, ClientID: "desktop"})
		if _, err := start(t, o, entry).Login(t.Context(), "fake", o.OpenBrowser); err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, storedTokens(t, o.TokenFile)["fake "+server.URL].AccessToken)
	}
	return tokens
}

// stored is what tests read of a record of a token file.
type stored struct{ AccessToken, RefreshToken string }

// storedTokens returns the records of a token file by their keys.
func storedTokens(t testing.TB, file string) map[string]stored {
	t.Helper()
	var all map[string]stored
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func withHeader(ctx context.Context, name, v string) context.Context {
	return withInfo(ctx, &callinfo.Info{Header: http.Header{name: {v}}})
}

func withMeta(ctx context.Context, key, v string) context.Context {
	meta := value.NewBuilder(1)
	meta.Set(key, value.FromString(v))
	return withInfo(ctx, &callinfo.Info{Meta: meta.Value()})
}

// forwarding is an entry that takes the caller's token from X-Token, or from
// example.com/token of _meta.
func forwarding(u *config.Upstream) {
	u.ForwardHeaders = []config.Forward{
		{From: "X-Token", To: "Authorization", Prefix: "Bearer ", Required: true},
		{From: "X-Tenant", To: "X-Tenant"},
	}
	u.ForwardMeta = []config.Forward{{From: "example.com/token", To: "Authorization", Prefix: "Bearer "}}
}

func TestCallersBringTheirCredentials(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	tokens := tokensFor(t, server, "alice", "bob")
	p := start(t, Options{}, remote(server.URL, nil, forwarding))

	mustBe(t, withHeader(t.Context(), "X-Token", tokens[0]), p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
	mustBe(t, withMeta(t.Context(), "example.com/token", tokens[1]), p, identityOf{Sub: "bob", Client: "desktop", Scope: "read"})
	both := withInfo(t.Context(), &callinfo.Info{Header: http.Header{"X-Token": {tokens[0]}, "X-Tenant": {"acme"}}})
	mustBe(t, both, p, identityOf{Sub: "alice", Client: "desktop", Scope: "read", Tenant: "acme"})

	says := []string{"does not carry the credential", "X-Token", `"example.com/token" in the request's _meta`, "mcpgraph.WithCallInfo"}
	mustRefuse(t, t.Context(), p, says...)
	mustRefuse(t, withHeader(t.Context(), "Authorization", "Bearer "+tokens[0]), p, says...)
	mustRefuse(t, withHeader(t.Context(), "X-Tenant", "acme"), p, says...)
	e := mustRefuse(t, withHeader(t.Context(), "X-Token", "not-a-good-token"), p, "refused the credential", "401", "the caller has to send a good one as the header X-Token")
	if strings.Contains(e.Error(), "not-a-good-token") {
		t.Errorf("the error holds the credential: %v", e)
	}
	mustRefuse(t, withMeta(t.Context(), "example.com/token", "two\nlines"), p, "control characters")
}

func TestTheCallersOwnTokenIsNotPassedOn(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	token := tokensFor(t, server, "alice")[0]
	own := withHeader(t.Context(), "Authorization", "Bearer "+token)
	rule := config.Forward{From: "authorization", To: "Authorization"}
	before, _ := server.Tokens()

	var log logBuffer
	p := start(t, Options{Log: log.logger()}, remote(server.URL, nil, func(u *config.Upstream) { u.ForwardHeaders = []config.Forward{rule} }))
	mustRefuse(t, own, p, "must not be passed on", "tokenExchange")
	if after, _ := server.Tokens(); len(after) != len(before) || strings.Contains(log.String(), "WARN") {
		t.Errorf("the server got tokens %q; the log is %q", after, log.String())
	}

	rule.UnsafePassthrough = true
	p = start(t, Options{Log: log.logger()}, remote(server.URL, nil, func(u *config.Upstream) { u.ForwardHeaders = []config.Forward{rule} }))
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "mcpServers.fake.forwardHeaders") {
		t.Errorf("the start did not warn: %q", log.String())
	}
	mustBe(t, own, p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
}

func TestNothingOfTheCallerIsSentWithoutARule(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	token := tokensFor(t, server, "alice")[0]
	p := start(t, Options{}, remote(server.URL, nil))
	before, _ := server.Tokens()
	mustRefuse(t, withHeader(t.Context(), "Authorization", "Bearer "+token), p, "wants a credential", "401")
	if after, _ := server.Tokens(); len(after) != len(before) {
		t.Errorf("the server got tokens: %q", after)
	}
}

func TestABearerTokenOfTheConfig(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	token := tokensFor(t, server, "alice")[0]
	p := start(t, Options{}, remote(server.URL, &config.Auth{Type: config.AuthBearer, Token: token}))
	mustBe(t, t.Context(), p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
	server.Distrust(token)
	e := mustRefuse(t, t.Context(), p, "refused the credential", "401", "mcpServers.fake.auth.token")
	if strings.Contains(e.Error(), token) {
		t.Errorf("the error holds the token: %v", e)
	}
}

// tokenCommand is a command that prints the content of a file, and counts how
// often it ran.
func tokenCommand(t testing.TB, content string) (argv []string, file string, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	file, count := filepath.Join(dir, "token"), filepath.Join(dir, "runs")
	write(t, file, content)
	return []string{"sh", "-c", `echo run >> "$1"; cat "$0"`, file, count}, file, func() int {
		b, _ := os.ReadFile(count)
		return strings.Count(string(b), "run")
	}
}

func write(t testing.TB, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestATokenCommandRunsAgainWhenItsTokenIsRefused(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	tokens := tokensFor(t, server, "alice", "bob")
	argv, file, runs := tokenCommand(t, tokens[0]+"\n")
	p := start(t, Options{}, remote(server.URL, &config.Auth{Type: config.AuthBearer, TokenCommand: argv}))
	for range 3 {
		mustBe(t, t.Context(), p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
	}
	if runs() != 1 {
		t.Errorf("the command ran %d times for three calls, want once", runs())
	}
	server.Distrust(tokens[0])
	write(t, file, fmt.Sprintf(`{"token": %q, "expiresAt": %q}`, tokens[1], time.Now().Add(time.Hour).Format(time.RFC3339)))
	for range 2 {
		mustBe(t, t.Context(), p, identityOf{Sub: "bob", Client: "desktop", Scope: "read"})
	}
	if runs() != 2 {
		t.Errorf("the command ran %d times, want twice", runs())
	}
	// A command that has no other token is asked once for each call.
	server.Distrust(tokens[1])
	mustRefuse(t, t.Context(), p, "refused the credential", "mcpServers.fake.auth.tokenCommand")
	if runs() != 3 {
		t.Errorf("the command ran %d times, want three times", runs())
	}
}

func TestATokenCommandRunsAgainWhenItsTokenHasExpired(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	tokens := tokensFor(t, server, "alice")
	argv, _, runs := tokenCommand(t, fmt.Sprintf(`{"token": %q, "expiresAt": %d}`, tokens[0], time.Now().Add(-time.Minute).Unix()))
	p := start(t, Options{}, remote(server.URL, &config.Auth{Type: config.AuthBearer, TokenCommand: argv}))
	mustBe(t, t.Context(), p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
	ran := runs()
	mustBe(t, t.Context(), p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
	if runs() <= ran {
		t.Errorf("the command ran %d times, then %d times", ran, runs())
	}
}

func TestATokenCommandThatFailsIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		argv []string
		says string
	}{
		"missing": {[]string{"mcpgraph-no-such-program"}, "mcpgraph-no-such-program"},
		"fails":   {[]string{"sh", "-c", "echo first >&2; echo log in first >&2; exit 3"}, "exit status 3: log in first"},
		"silent":  {[]string{"true"}, "printed no token"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, Options{}, remote("http://127.0.0.1:1/mcp", &config.Auth{Type: config.AuthBearer, TokenCommand: c.argv}))
			mustRefuse(t, t.Context(), p, c.says, "mcpServers.fake.auth.tokenCommand")
		})
	}
}

func TestCallersTokensAreExchanged(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	tokens := tokensFor(t, server, "alice", "bob")
	before, _ := server.Tokens()
	auth := &config.Auth{
		Type: config.AuthTokenExchange, ClientID: "worker", ClientSecret: "worker-secret", Scopes: []string{"read"},
		From: "Authorization", FromMeta: "example.com/token", SubjectTokenType: config.AccessTokenType,
	}
	p := start(t, Options{}, remote(server.URL, auth))
	alice := withHeader(t.Context(), "Authorization", "Bearer "+tokens[0])
	for range 2 {
		mustBe(t, alice, p, identityOf{Sub: "alice", Client: "worker", Scope: "read"})
		mustBe(t, withMeta(t.Context(), "example.com/token", tokens[1]), p, identityOf{Sub: "bob", Client: "worker", Scope: "read"})
	}
	after, _ := server.Tokens()
	if len(after) != len(before)+2 {
		t.Errorf("%d tokens were used for two callers, want 2", len(after)-len(before))
	}
	for _, sent := range after[len(before):] {
		if sent == tokens[0] || sent == tokens[1] {
			t.Error("a caller's own token was passed on")
		}
	}
	// One that is refused is exchanged again, once.
	server.Distrust(after[len(before)])
	mustBe(t, alice, p, identityOf{Sub: "alice", Client: "worker", Scope: "read"})

	mustRefuse(t, t.Context(), p, "does not carry the credential", "the header Authorization", "example.com/token")
	e := mustRefuse(t, withHeader(t.Context(), "Authorization", "Bearer made-up-token"), p, "could not be exchanged", "invalid_request")
	if strings.Contains(e.Error(), "made-up-token") {
		t.Errorf("the error holds the caller's token: %v", e)
	}
}

// issuing is a CredentialSource that gives each caller its next token.
type issuing struct {
	mu      sync.Mutex
	tokens  map[string][]string // by caller
	asked   atomic.Int32
	renewed atomic.Int32
}

func (s *issuing) Token(_ context.Context, info *callinfo.Info, server string, refresh bool) (Token, error) {
	s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	caller := info.Caller
	if refresh {
		s.renewed.Add(1)
		if len(s.tokens[caller]) > 1 {
			s.tokens[caller] = s.tokens[caller][1:]
		}
	}
	if len(s.tokens[caller]) == 0 {
		return Token{}, errors.New("nobody knows " + caller + " at " + server)
	}
	return Token{Value: s.tokens[caller][0]}, nil
}

func TestAProgramBringsItsCredentials(t *testing.T) {
	t.Parallel()
	server := protected.Start(t, mcptest.StartAuthServer(t))
	tokens := tokensFor(t, server, "alice", "alice", "bob")
	source := &issuing{tokens: map[string][]string{"a": tokens[:2], "b": tokens[2:]}}
	p := start(t, Options{Credentials: map[string]CredentialSource{"fake": source}}, remote(server.URL, nil))
	as := func(caller string) context.Context {
		return withInfo(t.Context(), &callinfo.Info{Caller: caller})
	}
	mustBe(t, as("a"), p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
	mustBe(t, as("b"), p, identityOf{Sub: "bob", Client: "desktop", Scope: "read"})
	server.Distrust(tokens[0])
	mustBe(t, as("a"), p, identityOf{Sub: "alice", Client: "desktop", Scope: "read"})
	if n := source.renewed.Load(); n != 1 {
		t.Errorf("the source was asked for another token %d times, want once", n)
	}
	server.Distrust(tokens[2])
	mustRefuse(t, as("b"), p, "refused the credential", "from the program")
	mustRefuse(t, as("c"), p, "nobody knows c at fake")
}

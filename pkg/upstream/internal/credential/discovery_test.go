package credential

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// TestWhereTokensComeFrom lets servers publish their metadata in every place
// where it may be, and in ways that must not be trusted. What it leads to is a
// real authorization server.
func TestWhereTokensComeFrom(t *testing.T) {
	t.Parallel()
	as := mcptest.StartAuthServer(t)
	const wellKnown = "/.well-known/oauth-protected-resource"
	meta := func(resource string, servers ...string) map[string]any {
		return map[string]any{"resource": resource, "authorization_servers": servers}
	}
	for name, c := range map[string]struct {
		published map[string]map[string]any // by path; $U is the server
		challenge string
		token     string // where it is in the end; $AS and $U
		resource  string
		says      string // of the error
	}{
		"at the path":      {published: map[string]map[string]any{wellKnown + "/mcp": meta("$U/mcp", as.URL)}, token: as.URL + "/token", resource: "$U/mcp"},
		"at the root":      {published: map[string]map[string]any{wellKnown: meta("$U", as.URL)}, token: as.URL + "/token", resource: "$U"},
		"with a slash":     {published: map[string]map[string]any{wellKnown + "/mcp": meta("$U/mcp/", as.URL)}, token: as.URL + "/token", resource: "$U/mcp/"},
		"for the origin":   {published: map[string]map[string]any{wellKnown + "/mcp": meta("$U/", as.URL)}, token: as.URL + "/token", resource: "$U/"},
		"in the challenge": {published: map[string]map[string]any{"/meta": meta("$U/mcp", as.URL)}, challenge: `Bearer resource_metadata="$U/meta"`, token: as.URL + "/token", resource: "$U/mcp"},
		"nowhere":          {token: "$U/token", resource: "$U/mcp"},
		"for another":      {published: map[string]map[string]any{wellKnown + "/mcp": meta("https://evil.example/mcp", as.URL)}, says: "https://evil.example/mcp"},
		"without a server": {published: map[string]map[string]any{wellKnown + "/mcp": meta("$U/mcp")}, says: "no authorization server"},
		"of another issuer": {
			published: map[string]map[string]any{wellKnown + "/mcp": meta("$U/mcp", "$U"), "/.well-known/oauth-authorization-server": {
				"issuer": "https://login.example", "token_endpoint": "https://login.example/token", "code_challenge_methods_supported": []string{"S256"},
			}},
			says: "https://login.example",
		},
		"in clear text":       {published: map[string]map[string]any{wellKnown + "/mcp": meta("$U/mcp", "http://login.example")}, says: "http://login.example"},
		"not where it should": {challenge: `Bearer resource_metadata="$U/missing"`, says: "404"},
	} {
		t.Run(name, func(t *testing.T) {
			var address string
			fill := func(s string) string { return strings.ReplaceAll(s, "$U", address) }
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				document, ok := c.published[r.URL.Path]
				switch {
				case r.URL.Path == "/mcp":
					w.Header().Set("WWW-Authenticate", fill(c.challenge))
					w.WriteHeader(http.StatusUnauthorized)
				case !ok:
					http.NotFound(w, r)
				default:
					text, _ := json.Marshal(document)
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(fill(string(text))))
				}
			}))
			defer server.Close()
			address = server.URL
			e, err := newOAuthClient(optionsFor(t, &config.Upstream{
				Name: "fake", Transport: config.HTTP, URL: address + "/mcp", Auth: &config.Auth{
					Type: config.AuthOAuth2, Flow: config.FlowClientCredentials, ClientID: "worker", ClientSecret: "worker-secret",
				},
			})).discover(t.Context(), Challenge{})
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "mcpServers.fake.auth.tokenUrl") {
					t.Fatalf("got %+v and error %v, want one that says %q", e, err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.tokenURL != fill(c.token) || e.resource != fill(c.resource) {
				t.Errorf("tokens come from %q for %q, want %q for %q", e.tokenURL, e.resource, fill(c.token), fill(c.resource))
			}
		})
	}
}

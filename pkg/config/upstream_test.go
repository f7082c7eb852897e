package config

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

func TestLayersOfAServer(t *testing.T) {
	f := mustParse(t, `
mcpServers:
  plain: {command: x, retry: {}, circuitBreaker: {}, cache: {tools: [a]}}
  full:
    command: x
    retry: {maxAttempts: 5, initialDelayMs: 1, maxDelayMs: 2, backoff: 1.5, jitter: false, retryOn: [500, 5xx, timeout, -32001], skipOn: [connect]}
    retryUnsafe: true
    circuitBreaker: {failureThreshold: 1, successThreshold: 3, resetTimeoutMs: 4, halfOpenMaxCalls: 6}
    rateLimit: {limit: 7, periodMs: 8, perTool: {b: {limit: 9, periodMs: 10}, a: {limit: 11, periodMs: 12}}}
    cache: {ttlMs: 13, maxEntries: 14, tools: ["read_*", stat]}
  tool: {command: x, rateLimit: {perTool: {a: {limit: 1, periodMs: 1000}}}}
  late: {command: x, retry: {initialDelayMs: 60000}}
`, Options{})
	plain, full := f.Upstreams[0], f.Upstreams[1]
	ms := time.Millisecond
	for _, tt := range []struct{ got, want any }{
		{plain.Retry, &Retry{MaxAttempts: 3, InitialDelay: time.Second, MaxDelay: 30 * time.Second, Backoff: 2, Jitter: true}},
		{plain.CircuitBreaker, &CircuitBreaker{5, 2, time.Minute, 1}},
		{plain.RateLimit, (*RateLimit)(nil)},
		{plain.Cache, &Cache{time.Minute, 1000, []string{"a"}}},
		{full.Retry, &Retry{5, ms, 2 * ms, 1.5, false, []string{"500", "5xx", "timeout", "-32001"}, []string{"connect"}}},
		{full.RetryUnsafe, true},
		{full.CircuitBreaker, &CircuitBreaker{1, 3, 4 * ms, 6}},
		{full.RateLimit, &RateLimit{7, 8 * ms, []ToolRate{{"b", 9, 10 * ms}, {"a", 11, 12 * ms}}}},
		{full.Cache, &Cache{13 * ms, 14, []string{"read_*", "stat"}}},
		{f.Upstreams[2].RateLimit, &RateLimit{PerTool: []ToolRate{{"a", 1, time.Second}}}},
		{f.Upstreams[3].Retry.MaxDelay, time.Minute},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("got %+v, want %+v", tt.got, tt.want)
		}
	}
	if !full.Cache.Caches("read_file") || full.Cache.Caches("write_file") || (*Cache)(nil).Caches("stat") {
		t.Error("the wrong tools are cached")
	}
}

func TestCredentialsOfAServer(t *testing.T) {
	env := map[string]string{"TOKEN": "t0ken", "SECRET": "s3cret"}
	f := mustParse(t, `
mcpServers:
  bearer: {url: "https://a.example", auth: {type: bearer, token: "${TOKEN}"}}
  command: {url: "https://a.example", auth: {type: bearer, tokenCommand: gcloud auth print}}
  list: {url: "https://a.example", auth: {type: bearer, tokenCommand: [sh, -c, "echo x"]}, session: {file: "${X:-s}.json"}}
  client: {url: "https://a.example", auth: {type: oauth2, flow: clientCredentials, clientId: me, clientSecret: "${SECRET}", issuer: "https://as.example", scopes: a b, audience: au, resource: ""}}
  refresh: {url: "https://a.example", auth: {type: oauth2, flow: refreshToken, clientId: me, refreshToken: r3fresh, tokenUrl: "https://as.example/t", scopes: [a], resource: "urn:r", store: f}}
  code: {url: "https://a.example", auth: {type: oauth2, flow: authorizationCode, tokenUrl: "http://localhost:1/t", authorizationUrl: "https://as.example/a", redirectPort: 8123}}
  exchange: {url: "https://a.example", auth: {type: tokenExchange, tokenUrl: "https://as.example/t"}}
  meta: {url: "https://a.example", auth: {type: tokenExchange, issuer: "https://as.example", fromMeta: token, requestedTokenType: "urn:x"}, session: memory}
  forward:
    url: "https://a.example"
    headers: {X-Api-Key: k3y, Authorization: Bearer b3arer, X-Plain: plain}
    forwardHeaders: [{from: X-A, to: X-B, prefix: "Bearer ", required: true}, {from: x-c}, {from: authorization, to: X-D, unsafePassthrough: true}]
    forwardMeta: [{from: com.example/token, to: X-B}]
`, Options{Getenv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	empty, urn := "", "urn:r"
	auths := []*Auth{
		{Type: AuthBearer, Token: "t0ken"},
		{Type: AuthBearer, TokenCommand: []string{"gcloud", "auth", "print"}},
		{Type: AuthBearer, TokenCommand: []string{"sh", "-c", "echo x"}},
		{Type: AuthOAuth2, Flow: FlowClientCredentials, ClientID: "me", ClientSecret: "s3cret", Issuer: "https://as.example", Scopes: []string{"a", "b"}, Audience: "au", Resource: &empty},
		{Type: AuthOAuth2, Flow: FlowRefreshToken, ClientID: "me", RefreshToken: "r3fresh", TokenURL: "https://as.example/t", Scopes: []string{"a"}, Resource: &urn, Store: "f"},
		{Type: AuthOAuth2, Flow: FlowAuthorizationCode, TokenURL: "http://localhost:1/t", AuthorizationURL: "https://as.example/a", RedirectPort: 8123},
		{Type: AuthTokenExchange, TokenURL: "https://as.example/t", From: "Authorization", SubjectTokenType: AccessTokenType},
		{Type: AuthTokenExchange, Issuer: "https://as.example", FromMeta: "token", SubjectTokenType: AccessTokenType, RequestedTokenType: "urn:x"},
		nil,
	}
	for i, want := range auths {
		if got := f.Upstreams[i].Auth; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", f.Upstreams[i].Name, got, want)
		}
	}
	secrets := map[int][]string{0: {"t0ken"}, 3: {"s3cret"}, 4: {"r3fresh"}, 8: {"k3y", "b3arer"}}
	for i, u := range f.Upstreams {
		if !slices.Equal(u.Secrets, secrets[i]) {
			t.Errorf("secrets of %s are %q", u.Name, u.Secrets)
		}
	}
	for i, want := range map[int]*Session{0: nil, 2: {StoreFile, "s.json"}, 7: {Store: StoreMemory}} {
		if got := f.Upstreams[i].Session; !reflect.DeepEqual(got, want) {
			t.Errorf("the session is %+v, want %+v", got, want)
		}
	}
	u := f.Upstreams[8]
	for _, rules := range [][]Forward{u.ForwardHeaders, u.ForwardMeta} {
		for i := range rules {
			if rules[i].Pos.IsZero() {
				t.Errorf("%+v has no place", rules[i])
			}
			rules[i].Pos = diag.Pos{}
		}
	}
	if want := []Forward{
		{From: "X-A", To: "X-B", Prefix: "Bearer ", Required: true}, {From: "x-c", To: "x-c"},
		{From: "authorization", To: "X-D", UnsafePassthrough: true},
	}; !slices.Equal(u.ForwardHeaders, want) {
		t.Errorf("headers are forwarded by %+v", u.ForwardHeaders)
	}
	if want := []Forward{{From: "com.example/token", To: "X-B"}}; !slices.Equal(u.ForwardMeta, want) {
		t.Errorf("_meta is forwarded by %+v", u.ForwardMeta)
	}
}

func TestOnlyAnHTTPAddressWithoutATypeMayBeSSE(t *testing.T) {
	f := mustParse(t, `
mcpServers:
  untyped: {url: "https://a.example/sse"}
  typed: {type: http, url: "https://a.example/mcp"}
  events: {type: sse, url: "https://a.example/sse"}
  socket: {url: "wss://a.example/mcp"}
  process: {command: x}
`, Options{})
	for _, u := range f.Upstreams {
		if u.MayBeSSE != (u.Name == "untyped") {
			t.Errorf("%s: %v", u.Name, u.MayBeSSE)
		}
	}
}

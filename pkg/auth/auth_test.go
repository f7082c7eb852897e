package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// issuer is an authorization server as a resource server sees it: metadata, keys
// and signed tokens.
type issuer struct {
	t   *testing.T
	url string
	key *ecdsa.PrivateKey
	typ any // of the tokens it signs; nil for none
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t, key: newKey(t)}
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	i.url = s.URL
	write := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(v); err != nil {
				t.Error(err)
			}
		}
	}
	mux.HandleFunc("/.well-known/oauth-authorization-server", write(map[string]any{
		"issuer": s.URL, "jwks_uri": s.URL + "/keys", "authorization_endpoint": s.URL + "/authorize",
		"token_endpoint": s.URL + "/token", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"},
	}))
	mux.HandleFunc("/keys", write(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: "k", Use: "sig", Algorithm: "ES256"}}}))
	return i
}

// token signs claims that are right but for changes; nil takes one away.
func (i *issuer) token(alg jose.SignatureAlgorithm, key any, changes map[string]any) string {
	claims := map[string]any{
		"iss": i.url, "aud": []string{"https://tools.example/mcp"}, "sub": "ann", "client_id": "app",
		"exp": time.Now().Add(time.Hour).Unix(), "scope": "read tools",
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	payload, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	return i.sign(alg, key, payload)
}

// sign signs claims as they are.
func (i *issuer) sign(alg jose.SignatureAlgorithm, key any, payload []byte) string {
	options := (&jose.SignerOptions{}).WithHeader("kid", "k")
	if i.typ != nil {
		options = options.WithHeader(jose.HeaderType, i.typ)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

func admit(g auth.Guard, authorization ...string) (auth.Caller, *httptest.ResponseRecorder) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	for _, a := range authorization {
		r.Header.Add("Authorization", a)
	}
	w := httptest.NewRecorder()
	caller, err := g.Admit(w, r)
	if (err == nil) != (caller.Name != "") {
		panic("a caller and a refusal, or neither")
	}
	return caller, w
}

func TestOAuthTakesTheTokensOfItsIssuerForItsAudience(t *testing.T) {
	i := newIssuer(t)
	for _, keys := range []string{"", i.url + "/keys"} {
		g, err := auth.NewOAuth(auth.OAuthOptions{Issuer: i.url, Audience: "https://tools.example/mcp", Scopes: []string{"tools"}, JWKS: keys})
		if err != nil {
			t.Fatal(err)
		}
		shared := make([]byte, 32)
		var public crypto.PublicKey = i.key.Public()
		encoded, err := json.Marshal(jose.JSONWebKey{Key: public})
		if err != nil {
			t.Fatal(err)
		}
		copy(shared, encoded)
		for _, c := range []struct {
			name, token, caller string
			status              int
			challenge           string
		}{
			{"good", i.token(jose.ES256, i.key, nil), "ann@app", 200, ""},
			{"scopes as a list", i.token(jose.ES256, i.key, map[string]any{"scope": "", "scp": []string{"tools"}}), "ann@app", 200, ""},
			{"another key", i.token(jose.ES256, newKey(t), nil), "", 401, `error="invalid_token"`},
			{"a shared secret", i.token(jose.HS256, shared, nil), "", 401, `error="invalid_token"`},
			{"expired", i.token(jose.ES256, i.key, map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}), "", 401, `error="invalid_token"`},
			{"without an end", i.token(jose.ES256, i.key, map[string]any{"exp": nil}), "", 401, `error="invalid_token"`},
			{"of another issuer", i.token(jose.ES256, i.key, map[string]any{"iss": "https://evil.example"}), "", 401, `error="invalid_token"`},
			{"for another audience", i.token(jose.ES256, i.key, map[string]any{"aud": "https://other.example/mcp"}), "", 401, `error="invalid_token"`},
			{"of nobody", i.token(jose.ES256, i.key, map[string]any{"sub": "", "client_id": ""}), "", 401, `error="invalid_token"`},
			{"without the scope", i.token(jose.ES256, i.key, map[string]any{"scope": "read"}), "", 403, `error="insufficient_scope"`},
			{"SCOPE for scope", i.token(jose.ES256, i.key, map[string]any{"scope": nil, "SCOPE": "tools"}), "", 403, `error="insufficient_scope"`},
			{"Scope beside scope", i.token(jose.ES256, i.key, map[string]any{"scope": "read", "Scope": "tools", "ſcope": "tools", "SCP": "tools"}), "", 403, `error="insufficient_scope"`},
			{"AUD for aud", i.token(jose.ES256, i.key, map[string]any{"aud": nil, "AUD": "https://tools.example/mcp"}), "", 401, `error="invalid_token"`},
			{"Iss for iss", i.token(jose.ES256, i.key, map[string]any{"iss": nil, "Iss": i.url}), "", 401, `error="invalid_token"`},
			{"Exp for exp", i.token(jose.ES256, i.key, map[string]any{"exp": nil, "Exp": time.Now().Add(time.Hour).Unix()}), "", 401, `error="invalid_token"`},
			{"Sub beside sub", i.token(jose.ES256, i.key, map[string]any{"Sub": "bob", "ſub": "bob", "Client_id": "other"}), "ann@app", 200, ""},
			{"a claim twice", i.sign(jose.ES256, i.key, fmt.Appendf(nil,
				`{"iss":%q,"aud":"https://tools.example/mcp","sub":"ann","exp":%d,"scope":"read","scope":"tools"}`, i.url, time.Now().Add(time.Hour).Unix())), "", 401, `error="invalid_token"`},
			{"no object", i.sign(jose.ES256, i.key, []byte(`["iss"]`)), "", 401, `error="invalid_token"`},
			{"no token at all", "garbage", "", 401, `error="invalid_token"`},
		} {
			caller, w := admit(g, "Bearer "+c.token)
			challenge := w.Header().Get("WWW-Authenticate")
			if caller.Name != c.caller || w.Code != c.status || !strings.Contains(challenge, c.challenge) ||
				c.status != 200 && !strings.Contains(challenge, `scope="tools"`) || strings.Contains(w.Body.String(), c.token) {
				t.Errorf("%s: %v %d %s %s", c.name, caller, w.Code, challenge, w.Body)
			}
		}
		_, w := admit(g)
		if want := `Bearer resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp", scope="tools"`; w.Code != 401 || w.Header().Get("WWW-Authenticate") != want {
			t.Errorf("no token: %d %v", w.Code, w.Header())
		}
	}
}

func TestOAuthShowsWhereTokensComeFrom(t *testing.T) {
	g, err := auth.NewOAuth(auth.OAuthOptions{Issuer: "https://login.example", Audience: "https://tools.example/mcp", Scopes: []string{"tools"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		w := httptest.NewRecorder()
		g.Pages()[path].ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		var meta struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &meta); err != nil || meta.Resource != "https://tools.example/mcp" ||
			len(meta.Servers) != 1 || meta.Servers[0] != "https://login.example" || len(meta.Scopes) != 1 {
			t.Errorf("%s: %s %v", path, w.Body, err)
		}
	}
}

func TestOAuthWithoutItsIssuerLetsNobodyInAndAsksAgain(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	g, err := auth.NewOAuth(auth.OAuthOptions{Issuer: s.URL, Audience: "https://tools.example/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	signed := (&issuer{t: t, url: s.URL}).token(jose.ES256, newKey(t), nil)
	if caller, w := admit(g, "Bearer "+signed); caller.Name != "" || w.Code != http.StatusServiceUnavailable {
		t.Errorf("%v %d", caller, w.Code)
	}
}

func TestOptionsOfOAuthThatCannotBeUsed(t *testing.T) {
	for _, o := range []auth.OAuthOptions{
		{}, {Issuer: "https://a.example"}, {Issuer: "https://a.example", Audience: "tools"},
		{Issuer: "a", Audience: "https://tools.example"}, {Issuer: "https://a.example", Audience: "https://t.example", JWKS: "keys"},
		{Issuer: "http://a.example", Audience: "https://t.example"}, {Issuer: "https://a.example", Audience: "http://t.example"},
		{Issuer: "https://a.example", Audience: "https://t.example", Scopes: []string{"a b"}},
	} {
		if _, err := auth.NewOAuth(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestTokensThatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		"": "no tokens", "# none\n": "no tokens", "ann": "line 1", "\nann short": "line 2",
		"ann 0123456789abcdefé":                           `line 1: the token of "ann" contains characters`,
		"ann 0123456789abcdef read \"all\"":               `line 1: "\"all\"" of caller "ann" is not a valid scope`,
		"ann 0123456789abcdef\nbob 0123456789abcdef":      `line 2: "bob" has the same token as "ann"`,
		"ann 0123456789abcdef\nann 0123456789abcdef read": `line 2: "ann" has the same token as "ann"`,
	} {
		file := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := auth.New(&config.ServerAuth{Type: config.AuthBearer, TokensFile: file})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "0123") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := auth.New(&config.ServerAuth{Type: config.AuthBearer, TokensFile: "no such file"}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	_, err := auth.NewTokens([]config.CallerToken{{Token: "0123456789abcdef"}})
	if err == nil || strings.Contains(err.Error(), "0123") {
		t.Error("a token of nobody: ", err)
	}
}

func TestTokensOfTheFileAndOfItsTokensFileAreTakenWithTheirScopes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("ann 0123456789abcdef\r\nann fedcba9876543210 read write\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := auth.New(&config.ServerAuth{Type: config.AuthBearer, TokensFile: file, Tokens: []config.CallerToken{
		{Caller: "bob", Token: "0123456789abcdef-of-bob", Scopes: []string{"read"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]auth.Caller{
		"Bearer 0123456789abcdef":        {Name: "ann"},
		"bearer fedcba9876543210":        {Name: "ann", Scopes: []string{"read", "write"}},
		"Bearer 0123456789abcdef-of-bob": {Name: "bob", Scopes: []string{"read"}},
		"Bearer 0123456789abcdef-of-bo":  {},
	} {
		caller, w := admit(g, token)
		if caller.Name != want.Name || !slices.Equal(caller.Scopes, want.Scopes) || (w.Code == http.StatusUnauthorized) != (want.Name == "") {
			t.Errorf("%s: %+v %d", token, caller, w.Code)
		}
	}
	if caller, w := admit(g, "Bearer fedcba9876543210", "Bearer 0123456789abcdef"); caller.Name != "" || w.Code != http.StatusUnauthorized {
		t.Errorf("two tokens: %v %d", caller, w.Code)
	}
}

func TestNoSettingsAreNoGuard(t *testing.T) {
	if g, err := auth.New(nil); g != nil || err != nil {
		t.Errorf("%v %v", g, err)
	}
}

func TestChallengesNameEveryScopeThatTheRequestNeeds(t *testing.T) {
	oauth, err := auth.New(&config.ServerAuth{
		Type: config.AuthOAuth, Issuer: "https://login.example", Audience: "urn:tools", RequiredScopes: []string{"tools"},
		PublicURL: "https://tools.example/mcp",
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := auth.New(&config.ServerAuth{Type: config.AuthBearer, Tokens: []config.CallerToken{{Caller: "ann", Token: "0123456789abcdef"}}})
	if err != nil {
		t.Fatal(err)
	}
	for want, g := range map[string]auth.Guard{
		`Bearer error="insufficient_scope", error_description="missing scope; required: tools write", scope="tools write", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`: oauth,
		`Bearer error="insufficient_scope", error_description="missing scope; required: write tools", scope="write tools"`:                                                                                     tokens,
	} {
		h := http.Header{}
		g.Challenge(h, []string{"write", "tools"})
		if got := h.Get("WWW-Authenticate"); got != want {
			t.Errorf("%T: %s, want %s", g, got, want)
		}
	}
}

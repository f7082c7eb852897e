package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// issuer is an authorization server as a resource server sees it: metadata, keys
// and signed tokens.
type issuer struct {
	t   *testing.T
	url string
	key *ecdsa.PrivateKey
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
	payload, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
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

func admit(g auth.Guard, authorization ...string) (string, *httptest.ResponseRecorder) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	for _, a := range authorization {
		r.Header.Add("Authorization", a)
	}
	w := httptest.NewRecorder()
	caller, err := g.Admit(w, r)
	if (err == nil) != (caller != "") {
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
			{"no token at all", "garbage", "", 401, `error="invalid_token"`},
		} {
			caller, w := admit(g, "Bearer "+c.token)
			challenge := w.Header().Get("WWW-Authenticate")
			if caller != c.caller || w.Code != c.status || !strings.Contains(challenge, c.challenge) ||
				c.status != 200 && !strings.Contains(challenge, `scope="tools"`) || strings.Contains(w.Body.String(), c.token) {
				t.Errorf("%s: %q %d %s %s", c.name, caller, w.Code, challenge, w.Body)
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
	if caller, w := admit(g, "Bearer x.y.z"); caller != "" || w.Code != http.StatusServiceUnavailable {
		t.Errorf("%q %d", caller, w.Code)
	}
}

func TestOptionsOfOAuthThatCannotBeUsed(t *testing.T) {
	for _, o := range []auth.OAuthOptions{
		{}, {Issuer: "https://a.example"}, {Issuer: "https://a.example", Audience: "tools"},
		{Issuer: "a", Audience: "https://tools.example"}, {Issuer: "https://a.example", Audience: "https://t.example", JWKS: "keys"},
	} {
		if _, err := auth.NewOAuth(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestLinesOfTokensThatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		"": "no tokens", "# none\n": "no tokens", "ann": "line 1", "ann 0123456789abcdef x": "line 1", "\nann short": "line 2",
		"ann 0123456789abcdef\nbob 0123456789abcdef": `line 2: "bob" has the token of "ann"`,
	} {
		if _, err := auth.ParseTokens(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "0123") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOneTokenIsTakenAndSeveralAreNot(t *testing.T) {
	g, err := auth.ParseTokens("ann 0123456789abcdef\r\nann fedcba9876543210\n")
	if err != nil {
		t.Fatal(err)
	}
	if caller, _ := admit(g, "bearer fedcba9876543210"); caller != "ann" {
		t.Errorf("caller %q", caller)
	}
	if caller, w := admit(g, "Bearer fedcba9876543210", "Bearer 0123456789abcdef"); caller != "" || w.Code != http.StatusUnauthorized {
		t.Errorf("two tokens: %q %d", caller, w.Code)
	}
}

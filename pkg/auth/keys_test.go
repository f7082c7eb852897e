package auth_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

// farIssuer answers for an authorization server without a network, so that time
// can be made to pass.
type farIssuer struct {
	mu     sync.Mutex
	asked  map[string]int // by path
	keys   []jose.JSONWebKey
	status int
}

func (f *farIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[r.URL.Path]++
	body, err := json.Marshal(map[string]any{"keys": f.keys})
	return &http.Response{
		StatusCode: f.status, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

func (f *farIssuer) set(status int, keys ...jose.JSONWebKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.keys = status, keys
}

func (f *farIssuer) fetched(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[path]
}

func TestTokensWithUnknownKeysDoNotMakeTheIssuerBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const at = "https://login.example"
		first, second, strange := newKey(t), newKey(t), newKey(t)
		i := &issuer{t: t, url: at}
		far := &farIssuer{}
		far.set(http.StatusOK, jose.JSONWebKey{Key: first.Public(), KeyID: "k", Algorithm: "ES256"})
		g, err := auth.NewOAuth(auth.OAuthOptions{
			Issuer: at, Audience: "https://tools.example/mcp", JWKS: at + "/keys", Client: &http.Client{Transport: far},
		})
		if err != nil {
			t.Fatal(err)
		}
		check := func(what, token string, want int) {
			t.Helper()
			if _, w := admit(g, "Bearer "+token); w.Code != want {
				t.Errorf("%s: %d %s", what, w.Code, w.Body)
			}
		}
		check("a good token", i.token(jose.ES256, first, nil), 200)
		for range 200 {
			check("a key that nobody knows", i.token(jose.ES256, strange, nil), 401)
		}
		if n := far.fetched("/keys"); n != 3 {
			t.Errorf("the keys were fetched %d times at once", n)
		}
		check("a good token after that", i.token(jose.ES256, first, nil), 200)

		far.set(http.StatusOK, jose.JSONWebKey{Key: second.Public(), KeyID: "k", Algorithm: "ES256"})
		time.Sleep(10 * time.Second)
		check("a token of the new key", i.token(jose.ES256, second, nil), 200)
		for range 60 {
			time.Sleep(time.Second)
			check("a key that nobody knows", i.token(jose.ES256, strange, nil), 401)
		}
		if n := far.fetched("/keys"); n > 3+1+6 {
			t.Errorf("the keys were fetched %d times in a minute", n-4)
		}

		far.set(http.StatusInternalServerError)
		time.Sleep(10 * time.Second)
		check("nothing can be said of it", i.token(jose.ES256, strange, nil), 503)
		check("a good token while the issuer is gone", i.token(jose.ES256, second, nil), 200)
	})
}

func TestIssuerThatIsGoneIsAskedAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &farIssuer{}
		far.set(http.StatusInternalServerError)
		g, err := auth.NewOAuth(auth.OAuthOptions{
			Issuer: "https://login.example", Audience: "https://tools.example/mcp", Client: &http.Client{Transport: far},
		})
		if err != nil {
			t.Fatal(err)
		}
		const path = "/.well-known/oauth-authorization-server"
		signed := (&issuer{t: t, url: "https://login.example"}).token(jose.ES256, newKey(t), nil)
		for range 50 {
			if _, w := admit(g, "Bearer "+signed); w.Code != 503 || w.Header().Get("Retry-After") == "" {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		if n := far.fetched(path); n != 1 {
			t.Errorf("it was asked %d times at once", n)
		}
		time.Sleep(5 * time.Second)
		admit(g, "Bearer "+signed)
		if n := far.fetched(path); n != 2 {
			t.Errorf("it was asked %d times", n)
		}
	})
}

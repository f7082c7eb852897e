package auth_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// introspection answers for an introspection endpoint, without a network.
type introspection struct {
	mu     sync.Mutex
	asked  []url.Values
	login  string
	answer func(token string) (status int, body string)
}

func (i *introspection) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	i.asked = append(i.asked, form)
	user, password, _ := r.BasicAuth()
	i.login = user + ":" + password
	answer := i.answer
	i.mu.Unlock()
	status, text := answer(form.Get("token"))
	if status == 0 {
		return nil, errors.New("no route")
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func (i *introspection) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.asked)
}

func introspecting(t *testing.T, at http.RoundTripper) *auth.OAuth {
	t.Helper()
	g, err := auth.NewOAuth(auth.OAuthOptions{
		Issuer: "https://login.example", Audience: "https://tools.example/mcp", JWKS: "https://login.example/keys",
		Introspection: &config.Introspection{URL: "https://login.example/introspect", ClientID: "tools:1", ClientSecret: "s&cret"},
		Client:        &http.Client{Transport: at},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOpaqueTokensAreAskedAbout(t *testing.T) {
	const good = `"active":true,"sub":"ann","client_id":"app","aud":"https://tools.example/mcp","exp":4000000000`
	for _, c := range []struct {
		name, answer string
		status       int
	}{
		{"good", `{` + good + `,"scope":"read write","iss":"https://login.example","token_type":"bearer","token_use":"access_token","nbf":0}`, 200},
		{"several audiences", `{"active":true,"sub":"ann","client_id":"app","scope":"read write","aud":["x","https://tools.example/mcp"],"exp":4000000000.5}`, 200},
		{"null is not there", `{` + good + `,"scope":"read write","iss":null,"nbf":null}`, 200},
		{"inactive", `{"active":false}`, 401},
		{"inactive, whatever else", `{"active":false,"sub":"ann","client_id":"app","aud":"https://tools.example/mcp","exp":4000000000}`, 401},
		{"expired", `{"active":true,"sub":"ann","client_id":"app","aud":"https://tools.example/mcp","exp":1}`, 401},
		{"not yet", `{` + good + `,"nbf":3999999999}`, 401},
		{"another audience", `{"active":true,"sub":"ann","client_id":"app","aud":["x"],"exp":4000000000}`, 401},
		{"no audience", `{"active":true,"sub":"ann","client_id":"app","exp":4000000000}`, 401},
		{"another issuer", `{` + good + `,"iss":"https://evil.example"}`, 401},
		{"proof of possession", `{` + good + `,"token_type":"DPoP"}`, 401},
		{"a refresh token", `{` + good + `,"token_use":"refresh_token"}`, 401},
		{"nobody", `{"active":true,"aud":"https://tools.example/mcp","exp":4000000000}`, 401},
		{"names are exact", `{"Active":true,"SUB":"ann","Client_ID":"app","AUD":"https://tools.example/mcp","exp":4000000000}`, 503},
		{"and so is aud", `{"active":true,"sub":"ann","client_id":"app","Aud":"https://tools.example/mcp","exp":4000000000}`, 401},
		{"twice", `{` + good + `,"active":false,"active":true}`, 503},
		{"twice, deeper", `{` + good + `,"x":{"a":1,"a":2}}`, 503},
		{"active is no boolean", `{"active":"true","sub":"ann"}`, 503},
		{"exp is a text", `{"active":true,"sub":"ann","client_id":"app","aud":"https://tools.example/mcp","exp":"4000000000"}`, 503},
		{"exp is huge", `{"active":true,"sub":"ann","client_id":"app","aud":"https://tools.example/mcp","exp":1e300}`, 503},
		{"sub is a number", `{"active":true,"sub":7,"client_id":"app","aud":"https://tools.example/mcp"}`, 503},
		{"a list", `[]`, 503},
		{"no JSON", `active`, 503},
		{"too long", `{"active":true,"x":"` + strings.Repeat("x", 1<<16) + `"}`, 503},
	} {
		at := &introspection{answer: func(string) (int, string) { return 200, c.answer }}
		caller, w := admit(introspecting(t, at), "Bearer an-opaque.token")
		if w.Code != c.status {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
		if c.status == 200 && (caller.Name != "ann@app" || !caller.Has([]string{"read", "write"}) || caller.Expires.Unix() != 4000000000) {
			t.Errorf("%s: %+v", c.name, caller)
		}
		if at.asked[0].Get("token") != "an-opaque.token" || at.asked[0].Get("token_type_hint") != "access_token" || at.login != "tools%3A1:s%26cret" {
			t.Errorf("%s: asked %v as %s", c.name, at.asked, at.login)
		}
	}
	for _, status := range []int{0, 302, 400, 401, 403, 500} {
		at := &introspection{answer: func(string) (int, string) { return status, `{"active":true}` }}
		g := introspecting(t, at)
		for range 2 {
			if _, w := admit(g, "Bearer opaque"); w.Code != 503 || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "cret") {
				t.Errorf("HTTP %d: %d %s", status, w.Code, w.Body)
			}
		}
		if at.count() != 2 {
			t.Errorf("HTTP %d was remembered", status)
		}
	}
}

// TestTokensThatCanBeVerifiedAreNotAskedAbout sends what has the form of a JWT of
// the issuer.
func TestTokensThatCanBeVerifiedAreNotAskedAbout(t *testing.T) {
	key := newKey(t)
	i := &issuer{t: t, url: "https://login.example", key: key}
	at := &introspection{answer: func(string) (int, string) { return 200, `{"active":true}` }}
	far := &farIssuer{}
	far.set(http.StatusOK, jose.JSONWebKey{Key: key.Public(), KeyID: "k", Algorithm: "ES256"})
	g := introspecting(t, split{at, far})
	for token, status := range map[string]int{
		i.token(jose.ES256, key, nil):                                        200,
		i.token(jose.ES256, key, map[string]any{"exp": 1}):                   401,
		i.token(jose.ES256, key, map[string]any{"aud": "https://o.example"}): 401,
		i.token(jose.ES256, newKey(t), nil):                                  401,
	} {
		if _, w := admit(g, "Bearer "+token); w.Code != status {
			t.Errorf("%d, want %d: %s", w.Code, status, w.Body)
		}
	}
	if at.count() != 0 {
		t.Errorf("asked %d times", at.count())
	}
}

// split sends questions about tokens one way, and all others another.
type split struct{ introspection, other http.RoundTripper }

func (s split) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/introspect" {
		return s.introspection.RoundTrip(r)
	}
	return s.other.RoundTrip(r)
}

func TestWhatIsKnownOfATokenIsRememberedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		active := func(seconds time.Duration) string {
			return fmt.Sprintf(`{"active":true,"sub":"ann","client_id":"app","aud":"https://tools.example/mcp","exp":%d}`, time.Now().Add(seconds*time.Second).Unix())
		}
		tokens := map[string]string{"long": active(3600), "short": active(5), "bad": `{"active":false}`}
		at := &introspection{answer: func(token string) (int, string) { return 200, tokens[token] }}
		g := introspecting(t, at)
		expect := func(when, token string, status, asked int) {
			t.Helper()
			before := at.count()
			if _, w := admit(g, "Bearer "+token); w.Code != status || at.count()-before != asked {
				t.Errorf("%s, %s: %d, asked %d times: %s", when, token, w.Code, at.count()-before, w.Body)
			}
		}
		expect("at first", "long", 200, 1)
		expect("at first", "short", 200, 1)
		expect("at first", "bad", 401, 1)
		expect("at once", "long", 200, 0)
		expect("at once", "short", 200, 0)
		expect("at once", "bad", 401, 0)
		tokens["long"] = `{"active":false}` // it is revoked
		time.Sleep(6 * time.Second)
		expect("after its exp", "short", 401, 1)
		expect("after 6 s", "long", 200, 0)
		time.Sleep(6 * time.Second)
		expect("after 12 s", "bad", 401, 1)
		expect("after 12 s", "long", 200, 0)
		time.Sleep(19 * time.Second)
		expect("after 31 s", "long", 401, 1)
	})
}

func TestQuestionsAboutTokensAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var now, most atomic.Int32
		at := &introspection{answer: func(string) (int, string) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-release
			now.Add(-1)
			return 200, `{"active":false}`
		}}
		g := introspecting(t, at)
		statuses := make(chan int, 2000)
		ask := func(token string) {
			_, w := admit(g, "Bearer "+token)
			statuses <- w.Code
		}
		for range 100 {
			go ask("the-same")
		}
		synctest.Wait()
		if at.count() != 1 {
			t.Errorf("one token was asked about %d times", at.count())
		}
		for n := range 1000 {
			go ask(fmt.Sprint("token-", n))
		}
		synctest.Wait()
		if most.Load() != 16 || len(statuses) != 1000-(16+256-1) {
			t.Errorf("%d questions at once, and %d requests were refused", most.Load(), len(statuses))
		}
		time.Sleep(6 * time.Second) // nobody waits for longer
		if len(statuses) < 1000-16 {
			t.Errorf("after a while %d requests were refused", len(statuses))
		}
		close(release)
		synctest.Wait()
		counts := map[int]int{}
		for range 1100 {
			counts[<-statuses]++
		}
		if counts[401]+counts[503] != 1100 || counts[503] < 1000-16 {
			t.Errorf("%v", counts)
		}
	})
}

func TestIntrospectionThatCannotBeUsed(t *testing.T) {
	for _, i := range []config.Introspection{
		{}, {URL: "https://a.example"}, {URL: "https://a.example", ClientID: "x"}, {URL: "http://a.example", ClientID: "x", ClientSecret: "y"},
	} {
		if _, err := auth.NewOAuth(auth.OAuthOptions{Issuer: "https://a.example", Audience: "https://t.example", Introspection: &i}); err == nil {
			t.Errorf("%+v was taken", i)
		}
	}
}

func TestOpaqueTokensAreRechecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const good = `{"active":true,"sub":"ann","client_id":"app","aud":"https://tools.example/mcp","scope":"read write"}`
		status, answer := 200, good
		at := &introspection{answer: func(string) (int, string) { return status, answer }}
		g := introspecting(t, at)
		caller, _ := admit(g, "Bearer opaque")
		if caller.Recheck == nil || caller.Recheck(t.Context()) != nil || at.count() != 1 {
			t.Fatalf("%+v, asked %d times", caller, at.count())
		}
		for _, c := range []struct {
			what, answer string
			status       int
			reason       string
		}{
			{"as it was", good, 200, ""},
			{"cannot be asked", good, 500, "authorization_server"},
			{"fewer scopes", strings.Replace(good, " write", "", 1), 200, "invalid_token"},
			{"more scopes", strings.Replace(good, " write", " write more", 1), 200, ""},
			{"of another", strings.Replace(good, "ann", "bob", 1), 200, "invalid_token"},
			{"revoked", `{"active":false}`, 200, "invalid_token"},
		} {
			time.Sleep(31 * time.Second)
			status, answer = c.status, c.answer
			err := caller.Recheck(t.Context())
			if reason := auth.Reason(err); (err == nil) != (c.reason == "") || err != nil && reason != c.reason {
				t.Errorf("%s: %v", c.what, err)
			}
		}
	})
}

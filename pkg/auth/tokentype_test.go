package auth_test

import (
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
)

func TestTokensOfOtherTypesAreRefused(t *testing.T) {
	i := newIssuer(t)
	g, err := auth.NewOAuth(auth.OAuthOptions{Issuer: i.url, Audience: "https://tools.example/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	const none = "(none)"
	for typ, status := range map[any]int{
		none: 200, "at+jwt": 200, "AT+JWT": 200, "application/at+jwt": 200, "Application/At+Jwt": 200,
		"JWT": 200, "jwt": 200, "application/jwt": 200,
		"": 401, "logout+jwt": 401, "secevent+jwt": 401, "dpop+jwt": 401, "token-introspection+jwt": 401,
		"text/at+jwt": 401, "application/application/jwt": 401, "at+jwt ": 401, 7: 401, true: 401,
	} {
		i.typ = typ
		if typ == none {
			i.typ = nil
		}
		if _, w := admit(g, "Bearer "+i.token(jose.ES256, i.key, nil)); w.Code != status {
			t.Errorf("%v: %d %s", typ, w.Code, w.Body)
		}
	}
}

func TestACallerIsKnownUntilItsTokenExpires(t *testing.T) {
	i := newIssuer(t)
	g, err := auth.NewOAuth(auth.OAuthOptions{Issuer: i.url, Audience: "https://tools.example/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(20 * time.Minute).Truncate(time.Second)
	if caller, _ := admit(g, "Bearer "+i.token(jose.ES256, i.key, map[string]any{"exp": at.Unix()})); !caller.Expires.Equal(at) {
		t.Errorf("%v, want %v", caller.Expires, at)
	}
}

// Package auth authenticates and authorizes HTTP requests: by configured
// tokens, or as a resource server of OAuth 2.1 (MCP 2025-11-25, Authorization).
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Caller is who sent a request, and the scopes that were granted to them.
type Caller struct {
	Name   string
	Scopes []string
	// Expires is when the access token of the request expires; zero if it never
	// does. Answers that last longer end then.
	Expires time.Time
	// Recheck reports whether the access token of the request is still valid for
	// its scopes. The error wraps ErrUnavailable where that cannot be found out.
	// Long-running responses call it from time to time. It is nil if the token
	// cannot be revoked.
	Recheck func(context.Context) error
}

// Has reports whether the caller was granted all of these scopes.
func (c Caller) Has(scopes []string) bool {
	for _, s := range scopes {
		if !slices.Contains(c.Scopes, s) {
			return false
		}
	}
	return true
}

// Guard decides about requests. It must be safe for concurrent use.
type Guard interface {
	// Admit returns the caller of a request; the name is never empty. If it
	// refuses the request, it has sent the response and returns an error without
	// secrets.
	Admit(w http.ResponseWriter, r *http.Request) (caller Caller, refused error)
	// Challenge puts into the header of an answer with HTTP status 403 which
	// scopes the request would have needed (MCP 2025-11-25, Authorization, Scope
	// Challenge Handling).
	Challenge(header http.Header, scopes []string)
	// Pages are the public documents by path, such as metadata. It may be nil.
	Pages() map[string]http.Handler
}

// New returns the Guard that settings ask for, or nil if they are nil, or have
// no type. It reads the file of tokens. The error is about that file, or about
// settings that cannot be used.
func New(settings *config.ServerAuth) (Guard, error) {
	var guard Guard
	var err error
	switch {
	case settings == nil:
	case settings.Type == config.AuthOAuth:
		guard, err = NewOAuth(OAuthOptions{
			Issuer: settings.Issuer, Audience: settings.Audience, Resource: settings.PublicURL,
			Scopes: settings.RequiredScopes, JWKS: settings.JWKS, Introspection: settings.Introspection,
		})
	case settings.Type == config.AuthBearer:
		var tokens []config.CallerToken
		if tokens, err = allTokens(settings); err == nil {
			guard, err = NewTokens(tokens)
		}
	}
	if err != nil {
		return nil, err
	}
	return guard, nil
}

// allTokens returns the tokens of the settings and of their file.
func allTokens(settings *config.ServerAuth) ([]config.CallerToken, error) {
	if settings.TokensFile == "" {
		return settings.Tokens, nil
	}
	text, err := boundedfile.Read(settings.TokensFile)
	if err != nil {
		return nil, fmt.Errorf("reading the tokens file: %w", err)
	}
	more, err := ParseTokens(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", settings.TokensFile, err)
	}
	all := slices.Concat(settings.Tokens, more)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no tokens; write one line \"NAME TOKEN\" for each caller", settings.TokensFile)
	}
	return all, nil
}

// ErrUnavailable is wrapped by a refusal if the authorization server cannot be
// reached. It says nothing about the caller.
var ErrUnavailable = errors.New("the authorization server is unavailable")

// InsufficientScope is the reason for the refusal of a caller that lacks a scope.
const InsufficientScope = "insufficient_scope"

// invalidToken is the reason for the refusal of a token (RFC 6750, 3.1).
const invalidToken = "invalid_token"

// Reason names in a word why a Guard refused a request: "unauthenticated"
// without a token, "invalid_token", InsufficientScope, "authorization_server"
// if that could not be reached, and "refused" for errors of other guards.
func Reason(err error) string {
	var why *refusal
	switch {
	case errors.Is(err, ErrUnavailable):
		return "authorization_server"
	case !errors.As(err, &why):
		return "refused"
	case why.code == "":
		return "unauthenticated"
	}
	return why.code
}

// refusal is the reason why a request is refused.
type refusal struct {
	status int
	code   string // of RFC 6750; empty where there was no token
	text   string
}

func (e *refusal) Error() string { return e.text }

// bearer takes the token out of a request (RFC 6750, 2.1).
func bearer(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return "", &refusal{status: http.StatusUnauthorized, text: "missing bearer token"}
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", &refusal{status: http.StatusUnauthorized, code: invalidToken, text: "the Authorization header must be one bearer token"}
	}
	return token, nil
}

// refuse responds to a refused request with a challenge that has these
// parameters and the reason (RFC 6750, 3).
func refuse(w http.ResponseWriter, err error, params ...string) {
	var why *refusal
	if !errors.As(err, &why) {
		// Why is for the log; it may name addresses that callers need not know.
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, ErrUnavailable.Error(), http.StatusServiceUnavailable)
		return
	}
	switch {
	case why.code != "":
		params = append([]string{"error", why.code, "error_description", why.text}, params...)
	case len(params) == 0:
		params = []string{"realm", "mcpgraph"} // a challenge has one parameter at least
	}
	challenge(w.Header(), params...)
	http.Error(w, why.text, why.status)
}

// challenge sets WWW-Authenticate; parameters are names and values in turn.
func challenge(header http.Header, params ...string) {
	var all []string
	for i := 0; i+1 < len(params); i += 2 {
		all = append(all, fmt.Sprintf("%s=%q", params[i], params[i+1]))
	}
	header.Set("WWW-Authenticate", "Bearer "+strings.Join(all, ", "))
}

// scopeChallenge returns the parameters of a challenge for a request that needs
// scopes which its sender has not.
func scopeChallenge(scopes []string) []string {
	needed := strings.Join(scopes, " ")
	return []string{
		"error", InsufficientScope, "error_description", "missing scope; required: " + needed, "scope", needed,
	}
}

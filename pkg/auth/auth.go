// Package auth says who sends HTTP requests and what they may do: by tokens that
// were agreed on, or as a resource server of OAuth 2.1 (MCP 2025-11-25,
// Authorization).
package auth

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Caller is who sent a request, and the scopes that were granted to them.
type Caller struct {
	Name   string
	Scopes []string
	// Expires is when the access token of the request expires; zero if it never
	// does. Answers that last longer end then.
	Expires time.Time
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

// Guard decides about requests. It is used by any number of goroutines.
type Guard interface {
	// Admit returns who sent the request, whose name is never empty. Where the
	// request is not let in it has been answered, and the error says why, without
	// secrets.
	Admit(w http.ResponseWriter, r *http.Request) (caller Caller, refused error)
	// Challenge puts into the header of an answer with HTTP status 403 which
	// scopes the request would have needed (MCP 2025-11-25, Authorization, Scope
	// Challenge Handling).
	Challenge(header http.Header, scopes []string)
	// Pages are what anybody may read, by path, such as metadata. It may be nil.
	Pages() map[string]http.Handler
}

// New returns the Guard that settings ask for; nil where they are nil, or have no
// type. It reads the file of tokens. The error is about that file, or about
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

// allTokens gives the tokens of the settings and of their file.
func allTokens(settings *config.ServerAuth) ([]config.CallerToken, error) {
	if settings.TokensFile == "" {
		return settings.Tokens, nil
	}
	text, err := os.ReadFile(settings.TokensFile)
	if err != nil {
		return nil, fmt.Errorf("reading the callers' tokens: %w", err)
	}
	more, err := ParseTokens(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", settings.TokensFile, err)
	}
	all := slices.Concat(settings.Tokens, more)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there are no tokens; expected a line \"NAME TOKEN\" for each caller", settings.TokensFile)
	}
	return all, nil
}

// ErrUnavailable is what a refusal wraps that says nothing of the caller: the
// authorization server cannot be asked about anybody.
var ErrUnavailable = errors.New("the authorization server cannot be asked")

// InsufficientScope is the reason for the refusal of a caller that lacks a scope.
const InsufficientScope = "insufficient_scope"

// invalidToken is the reason for the refusal of a token (RFC 6750, 3.1).
const invalidToken = "invalid_token"

// Reason names in a word why a Guard refused a request: "unauthenticated" without a
// token, "invalid_token", InsufficientScope, "authorization_server" if that could
// not be asked, and "refused" for what other guards say.
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

// refusal is why a request is not let in.
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
		return "", &refusal{status: http.StatusUnauthorized, text: "a bearer token is needed"}
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", &refusal{status: http.StatusUnauthorized, code: invalidToken, text: "the Authorization is not one bearer token"}
	}
	return token, nil
}

// refuse answers a request that is not let in, with a challenge that has these
// parameters beside the reason (RFC 6750, 3).
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

// lacking gives the parameters of a challenge for a request that needs scopes
// which its sender has not.
func lacking(scopes []string) []string {
	needed := strings.Join(scopes, " ")
	return []string{
		"error", InsufficientScope, "error_description", "these scopes are needed: " + needed, "scope", needed,
	}
}

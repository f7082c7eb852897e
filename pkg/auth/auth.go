// Package auth says who sends HTTP requests: by tokens that were agreed on, or
// as a resource server of OAuth 2.1 (MCP 2025-11-25, Authorization).
package auth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Guard decides about requests. It is used by any number of goroutines.
type Guard interface {
	// Admit returns who sent the request, never empty. Where the request is not
	// let in it has been answered, and the error says why, without secrets.
	Admit(w http.ResponseWriter, r *http.Request) (caller string, refused error)
	// Pages are what anybody may read, by path, such as metadata. It may be nil.
	Pages() map[string]http.Handler
}

// Reasons for a refusal (RFC 6750, 3.1).
const (
	invalidToken      = "invalid_token"
	insufficientScope = "insufficient_scope"
)

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
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	if why.code != "" {
		params = append([]string{"error", why.code, "error_description", why.text}, params...)
	}
	var challenge []string
	for i := 0; i+1 < len(params); i += 2 {
		challenge = append(challenge, fmt.Sprintf("%s=%q", params[i], params[i+1]))
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(challenge, ", ")))
	http.Error(w, why.text, why.status)
}

package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

// Identity stands for the credentials of a call: a hash, never the credential
// itself. Calls of one identity share sessions, caches and breakers. Empty is
// calls without credentials of a caller.
type Identity string

// identify returns the identity of calls that carry this.
func identify(server, caller, speaksFor string, h http.Header) Identity {
	parts := []string{server, caller, speaksFor}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		parts = append(append(parts, name), h[name]...)
	}
	return Identity(fingerprint(parts...))
}

// Call is what one call may carry to its server. It is immutable once it is made.
type Call struct {
	Identity Identity
	Secrets  []string // of the caller
	Token    string   // that the call began with; empty if it has none

	forwarded http.Header // nil if the call carries nothing
	cache     *tokenCache // of token; nil if it is not kept
	hint      string      // what to do when the server refuses it
}

// addSecret notes a secret that came with the call, and what is secret in it by
// itself.
func (c *Call) addSecret(secret string) {
	if !slices.Contains(c.Secrets, secret) {
		c.Secrets = append(append(c.Secrets, secret), credentialsIn(secret)...)
	}
}

// HasHeaders reports whether requests of the call have headers of their own.
func (c *Call) HasHeaders() bool { return c.forwarded != nil }

// Headers returns the headers of a request now: the forwarded ones, and unless
// they have Authorization the token, which may be another one than Token by now.
func (c *Call) Headers(ctx context.Context) (h http.Header, token string, err error) {
	h, token = c.forwarded.Clone(), c.Token
	if c.cache != nil {
		t, err := c.cache.get(ctx)
		if err != nil {
			return nil, "", err
		}
		token = t.Value
	}
	if token != "" && h.Get("Authorization") == "" {
		h.Set("Authorization", "Bearer "+token)
	}
	return h, token, nil
}

// Refused returns the error of a call whose credentials the server refused with
// err.
func (c *Call) Refused(err error) *Error {
	return &Error{Message: "it refused the credential: " + err.Error(), Hint: c.hint, Err: err}
}

// clean returns err without what the caller sent.
func (c *Call) clean(err error) error {
	var e *Error
	if len(c.Secrets) == 0 || !errors.As(err, &e) {
		return err
	}
	edited := *e
	edited.Message = redact.New(c.Secrets).Text(e.Message)
	return &edited
}

// credentialsIn returns what is secret by itself in the value of a header that
// begins with an authentication scheme (RFC 9110, 11.4): what follows the scheme,
// and of Basic the password.
func credentialsIn(v string) []string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(v), " ")
	rest = strings.TrimSpace(rest)
	isNoLetter := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) }
	if !ok || rest == "" || strings.ContainsAny(rest, " \t") || strings.ContainsFunc(scheme, isNoLetter) {
		return nil
	}
	if strings.EqualFold(scheme, "Basic") {
		if text, err := base64.StdEncoding.DecodeString(rest); err == nil {
			if _, password, ok := strings.Cut(string(text), ":"); ok {
				return []string{rest, password}
			}
		}
	}
	return []string{rest}
}

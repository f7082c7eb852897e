package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Tokens is a Guard with a list of tokens and their owners. It is immutable.
type Tokens struct {
	callers map[[sha256.Size]byte]Caller // by the token's hash, whose look-up tells nothing of the token
}

// ParseTokens reads a line "NAME TOKEN [SCOPE...]" for each token; a caller may
// have several. Empty lines and lines that begin with # are skipped. The error
// names the line, never its token.
func ParseTokens(text string) ([]config.CallerToken, error) {
	var tokens []config.CallerToken
	first := map[string]string{} // the caller of each token
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("line %d: missing token; write NAME TOKEN [SCOPE...]", n)
		}
		t := config.CallerToken{Caller: fields[0], Token: fields[1], Scopes: fields[2:]}
		if err := checkToken(t, first); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// NewTokens returns a Guard that lets in who has one of these tokens, of which
// there has to be one at least. The error never holds a token.
func NewTokens(tokens []config.CallerToken) (*Tokens, error) {
	if len(tokens) == 0 {
		return nil, errors.New("no tokens")
	}
	t := &Tokens{callers: make(map[[sha256.Size]byte]Caller, len(tokens))}
	first := map[string]string{}
	for _, token := range tokens {
		if err := checkToken(token, first); err != nil {
			return nil, err
		}
		t.callers[sha256.Sum256([]byte(token.Token))] = Caller{Name: token.Caller, Scopes: token.Scopes}
	}
	return t, nil
}

// checkToken checks one token; first has the callers of those before.
func checkToken(t config.CallerToken, first map[string]string) error {
	switch {
	case t.Caller == "":
		return errors.New("a token has no caller name")
	case len(t.Token) < config.MinToken:
		return fmt.Errorf("the token of %q is shorter than %d characters", t.Caller, config.MinToken)
	case !config.IsToken(t.Token):
		return fmt.Errorf("the token of %q contains characters that a header cannot carry", t.Caller)
	}
	for _, s := range t.Scopes {
		if !config.IsScope(s) {
			return fmt.Errorf("%q of caller %q is not a valid scope", s, t.Caller)
		}
	}
	if other, used := first[t.Token]; used {
		return fmt.Errorf("%q has the same token as %q", t.Caller, other)
	}
	first[t.Token] = t.Caller
	return nil
}

// Admit lets the owners of tokens in.
func (t *Tokens) Admit(w http.ResponseWriter, r *http.Request) (Caller, error) {
	token, err := bearer(r)
	if err == nil {
		if caller, known := t.callers[sha256.Sum256([]byte(token))]; known {
			return caller, nil
		}
		err = &refusal{status: http.StatusUnauthorized, code: invalidToken, text: "unknown token"}
	}
	refuse(w, err)
	return Caller{}, err
}

// Challenge names the scopes. The issuer of the token can grant them.
func (t *Tokens) Challenge(header http.Header, scopes []string) {
	challenge(header, scopeChallenge(scopes)...)
}

// Pages returns none.
func (t *Tokens) Pages() map[string]http.Handler { return nil }

package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// minToken is the length in bytes below which a token can be guessed.
const minToken = 16

// Tokens is a Guard that knows tokens and whose they are. It is immutable.
type Tokens struct {
	callers map[[sha256.Size]byte]string // by the token's hash, whose look-up tells nothing of the token
}

// ParseTokens reads a line "NAME TOKEN" for each caller; a caller may have
// several. Empty lines and those that begin with # say nothing. The error names
// the line, never its token.
func ParseTokens(text string) (*Tokens, error) {
	t := &Tokens{callers: map[[sha256.Size]byte]string{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
			continue
		case len(fields) != 2:
			return nil, fmt.Errorf("line %d: expected a caller's name and a token, found %d words", n, len(fields))
		case len(fields[1]) < minToken:
			return nil, fmt.Errorf("line %d: the token of %q is shorter than %d characters", n, fields[0], minToken)
		}
		hash := sha256.Sum256([]byte(fields[1]))
		if other, used := t.callers[hash]; used && other != fields[0] {
			return nil, fmt.Errorf("line %d: %q has the token of %q", n, fields[0], other)
		}
		t.callers[hash] = fields[0]
	}
	if len(t.callers) == 0 {
		return nil, errors.New("there are no tokens")
	}
	return t, nil
}

// Admit lets the owners of tokens in.
func (t *Tokens) Admit(w http.ResponseWriter, r *http.Request) (string, error) {
	token, err := bearer(r)
	if err == nil {
		if caller, known := t.callers[sha256.Sum256([]byte(token))]; known {
			return caller, nil
		}
		err = &refusal{status: http.StatusUnauthorized, code: invalidToken, text: "the token is not known"}
	}
	refuse(w, err)
	return "", err
}

// Pages returns none.
func (t *Tokens) Pages() map[string]http.Handler { return nil }

package auth

import (
	"net/http"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Changing is a Guard that may let others in than before.
type Changing interface {
	Guard
	// Changed returns a channel that is closed as soon as Admit may decide
	// otherwise. Then it returns another one.
	Changed() <-chan struct{}
}

// TokensFile is a Guard that knows the tokens of a file, as it was when it was
// last read. It is safe for concurrent use.
type TokensFile struct {
	path string

	mu      sync.RWMutex
	tokens  *Tokens
	changed chan struct{}
}

var _ Changing = (*TokensFile)(nil)

// NewTokensFile reads the file, which has a line for each token as [ParseTokens]
// wants it. The error is about the file, and never has a token.
func NewTokensFile(path string) (*TokensFile, error) {
	f := &TokensFile{path: path, changed: make(chan struct{})}
	return f, f.Reload()
}

// Reload reads the file again. If there is an error, the tokens stay those that
// were read before.
func (f *TokensFile) Reload() error {
	all, err := allTokens(&config.ServerAuth{TokensFile: f.path})
	if err != nil {
		return err
	}
	tokens, err := NewTokens(all)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens = tokens
	close(f.changed)
	f.changed = make(chan struct{})
	return nil
}

// Changed returns a channel that is closed when the file is read again.
func (f *TokensFile) Changed() <-chan struct{} {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.changed
}

func (f *TokensFile) now() *Tokens {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.tokens
}

// Admit lets the owners of tokens in.
func (f *TokensFile) Admit(w http.ResponseWriter, r *http.Request) (Caller, error) {
	return f.now().Admit(w, r)
}

// Challenge names the scopes.
func (f *TokensFile) Challenge(header http.Header, scopes []string) {
	f.now().Challenge(header, scopes)
}

// Pages returns none.
func (f *TokensFile) Pages() map[string]http.Handler { return nil }

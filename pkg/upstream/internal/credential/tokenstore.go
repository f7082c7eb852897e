package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
)

// tokenStore is the file in which tokens outlive the program: one JSON object
// with a record for each server. Only its owner may read it (mode 0600).
// Several processes may use it at once.
type tokenStore struct {
	path    string        // empty: the user's own
	waiting chan struct{} // full while something of this process waits for a lock
}

func newTokenStore(path string) *tokenStore { return &tokenStore{path, make(chan struct{}, 1)} }

// loginRecord is what a login left behind: the tokens, and all that it takes to
// renew them.
type loginRecord struct {
	Issuer        string    `json:"issuer,omitempty"`
	TokenURL      string    `json:"tokenUrl"`
	RevocationURL string    `json:"revocationUrl,omitempty"`
	ClientID      string    `json:"clientId"`
	ClientSecret  string    `json:"clientSecret,omitempty"`
	AuthStyle     int       `json:"authStyle,omitempty"`
	Resource      string    `json:"resource,omitempty"`
	Scopes        []string  `json:"scopes,omitempty"`
	AccessToken   string    `json:"accessToken"`
	RefreshToken  string    `json:"refreshToken,omitempty"`
	ExpiresAt     time.Time `json:"expiresAt,omitzero"`
	RenewAt       time.Time `json:"renewAt,omitzero"`
	// Seed is the hash of the configured refresh token that these tokens come
	// from; empty after a login.
	Seed string `json:"seed,omitempty"`
}

// fresh reports whether the access token need not be renewed yet.
func (r *loginRecord) fresh(now time.Time) bool {
	return r.AccessToken != "" && (r.RenewAt.IsZero() || now.Before(r.RenewAt))
}

// file returns the path of the file.
func (s *tokenStore) file() (string, error) {
	if s.path != "" {
		return s.path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for tokens: %w", err)
	}
	return filepath.Join(dir, "mcpgraph", "tokens.json"), nil
}

// lock keeps other processes, and other goroutines, from renewing the tokens of
// a server until unlock is called: a refresh token often works once only. A process
// that stands still may hold it for long, so waiting ends with ctx.
func (s *tokenStore) lock(ctx context.Context, key string) (unlock func(), err error) {
	type locked struct {
		unlock func()
		err    error
	}
	got := make(chan locked)
	select {
	case s.waiting <- struct{}{}: // a thread waits, so there is one at most
	case <-ctx.Done():
		return nil, errLocked
	}
	go func() {
		unlock, err := s.lockFile("." + fingerprint(key) + ".lock")
		<-s.waiting
		select {
		case got <- locked{unlock, err}:
		case <-ctx.Done():
			if err == nil {
				unlock()
			}
		}
	}()
	select {
	case l := <-got:
		return l.unlock, l.err
	case <-ctx.Done():
		return nil, errLocked
	}
}

var errLocked = errors.New("another process keeps its lock")

func (s *tokenStore) lockFile(suffix string) (unlock func(), err error) {
	path, err := s.file()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return lockedfile.MutexAt(path + suffix).Lock()
}

// load returns the record of a server; ok is false if there is none.
func (s *tokenStore) load(key string) (r loginRecord, ok bool, err error) {
	all, err := s.read()
	r, ok = all[key]
	return r, ok, err
}

// save writes the record of a server, which must be locked.
func (s *tokenStore) save(key string, r loginRecord) error {
	return s.change(func(all map[string]loginRecord) { all[key] = r })
}

// remove forgets a server, which must be locked.
func (s *tokenStore) remove(key string) error {
	return s.change(func(all map[string]loginRecord) { delete(all, key) })
}

func (s *tokenStore) read() (map[string]loginRecord, error) {
	all := map[string]loginRecord{}
	path, err := s.file()
	if err != nil {
		return nil, err
	}
	raw, err := boundedfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, err
	}
	// What went wrong could quote a token.
	if json.Unmarshal(raw, &all) != nil || all == nil { // nil: the text is null
		return nil, fmt.Errorf("%s is not a file of tokens; remove it and log in again", path)
	}
	return all, nil
}

// change edits the file, one change at a time.
func (s *tokenStore) change(edit func(map[string]loginRecord)) error {
	unlock, err := s.lockFile(".lock")
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	edit(all)
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	// Temporary files have the mode 0600, and who reads the store while it is
	// replaced sees the old one or the new one, never half of one.
	path, err := s.file()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tokens-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

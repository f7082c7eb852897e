package credential

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTokenStoreKeepsServersApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "tokens.json")
	var wait sync.WaitGroup
	for n := range 20 {
		wait.Go(func() {
			s := newTokenStore(path) // as another process has it
			key := fmt.Sprint("server ", n)
			unlock, err := s.lock(t.Context(), key)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if err := s.save(key, loginRecord{AccessToken: fmt.Sprint("token ", n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	s := newTokenStore(path)
	if err := s.remove("server 7"); err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		r, ok, err := s.load(fmt.Sprint("server ", n))
		if err != nil || ok != (n != 7) || ok && r.AccessToken != fmt.Sprint("token ", n) {
			t.Errorf("server %d: %+v, %v, %v", n, r, ok, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".tokens-") {
			t.Errorf("%s is left over", e.Name())
		}
	}
	for file, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", file, info.Mode(), err, want)
		}
	}
}

func TestATokenStoreThatIsNoneIsNotOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	if err := os.WriteFile(path, []byte(`{"server": {"accessToken": "half-a-tok`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newTokenStore(path)
	_, _, loadErr := s.load("server")
	for _, err := range []error{loadErr, s.save("server", loginRecord{}), s.remove("server")} {
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "half-a-tok") {
			t.Errorf("got %v, want an error that names the file and nothing in it", err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || len(got) == 0 {
		t.Errorf("the file is %q, %v", got, err)
	}
	if err := errors.Join(os.Remove(path), s.save("server", loginRecord{AccessToken: "x"})); err != nil {
		t.Error(err)
	}
}

func TestWaitingForTheLockOfAnotherProcessEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	other, s := newTokenStore(path), newTokenStore(path)
	unlock, err := other.lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // of which one waits on
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := s.lock(ctx, "a"); !errors.Is(err, errLocked) {
			t.Errorf("got %v, want %v", err, errLocked)
		}
		cancel()
	}
	unlock()
	unlock, err = s.lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

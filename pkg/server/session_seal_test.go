package server

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestSealedSessions(t *testing.T) {
	key := []byte("0123456789abcdef")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seal := func(secret []byte) *sessionSeal {
		s := newSessionSeal(secret)
		s.now = func() time.Time { return now }
		return s
	}
	state := sessionState{"2025-11-25", Client{"a client", "1.2.3"}, capabilities{form: true, sampling: true}}
	mine, replica := seal(key), seal(key)
	id := mine.seal(state, "ann")
	if got, err := replica.open(id, "ann"); err != nil || got != state {
		t.Errorf("a replica: %v (%v)", got, err)
	}
	if again := mine.seal(state, "ann"); again == id {
		t.Error("two sessions have one id")
	}
	for i := range id {
		other := byte('A')
		if id[i] == other {
			other = 'B'
		}
		if _, err := replica.open(id[:i]+string(other)+id[i+1:], "ann"); err == nil {
			t.Errorf("byte %d can be changed", i)
		}
		if _, err := replica.open(id[:i], "ann"); err == nil {
			t.Errorf("the first %d bytes are enough", i)
		}
	}
	for _, wrong := range []struct {
		why    string
		seal   *sessionSeal
		caller string
	}{
		{"another caller", replica, "bob"},
		{"a caller without a name", replica, ""},
		{"another key", seal([]byte("0123456789abcdeg")), "ann"},
		{"a key of its own", seal(nil), "ann"},
	} {
		if _, err := wrong.seal.open(id, wrong.caller); err != errUnknownSession {
			t.Errorf("%s: %v", wrong.why, err)
		}
	}
	now = now.Add(sessionLife)
	if _, err := replica.open(id, "ann"); err != nil {
		t.Error("it ends before its time")
	}
	now = now.Add(time.Second)
	if _, err := replica.open(id, "ann"); err != errUnknownSession {
		t.Errorf("expired: %v", err)
	}

	state.client = Client{strings.Repeat("n", 10_000), strings.Repeat("é", 100)}
	id = mine.seal(state, "ann")
	got, err := replica.open(id, "ann")
	if err != nil || len(id) > maxSessionID || len(got.client.Name) != sealedText || !strings.HasPrefix(got.client.Version, "ééé") {
		t.Errorf("long names: %d bytes, %v (%v)", len(id), got, err)
	}
}

func FuzzSealedSession(f *testing.F) {
	s := newSessionSeal([]byte("0123456789abcdef"))
	f.Add([]byte(s.seal(sessionState{version: "2025-11-25"}, "")))
	f.Fuzz(func(t *testing.T, id []byte) {
		state, err := s.open(string(id), "ann") // that caller never got one
		if err == nil {
			t.Errorf("%q is accepted as %v", bytes.Clone(id), state)
		}
	})
}

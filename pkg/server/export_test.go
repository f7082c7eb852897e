package server

import (
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// SetTimes gives clients of the servers that are made until the test ends less
// time to send headers and bodies, and to read.
func SetTimes(t testing.TB, send, read time.Duration) {
	before := defaultTimeouts
	defaultTimeouts.header, defaultTimeouts.body, defaultTimeouts.write = send, send, read
	t.Cleanup(func() { defaultTimeouts = before })
}

// SetShutdown sets how long calls have to return once a server ends.
func SetShutdown(t testing.TB, d time.Duration) {
	before := defaultTimeouts
	defaultTimeouts.shutdown = d
	t.Cleanup(func() { defaultTimeouts = before })
}

// SetUnread lets fewer bytes wait for a client on pipes, of the servers that are
// made until the test ends.
func SetUnread(t testing.TB, n int) {
	before := defaultTimeouts
	defaultTimeouts.unread = n
	t.Cleanup(func() { defaultTimeouts = before })
}

// SetMaxSubscriptions bounds subscriptions otherwise until the test ends.
func SetMaxSubscriptions(t testing.TB, one, all int) {
	beforeOne, beforeAll := maxSubscriptionsPerCaller, maxSubscriptions
	maxSubscriptionsPerCaller, maxSubscriptions = one, all
	t.Cleanup(func() { maxSubscriptionsPerCaller, maxSubscriptions = beforeOne, beforeAll })
}

// SetRecheck sets the interval at which tokens are checked again, of the servers
// that are made until the test ends.
func SetRecheck(t testing.TB, every time.Duration) {
	before := defaultTimeouts
	defaultTimeouts.recheck = every
	t.Cleanup(func() { defaultTimeouts = before })
}

// Watches returns how many resources a server watches, for how many subscriptions, and
// how many subscriptions count for the limits.
func Watches(s *Server) (watches, watchers, counted int) {
	s.watches.mu.Lock()
	for _, w := range s.watches.all {
		watches++
		watchers += len(w.watchers)
	}
	s.watches.mu.Unlock()
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	return watches, watchers, s.subscriptions.total
}

// MatchTemplate matches a URI with a template.
func MatchTemplate(template, uri string) (value.Value, bool, error) {
	t, err := newTemplate(template)
	if err != nil {
		return value.Undef, false, err
	}
	v, ok := t.match(uri)
	return v, ok, nil
}

// ReadCursor reads a cursor of a list that has entries with these keys.
func ReadCursor(cursor string, keys []string) (int, bool) {
	return pagesOf(keys).readCursor(cursor)
}

// CursorAt returns the cursor of a list that has entries with these keys.
func CursorAt(at int, keys []string) string { return pagesOf(keys).cursorAt(at) }

func pagesOf(keys []string) *pages {
	l := &pages{members: "tools"}
	for _, k := range keys {
		l.list = append(l.list, listed{key: k})
	}
	return l
}

// How long progress is held over pipes, and how often a call gives a sign of life.
const (
	ProgressDelay = progressDelay
	AliveInterval = aliveInterval
)

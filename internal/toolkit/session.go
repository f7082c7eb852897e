package toolkit

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of what is remembered of clients.
const (
	maxSessions     = 100
	maxChanges      = 50       // of a session
	maxHistoryBytes = 64 << 20 // of all sessions
	maxSeenBytes    = 4 << 20  // of a session
)

// sessions are those of the clients, by caller and session id. The lock of the file
// guards them.
type sessions struct {
	byKey map[string]*session
	turn  int // counts uses
}

// session is what the toolkit remembers of one client: its edits, and tools as they
// were shown to it.
type session struct {
	used      int               // the turn of the last use
	history   []change          // the oldest first
	seen      map[string]string // definitions as JSON, by the name of the tool
	seenBytes int
}

// sessionOf returns that of the client. The lock of the file must be held.
func sessionOf(c *call) *session {
	all := &c.sessions
	key := c.request.Caller + "\x00" + c.request.Session
	all.turn++
	one := all.byKey[key]
	if one == nil {
		if all.byKey == nil {
			all.byKey = map[string]*session{}
		}
		if len(all.byKey) >= maxSessions {
			all.forget()
		}
		one = &session{seen: map[string]string{}}
		all.byKey[key] = one
	}
	one.used = all.turn
	return one
}

// forget removes the session that was used least recently.
func (s *sessions) forget() {
	oldest := ""
	for key, one := range s.byKey {
		if was := s.byKey[oldest]; was == nil || one.used < was.used {
			oldest = key
		}
	}
	delete(s.byKey, oldest)
}

// note remembers how a tool was shown to the client; undefined: it is not known any
// more.
func (s *session) note(name string, definition value.Value) {
	s.seenBytes -= len(s.seen[name])
	delete(s.seen, name)
	if definition.IsUndefined() {
		return
	}
	text := definition.JSON()
	if s.seenBytes += len(text); s.seenBytes > maxSeenBytes {
		clear(s.seen)
		s.seenBytes = len(text)
	}
	s.seen[name] = text
}

// changed returns the tool as the client saw it, if that is not what it is now.
func (s *session) changed(name string, now value.Value) (was value.Value, changed bool) {
	text, ok := s.seen[name]
	if !ok {
		return value.Undef, false
	}
	was, err := value.Parse(text)
	return was, err == nil && !value.Equal(was, now)
}

// remember keeps an edit of the client for history and undo.
func remember(c *call, one change) {
	own := sessionOf(c)
	own.history = append(own.history, one)
	if n := len(own.history) - maxChanges; n > 0 {
		own.history = slices.Delete(own.history, 0, n)
	}
	for c.sessions.size() > maxHistoryBytes {
		c.sessions.dropOldest()
	}
}

// size returns how many bytes the histories have.
func (s *sessions) size() int {
	n := 0
	for _, one := range s.byKey {
		for _, c := range one.history {
			n += len(c.before) + len(c.diff)
		}
	}
	return n
}

// dropOldest removes the oldest edit of all.
func (s *sessions) dropOldest() {
	var of *session
	for _, one := range s.byKey {
		if len(one.history) > 0 && (of == nil || one.history[0].time.Before(of.history[0].time)) {
			of = one
		}
	}
	of.history = slices.Delete(of.history, 0, 1)
}

// since returns what differs in a text from a revision that the client has edited;
// empty if that is not known.
func (s *session) since(r edit.Revision, now []byte) string {
	for _, c := range s.history {
		if c.from == r {
			return diff.Unified(string(r), "now", string(c.before), string(now), false)
		}
	}
	return ""
}

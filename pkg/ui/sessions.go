package ui

import (
	"context"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Bounds of sessions.
const (
	maxSessions = 32   // under way
	maxEnds     = 1000 // of those that are over, of which the end is known
	maxPoints   = 1000 // breakpoints of a session
)

// session is a run under control that the page began.
type session struct {
	*debug.Session
	known *runs.Run // as it was when it began; it knows the secrets of the run
}

// shower returns what shows values of the session.
func (s *session) shower() shower {
	_, redact, _ := s.known.Live()
	return shower{redact}
}

// sessions are those of a page.
type sessions struct {
	life context.Context // ends with the page
	end  context.CancelFunc
	wait sync.WaitGroup

	mu       sync.Mutex
	starting int                 // that count as under way
	live     map[string]*session // under way
	ends     map[string]string   // how others ended, by id
	old      []string            // the ids of ends, the oldest first
}

func newSessions() *sessions {
	s := &sessions{live: map[string]*session{}, ends: map[string]string{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// close stops all sessions and waits for their ends.
func (s *sessions) close() {
	s.end()
	s.wait.Wait()
}

// reserve makes room for one more session. It reports false if there are limit of them.
func (s *sessions) reserve(limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.live)+s.starting >= limit {
		return false
	}
	s.starting++
	return true
}

func (s *sessions) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting--
}

func (s *sessions) add(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[one.ID()] = one
}

// get returns a session under way, or nil.
func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// has reports whether a run is or was one of the page's own.
func (s *sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id] != nil || s.ends[id] != ""
}

// ended returns how a session ended, or nothing if no session of the page has this id.
func (s *sessions) ended(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends[id]
}

// over notes how a session ended.
func (s *sessions) over(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, id)
	if s.old = append(s.old, id); len(s.old) > maxEnds {
		delete(s.ends, s.old[0])
		s.old = s.old[1:]
	}
	s.ends[id] = status
}

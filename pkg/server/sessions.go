package server

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

// errTooMany says that no further session can begin.
var errTooMany = errors.New("too many sessions; try again later")

// sessions are those of HTTP clients of revisions before 2026-07-28. Their ids
// are random, and known only here.
type sessions struct {
	idle  time.Duration
	most  int
	began func(context.Context) func(error)

	audience *audience // hears what is said unasked

	mu     sync.Mutex
	closed bool
	byID   map[string]*httpSession
	held   map[string]int // sessions by caller
}

// httpSession is one of them.
type httpSession struct {
	*session
	caller string // whose it is
	calls  inflight
	ended  func(error)

	streams streams // that it listens on
	leave   func()  // the audience

	// Guarded by sessions.mu.
	users int // requests under way
	timer *time.Timer
}

// create begins a session, in use by its caller's request.
func (s *sessions) create(ctx context.Context, caller string) (*httpSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Where callers are told apart none keeps the others out.
	if s.closed || len(s.byID) >= s.most || caller != "" && s.held[caller] >= (s.most+1)/2 {
		return nil, errTooMany
	}
	if s.byID == nil {
		s.byID, s.held = map[string]*httpSession{}, map[string]int{}
	}
	made := &httpSession{session: newSession(rand.Text()), caller: caller, users: 1, ended: func(error) {}}
	if s.began != nil {
		made.ended = s.began(context.WithoutCancel(ctx))
	}
	made.leave = s.audience.join(func(string) bool { return true }, made.streams.tell)
	s.byID[made.id] = made
	s.held[caller]++
	return made, nil
}

// use returns the caller's session with this id, nil where there is none.
func (s *sessions) use(id, caller string) *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byID[id]
	if found == nil || found.caller != caller {
		return nil
	}
	found.users++
	if found.timer != nil {
		found.timer.Stop()
	}
	return found
}

// release says that a request is over that used the session.
func (s *sessions) release(one *httpSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.users--; one.users > 0 || s.byID[one.id] != one {
		return
	}
	if one.timer != nil {
		one.timer.Reset(s.idle)
		return
	}
	one.timer = time.AfterFunc(s.idle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		// A request may have come while the timer went off.
		if one.users == 0 && s.byID[one.id] == one {
			s.forget(one)
		}
	})
}

// remove ends the caller's session with this id, and what is under way in it.
func (s *sessions) remove(id, caller string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byID[id]
	if found == nil || found.caller != caller {
		return false
	}
	s.forget(found)
	return true
}

// close ends all sessions.
func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, one := range s.byID {
		s.forget(one)
	}
}

func (s *sessions) forget(one *httpSession) {
	delete(s.byID, one.id)
	if s.held[one.caller]--; s.held[one.caller] == 0 {
		delete(s.held, one.caller)
	}
	if one.timer != nil {
		one.timer.Stop()
	}
	one.leave()
	one.streams.end()
	one.calls.cancelAll()
	one.ended(nil)
}

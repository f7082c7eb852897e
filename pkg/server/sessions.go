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

	streams streams // that it listens on

	// Guarded by sessions.mu.
	ended func(error) // nil until the session has begun; then it does not change
	leave func()      // the audience; the same
	users int         // requests under way
	timer *time.Timer
}

// create begins a session, in use by its caller's request. The callback that is
// told of it may take its time: the lock is not held.
func (s *sessions) create(ctx context.Context, caller string) (*httpSession, error) {
	made := &httpSession{session: newSession(rand.Text()), caller: caller, users: 1}
	if !s.add(made) {
		return nil, errTooMany
	}
	ended := func(error) {}
	if s.began != nil {
		ended = s.began(context.WithoutCancel(ctx))
	}
	leave := s.audience.join(func(string) bool { return true }, made.streams.tell)
	s.mu.Lock()
	made.ended, made.leave = ended, leave
	over := s.byID[made.id] != made
	s.mu.Unlock()
	if over {
		made.finish() // the server was closed meanwhile
	}
	return made, nil
}

// add takes a session in, unless there are too many.
func (s *sessions) add(made *httpSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Where callers are told apart none keeps the others out.
	if s.closed || len(s.byID) >= s.most || made.caller != "" && s.held[made.caller] >= (s.most+1)/2 {
		return false
	}
	if s.byID == nil {
		s.byID, s.held = map[string]*httpSession{}, map[string]int{}
	}
	s.byID[made.id] = made
	s.held[made.caller]++
	return true
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
		// A request may have come while the timer went off.
		idle := one.users == 0 && s.byID[one.id] == one
		if idle {
			s.forget(one)
		}
		s.mu.Unlock()
		if idle {
			one.finish()
		}
	})
}

// remove ends the caller's session with this id, and what is under way in it.
func (s *sessions) remove(id, caller string) bool {
	s.mu.Lock()
	found := s.byID[id]
	if found == nil || found.caller != caller {
		s.mu.Unlock()
		return false
	}
	s.forget(found)
	s.mu.Unlock()
	found.finish()
	return true
}

// close ends all sessions.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	var all []*httpSession
	for _, one := range s.byID {
		if one.ended != nil { // else create finishes it
			all = append(all, one)
		}
		s.forget(one)
	}
	s.mu.Unlock()
	for _, one := range all {
		one.finish()
	}
}

// forget takes a session out; s.mu is held. What was under way in it is ended by
// finish, without the lock: it calls back.
func (s *sessions) forget(one *httpSession) {
	delete(s.byID, one.id)
	if s.held[one.caller]--; s.held[one.caller] == 0 {
		delete(s.held, one.caller)
	}
	if one.timer != nil {
		one.timer.Stop()
	}
}

// finish ends what is under way in a session that was forgotten.
func (one *httpSession) finish() {
	one.leave()
	one.streams.end()
	one.calls.cancelAll()
	one.ended(nil)
}

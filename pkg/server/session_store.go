package server

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

// errTooManySessions refuses initialize when no further session may begin.
var errTooManySessions = errors.New("too many sessions; try again later")

// sessionStore holds the sessions of HTTP clients of revisions before
// 2026-07-28. Their ids are random and secret. It is safe for concurrent use.
type sessionStore struct {
	idle    time.Duration
	limit   int
	onBegin func(context.Context) func(error)

	subscribers *subscribers // every session subscribes

	mu        sync.Mutex
	closed    bool
	byID      map[string]*httpSession
	perCaller map[string]int // number of sessions
}

// httpSession is one session over HTTP.
type httpSession struct {
	*session
	caller string // owner
	calls  inflight

	streams sessionStreams // open event streams

	// Guarded by sessionStore.mu.
	ended       func(error) // nil until create returns, then fixed
	unsubscribe func()      // the same
	requests    int         // being handled
	idleTimer   *time.Timer
}

// create begins a session that is in use by one request of its caller. It calls
// onBegin without holding the lock.
func (s *sessionStore) create(ctx context.Context, caller string) (*httpSession, error) {
	session := &httpSession{session: newSession(rand.Text()), caller: caller, requests: 1}
	if !s.add(session) {
		return nil, errTooManySessions
	}
	ended := func(error) {}
	if s.onBegin != nil {
		ended = s.onBegin(context.WithoutCancel(ctx))
	}
	unsubscribe := s.subscribers.add(func(string) bool { return true }, session.streams.notify)
	s.mu.Lock()
	session.ended, session.unsubscribe = ended, unsubscribe
	closed := s.byID[session.id] != session
	s.mu.Unlock()
	if closed {
		session.finish() // the server closed meanwhile
	}
	return session, nil
}

// add stores a session, unless there are too many.
func (s *sessionStore) add(session *httpSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Each authenticated caller may hold at most half of the sessions.
	if s.closed || len(s.byID) >= s.limit || session.caller != "" && s.perCaller[session.caller] >= (s.limit+1)/2 {
		return false
	}
	if s.byID == nil {
		s.byID, s.perCaller = map[string]*httpSession{}, map[string]int{}
	}
	s.byID[session.id] = session
	s.perCaller[session.caller]++
	return true
}

// use returns the caller's session with this id, and keeps it in use until
// release; nil if there is none.
func (s *sessionStore) use(id, caller string) *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byID[id]
	if found == nil || found.caller != caller {
		return nil
	}
	found.requests++
	if found.idleTimer != nil {
		found.idleTimer.Stop()
	}
	return found
}

// release ends a use of the session by one request.
func (s *sessionStore) release(session *httpSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session.requests--; session.requests > 0 || s.byID[session.id] != session {
		return
	}
	if session.idleTimer != nil {
		session.idleTimer.Reset(s.idle)
		return
	}
	session.idleTimer = time.AfterFunc(s.idle, func() {
		s.mu.Lock()
		// A request may have arrived just as the timer fired.
		idle := session.requests == 0 && s.byID[session.id] == session
		if idle {
			s.forget(session)
		}
		s.mu.Unlock()
		if idle {
			session.finish()
		}
	})
}

// remove ends the caller's session with this id and cancels its requests.
func (s *sessionStore) remove(id, caller string) bool {
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
func (s *sessionStore) close() {
	s.mu.Lock()
	s.closed = true
	var all []*httpSession
	for _, session := range s.byID {
		if session.ended != nil { // otherwise create finishes it
			all = append(all, session)
		}
		s.forget(session)
	}
	s.mu.Unlock()
	for _, session := range all {
		session.finish()
	}
}

// forget removes a session; the caller holds s.mu. Call finish after unlocking,
// since it calls back.
func (s *sessionStore) forget(session *httpSession) {
	delete(s.byID, session.id)
	if s.perCaller[session.caller]--; s.perCaller[session.caller] == 0 {
		delete(s.perCaller, session.caller)
	}
	if session.idleTimer != nil {
		session.idleTimer.Stop()
	}
}

// finish ends the streams and requests of a session that was forgotten.
func (session *httpSession) finish() {
	session.unsubscribe()
	session.resources.end()
	session.streams.end()
	session.calls.cancelAll()
	session.ended(nil)
}

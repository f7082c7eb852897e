package server

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// errTooManySessions refuses initialize, and the first request of a session that
// another process began, when no further session may begin.
var errTooManySessions = errors.New("too many sessions; try again later")

// maxRemoved is how many ids of sessions that clients have ended are known at least.
const maxRemoved = 10_000

// sessionStore holds the sessions of HTTP clients of revisions before 2026-07-28 that
// this process knows. Their ids carry what it takes to take up one that it does not
// know, or no longer: see [sessionSeal]. It is safe for concurrent use.
type sessionStore struct {
	seal    *sessionSeal
	idle    time.Duration
	limit   int
	onBegin func(context.Context) func(error)

	subscribers *subscribers // every session subscribes

	mu        sync.Mutex
	closed    bool
	byID      map[string]*httpSession
	perCaller map[string]int // number of sessions
	// removed are the ids that clients have ended, the latest ones in the first map.
	removed [2]map[string]bool
}

// httpSession is one session over HTTP.
type httpSession struct {
	*session
	caller string // owner
	calls  inflight

	streams sessionStreams // open event streams

	// Guarded by sessionStore.mu.
	ended       func(error) // nil until begin returns, then fixed
	unsubscribe func()      // the same
	requests    int         // being handled
	idleTimer   *time.Timer
	// unaware means that the client does not know yet that this process took up
	// the session: it may have missed changes, and its subscriptions are gone.
	unaware bool
}

// create returns a new session of the caller, in use by one request. It is as before
// initialize, which will agree on state.
func (s *sessionStore) create(ctx context.Context, caller string, state sessionState) (*httpSession, error) {
	s.mu.Lock()
	session, err := s.add(s.seal.seal(state, caller), caller)
	s.mu.Unlock()
	if err == nil {
		s.begin(ctx, session)
	}
	return session, err
}

// use returns the caller's session with this id, and keeps it in use until release. It
// takes up a session that this process does not know. The error is errUnknownSession
// or errTooManySessions.
func (s *sessionStore) use(ctx context.Context, id, caller string) (*httpSession, error) {
	s.mu.Lock()
	if found := s.byID[id]; found != nil {
		defer s.mu.Unlock()
		if found.caller != caller {
			return nil, errUnknownSession
		}
		found.requests++
		if found.idleTimer != nil {
			found.idleTimer.Stop()
		}
		return found, nil
	}
	session, err := s.takeUp(id, caller)
	s.mu.Unlock()
	if err == nil {
		s.begin(ctx, session)
	}
	return session, err
}

// takeUp adds a session that is in its id alone. The caller holds s.mu.
func (s *sessionStore) takeUp(id, caller string) (*httpSession, error) {
	state, err := s.openRemaining(id, caller)
	if err != nil {
		return nil, err
	}
	session, err := s.add(strings.Clone(id), caller)
	if err != nil {
		return nil, err
	}
	session.session.begin(state)
	session.unaware = true
	return session, nil
}

// openRemaining returns the state in an id that the client has not ended. The caller
// holds s.mu.
func (s *sessionStore) openRemaining(id, caller string) (sessionState, error) {
	if s.removed[0][id] || s.removed[1][id] {
		return sessionState{}, errUnknownSession
	}
	return s.seal.open(id, caller)
}

// add stores a session, unless there are too many. The caller holds s.mu.
func (s *sessionStore) add(id, caller string) (*httpSession, error) {
	// Each authenticated caller may hold at most half of the sessions.
	if s.closed || len(s.byID) >= s.limit || caller != "" && s.perCaller[caller] >= (s.limit+1)/2 {
		return nil, errTooManySessions
	}
	if s.byID == nil {
		s.byID, s.perCaller = map[string]*httpSession{}, map[string]int{}
	}
	session := &httpSession{session: newSession(id), caller: caller, requests: 1}
	s.byID[id] = session
	s.perCaller[caller]++
	return session, nil
}

// begin calls onBegin for a session that was added, without holding the lock.
func (s *sessionStore) begin(ctx context.Context, session *httpSession) {
	ended := func(error) {}
	if s.onBegin != nil {
		ended = s.onBegin(context.WithoutCancel(ctx))
	}
	unsubscribe := s.subscribers.add(func(string) bool { return true }, session.streams.notify)
	s.mu.Lock()
	session.ended, session.unsubscribe = ended, unsubscribe
	gone := s.byID[session.id] != session
	s.mu.Unlock()
	if gone {
		session.finish() // the client or the server ended it meanwhile
	}
}

// tell reports whether the client must be told that its session was taken up. It does so
// once.
func (s *sessionStore) tell(session *httpSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	unaware := session.unaware
	session.unaware = false
	return unaware
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
		idle := session.requests == 0 && s.byID[session.id] == session && s.forget(session)
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
	known := found != nil && found.caller == caller
	if _, err := s.openRemaining(id, caller); err != nil && !known {
		s.mu.Unlock()
		return false
	}
	if len(s.removed[0]) >= maxRemoved || s.removed[0] == nil {
		s.removed = [2]map[string]bool{{}, s.removed[0]}
	}
	s.removed[0][strings.Clone(id)] = true
	began := false
	if found != nil {
		began = s.forget(found)
	}
	s.mu.Unlock()
	if began {
		found.finish()
	}
	return true
}

// close ends all sessions in this process.
func (s *sessionStore) close() {
	s.mu.Lock()
	s.closed = true
	var all []*httpSession
	for _, session := range s.byID {
		if s.forget(session) {
			all = append(all, session)
		}
	}
	s.mu.Unlock()
	for _, session := range all {
		session.finish()
	}
}

// forget removes a session; the caller holds s.mu. If it returns true, call finish
// after unlocking, since that calls back; otherwise begin does.
func (s *sessionStore) forget(session *httpSession) bool {
	delete(s.byID, session.id)
	if s.perCaller[session.caller]--; s.perCaller[session.caller] == 0 {
		delete(s.perCaller, session.caller)
	}
	if session.idleTimer != nil {
		session.idleTimer.Stop()
	}
	return session.ended != nil
}

// finish ends the streams and requests of a session that was forgotten.
func (session *httpSession) finish() {
	session.unsubscribe()
	session.resources.end()
	session.streams.end()
	session.calls.cancelAll()
	session.ended(nil)
}

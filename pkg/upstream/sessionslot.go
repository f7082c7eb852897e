package upstream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// How long to wait before a server that keeps dying is started again: not at
// all the first time, then firstStartDelay, and twice as long each time until it has
// answered a caller.
const (
	firstStartDelay = 250 * time.Millisecond
	maxStartDelay   = 10 * time.Second
	// stableAfter is how long a session must have lasted to count as a good one.
	stableAfter = 30 * time.Second
)

// sessionSlot holds the one session that all calls of one identity share with a
// server, and opens it again when it is over.
type sessionSlot struct {
	server      *mcpServer
	id          credential.Identity
	credentials atomic.Pointer[credential.Call] // the latest of this identity
	hints       toolHints
	watched     atomic.Int32 // subscriptions on its sessions, those of one identity together

	mu         sync.Mutex
	closed     bool
	current    *session
	failure    *Error    // of the last attempt to open a session; nil if it succeeded
	forgotten  bool      // the server has forgotten the last session
	reopened   bool      // there was a session before
	spare      wire.Link // of a session that the server forgot, to open the next one on; may be nil
	attempt    *openAttempt
	openedAt   time.Time // of the current session
	shortLived int       // in a row, of sessions that did not last
	inUse      int       // calls that hold it, guarded by server.mu
	usedAt     time.Time // when the last of them let go, guarded by server.mu
}

// openAttempt is one attempt to open a session, which any number of calls await.
type openAttempt struct {
	done    chan struct{}
	session *session
	err     *Error
}

// session returns the session and opens it if there is none.
func (slot *sessionSlot) session(ctx context.Context, c *Call) (*session, error) {
	slot.mu.Lock()
	if slot.closed {
		slot.mu.Unlock()
		return nil, slot.server.closedError(opStart, c.Tool())
	}
	if slot.current != nil && !isClosed(slot.current.link.Done()) {
		defer slot.mu.Unlock()
		return slot.current, nil
	}
	if slot.attempt == nil {
		if slot.current != nil {
			slot.discard(time.Since(slot.openedAt), slot.current.used.Load())
		}
		slot.attempt = &openAttempt{done: make(chan struct{})}
		go slot.open(slot.attempt, slot.startDelay())
	}
	o := slot.attempt
	slot.mu.Unlock()
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, slot.server.stoppedError(ctx, opStart, c.Tool(), "while the connection was being opened")
	}
	if o.err != nil {
		err := *o.err // each call names its own tool
		err.Tool = c.Tool()
		return nil, &err
	}
	return o.session, nil
}

// discard drops the session, which lasted for this long. used reports whether it has
// answered a caller.
func (slot *sessionSlot) discard(age time.Duration, used bool) {
	slot.current = nil
	slot.shortLived++
	switch {
	case age >= stableAfter:
		slot.shortLived = 1
	case used:
		slot.shortLived = min(slot.shortLived, 2)
	}
}

// startDelay is how long the next start has to wait. Only a process is spared: one
// caller's bad credential must not make its calls wait, and retry has delays of
// its own.
func (slot *sessionSlot) startDelay() time.Duration {
	if slot.shortLived < 2 || slot.server.entry.URL != "" {
		return 0
	}
	return min(firstStartDelay<<min(slot.shortLived-2, 16), maxStartDelay)
}

// open opens a session for all calls that wait for it, whatever becomes of
// them.
func (slot *sessionSlot) open(o *openAttempt, delay time.Duration) {
	from := time.Now()
	o.session, o.err = slot.connect(delay)
	if o.err == nil {
		slot.server.sessionOpened(from)
	}
	slot.mu.Lock()
	slot.attempt = nil
	slot.failure = o.err
	switch {
	case o.err == nil:
		slot.current, slot.openedAt = o.session, time.Now()
		if slot.reopened {
			slot.server.listsChanged(ListChange{Prompts: o.session.peer.has(hasPrompts), Resources: o.session.peer.has(hasResources)})
		}
		slot.reopened = true
		if slot.server.needsHints() { // it may be another version of the server
			slot.hints.read(o.session, slot.credentials.Load())
		}
	case o.err.Op == "handshake": // it did start
		slot.shortLived++
	}
	closed := slot.closed
	slot.mu.Unlock()
	if closed && o.session != nil {
		o.session.close(slot.server.life)
		o.session, o.err = nil, slot.server.closedError("start", "")
	}
	close(o.done)
}

func (slot *sessionSlot) connect(delay time.Duration) (*session, *Error) {
	s := slot.server
	if delay > 0 {
		s.log.Warn("the server exits repeatedly; delaying the restart", "delay", delay)
		select {
		case <-time.After(delay):
		case <-s.life.Done():
			return nil, s.closedError("start", "")
		}
	}
	call := slot.credentials.Load()
	ctx, cancel := context.WithTimeout(withCall(s.life, call), s.entry.ConnectTimeout)
	defer cancel()
	started := time.Now()
	key := SessionKey{Server: s.entry.Name, Caller: string(slot.id)}
	session, resumed, failure := slot.openSession(ctx, call, key)
	if failure != nil {
		return nil, failure
	}
	if resumed {
		session.tellOpened()
		session.listen(ctx)
		s.log.Debug("session resumed")
		return session, nil
	}
	s.save(ctx, key, session)
	session.tellOpened()
	session.listen(ctx)
	s.log.Debug("connected", "after", time.Since(started), "revision", session.peer.revision)
	return session, nil
}

// link returns what to open a session on, and the saved session to go on with
// if there is one.
func (slot *sessionSlot) link(ctx context.Context, key SessionKey, known era) (wire.Link, *SavedSession, error) {
	slot.mu.Lock()
	spare := slot.spare
	slot.spare = nil
	forgot := slot.forgotten
	slot.forgotten = false
	slot.mu.Unlock()
	if spare != nil && !isClosed(spare.Done()) {
		return spare, nil, nil
	}
	l, err := slot.server.openLink(ctx, known)
	if err != nil {
		return nil, nil, err
	}
	if over, ok := l.(*wire.HTTP); ok && !forgot {
		if saved := slot.server.saved(ctx, key); saved != nil {
			over.Resume(saved.ID)
			return l, saved, nil
		}
	}
	return l, nil, nil
}

// forget drops a session that the server has forgotten, unless that was done
// already. The next call opens another one, without delay.
func (slot *sessionSlot) forget(session *session) {
	slot.mu.Lock()
	if slot.current != session {
		slot.mu.Unlock()
		return
	}
	slot.current, slot.forgotten = nil, true
	p, reusable := session.link.(*wire.Stream)
	if reusable {
		slot.spare = p
	}
	slot.mu.Unlock()
	slot.server.log.Debug("the server has forgotten the session; another one is opened")
	if reusable {
		session.cancel(errForgotten)
		return
	}
	if over, ok := session.link.(*wire.HTTP); ok {
		over.Forget() // there is nothing to delete
	}
	session.retire()
}

// close ends the session for good. The end of ctx cuts waiting short.
func (slot *sessionSlot) close(ctx context.Context) {
	slot.mu.Lock()
	slot.closed = true
	session, o, spare := slot.current, slot.attempt, slot.spare
	slot.mu.Unlock()
	if o != nil {
		<-o.done
	}
	if session != nil {
		session.close(ctx)
	}
	if spare != nil {
		spare.Close(ctx)
	}
}

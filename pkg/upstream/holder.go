package upstream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// How long to wait before a server that keeps dying is started again: not at
// all the first time, then firstDelay, and twice as long each time.
const (
	firstDelay = 250 * time.Millisecond
	maxDelay   = 10 * time.Second
	// wellAfter is how long a session must have lasted to count as a good one.
	wellAfter = 30 * time.Second
)

// holder holds the one session that all calls of one identity share with a
// server, and opens it again when it is over.
type holder struct {
	server *server
	id     identity
	grant  atomic.Pointer[grant] // the latest of this identity
	hints  hints

	mu      sync.Mutex
	closed  bool
	current *session
	failure *Error // of the last attempt to open a session; nil where it succeeded
	forgot  bool   // the server has forgotten the last session
	spare   link   // of a session that the server forgot, to open the next one on; may be nil
	opening *opening
	born    time.Time // of the current session
	deaths  int       // in a row, of sessions that did not last
	inUse   int       // calls that hold it, guarded by server.mu
	used    time.Time // when the last of them let go, guarded by server.mu
}

// opening is one attempt to open a session, which any number of calls await.
type opening struct {
	done    chan struct{}
	session *session
	err     *Error
}

// session returns the session and opens it where there is none.
func (h *holder) session(ctx context.Context, tool string) (*session, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, h.server.shut("start", tool)
	}
	if h.current != nil && !isClosed(h.current.link.over()) {
		defer h.mu.Unlock()
		return h.current, nil
	}
	if h.opening == nil {
		if h.current != nil {
			h.buried(time.Since(h.born))
		}
		h.opening = &opening{done: make(chan struct{})}
		go h.open(h.opening, h.delay())
	}
	o := h.opening
	h.mu.Unlock()
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, h.server.stopped(ctx, "start", tool, "while the connection was being opened")
	}
	if o.err != nil {
		err := *o.err // each call names its own tool
		err.Tool = tool
		return nil, &err
	}
	return o.session, nil
}

// buried forgets the session, which lived for that long.
func (h *holder) buried(age time.Duration) {
	h.current = nil
	h.deaths++
	if age >= wellAfter {
		h.deaths = 1
	}
}

// delay is how long the next start has to wait. Only a process is spared: one
// caller's bad credential must not make its calls wait, and retry has delays of
// its own.
func (h *holder) delay() time.Duration {
	if h.deaths < 2 || h.server.entry.URL != "" {
		return 0
	}
	return min(firstDelay<<min(h.deaths-2, 16), maxDelay)
}

// open opens a session for all calls that wait for it, whatever becomes of
// them.
func (h *holder) open(o *opening, delay time.Duration) {
	o.session, o.err = h.connect(delay)
	h.mu.Lock()
	h.opening = nil
	h.failure = o.err
	switch {
	case o.err == nil:
		h.current, h.born = o.session, time.Now()
		h.server.opened.Add(1)
		if h.server.readsHints() { // it may be another version of the server
			h.hints.read(o.session, h.grant.Load())
		}
	case o.err.Op == "handshake": // it did start
		h.deaths++
	}
	closed := h.closed
	h.mu.Unlock()
	if closed && o.session != nil {
		o.session.end(h.server.life)
		o.session, o.err = nil, h.server.shut("start", "")
	}
	close(o.done)
}

func (h *holder) connect(delay time.Duration) (*session, *Error) {
	s := h.server
	if delay > 0 {
		s.log.Warn("the server keeps ending; waiting before it is started again", "delay", delay)
		select {
		case <-time.After(delay):
		case <-s.life.Done():
			return nil, s.shut("start", "")
		}
	}
	g := h.grant.Load()
	ctx, cancel := context.WithTimeout(withGrant(s.life, g), s.entry.ConnectTimeout)
	defer cancel()
	started := time.Now()
	key := SessionKey{Server: s.entry.Name, Caller: string(h.id)}
	session, resumed, failure := h.openSession(ctx, g, key)
	if failure != nil {
		return nil, failure
	}
	if resumed {
		session.tellOpened()
		session.hear(ctx)
		s.log.Debug("session resumed")
		return session, nil
	}
	s.save(ctx, key, session)
	session.tellOpened()
	session.hear(ctx)
	s.log.Debug("connected", "after", time.Since(started), "revision", session.peer.revision)
	return session, nil
}

// link returns what to open a session on, and the saved session to go on with
// where there is one.
func (h *holder) link(ctx context.Context, key SessionKey, known era) (link, *SavedSession, error) {
	h.mu.Lock()
	spare := h.spare
	h.spare = nil
	forgot := h.forgot
	h.forgot = false
	h.mu.Unlock()
	if spare != nil && !isClosed(spare.over()) {
		return spare, nil, nil
	}
	l, err := h.server.openLink(ctx, known)
	if err != nil {
		return nil, nil, err
	}
	if over, ok := l.(*httpLink); ok && !forgot {
		if saved := h.server.saved(ctx, key); saved != nil {
			over.id.Store(&saved.ID)
			return l, saved, nil
		}
	}
	return l, nil, nil
}

// lost drops a session that the server has forgotten, unless that was done
// already. The next call opens another one, without delay.
func (h *holder) lost(session *session) {
	h.mu.Lock()
	if h.current != session {
		h.mu.Unlock()
		return
	}
	h.current, h.forgot = nil, true
	p, reusable := session.link.(*pipe)
	if reusable {
		h.spare = p
	}
	h.mu.Unlock()
	h.server.log.Debug("the server has forgotten the session; another one is opened")
	if reusable {
		session.kill(errForgotten)
		return
	}
	if over, ok := session.link.(*httpLink); ok {
		over.forgotten.Store(true) // there is nothing to delete
	}
	session.retire()
}

// close ends the session for good. The end of ctx cuts waiting short.
func (h *holder) close(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	session, o, spare := h.current, h.opening, h.spare
	h.mu.Unlock()
	if o != nil {
		<-o.done
	}
	if session != nil {
		session.end(ctx)
	}
	if spare != nil {
		spare.end(ctx)
	}
}

// canceled is a context for closing something at once.
var canceled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

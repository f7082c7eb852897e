package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// How long to wait before subscriptions are made again: not at all the first time, then
// firstSubscribeDelay, and twice as long each time. An attempt maxSubscribeDelay after
// the last one is a first one again.
const (
	firstSubscribeDelay = time.Second
	maxSubscribeDelay   = 30 * time.Second
)

// keep makes the subscriptions, again and again as sessions end, until there are none or
// the server is closed.
func (u *identitySubscriptions) keep() {
	h := &heldSubscriptions{of: u}
	var (
		delay time.Duration // before the next attempt
		last  time.Time     // when the latest one ended
	)
	for u.server.life.Err() == nil {
		h.dropEnded()
		wanted, pending := u.count()
		switch {
		case wanted == 0:
			h.end()
			if u.finish() {
				return
			}
			continue
		case pending == 0:
			h.leaveUnwanted()
			select {
			case <-u.wake:
			case <-h.sessionOver():
			case <-u.server.life.Done():
			}
			continue
		}
		if time.Since(last) > maxSubscribeDelay {
			delay = 0
		}
		if !u.pause(delay, h) {
			continue
		}
		urgent, err := u.attempt(h)
		if last = time.Now(); err != nil || !urgent {
			delay = min(max(firstSubscribeDelay, 2*delay), maxSubscribeDelay)
		}
	}
	h.drop()
	u.fail(u.server.closedError("subscribe", ""))
	u.finish()
}

// count returns how many resources are subscribed to, and how many of the subscriptions
// have to be made.
func (u *identitySubscriptions) count() (wanted, pending int) {
	all := &u.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, sub := range u.byURI {
		if sub.isPending() {
			pending++
		}
	}
	return len(u.byURI), pending
}

// isPending reports whether no session has accepted the subscription, and the latest one
// that refused it is over. The subscriptions are locked.
func (sub *subscription) isPending() bool {
	return sub.on == nil && (sub.refused == nil || sub.refused.life.Err() != nil)
}

// finish ends the subscriptions of the identity if there are none. The server being
// closed, it ends them anyway.
func (u *identitySubscriptions) finish() bool {
	all := &u.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(u.byURI) > 0 && u.server.life.Err() == nil {
		return false
	}
	delete(all.byIdentity, u.id)
	return true
}

// fail ends the attempts under way with err.
func (u *identitySubscriptions) fail(err error) {
	all := &u.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, sub := range u.byURI {
		if sub.isPending() {
			sub.settle(err)
		}
	}
}

// pause waits before an attempt, unless someone waits for that. It reports false if
// there is something else to see to.
func (u *identitySubscriptions) pause(delay time.Duration, h *heldSubscriptions) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	all := &u.server.subscriptions
	for {
		all.mu.Lock()
		urgent, wanted := u.urgent, len(u.byURI)
		all.mu.Unlock()
		if urgent || wanted == 0 {
			return urgent
		}
		select {
		case <-timer.C:
			return true
		case <-u.wake:
			h.dropEnded()
		case <-u.server.life.Done():
			return false
		}
	}
}

// attempt makes the subscriptions that have to be made.
func (u *identitySubscriptions) attempt(h *heldSubscriptions) (urgent bool, err error) {
	all := &u.server.subscriptions
	all.mu.Lock()
	info := u.info
	urgent, u.urgent = u.urgent, false
	all.mu.Unlock()
	c := &Call{Info: info, Server: u.server.entry.Name, Method: string(mcp.MethodResourcesSubscribe)}
	_, err = u.server.ask(u.server.life, c, u.server.all(func(ctx context.Context, c *Call) (Reply, error) {
		return u.server.attempt(ctx, c, func(ctx context.Context, t *try) error {
			if !t.peer.has(hasSubscriptions) {
				return u.server.lacksError("subscribe", hasSubscriptions)
			}
			h.adopt(t.session)
			uris := u.pendingOn(t.session)
			if t.peer.modern() {
				return h.listen(ctx, uris)
			}
			return h.subscribe(ctx, uris, t)
		})
	}))
	if err != nil {
		u.fail(err)
	}
	return urgent, err
}

// pendingOn returns the resources whose subscriptions have to be made on the session.
func (u *identitySubscriptions) pendingOn(s *session) (uris []string) {
	all := &u.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	for uri, sub := range u.byURI {
		if sub.on != s && sub.refused != s {
			uris = append(uris, uri)
		}
	}
	return uris
}

// settle notes what the session has answered to a subscription: nil if it has accepted
// it.
func (u *identitySubscriptions) settle(s *session, uri string, err error) {
	all := &u.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	sub := u.byURI[uri]
	switch {
	case sub == nil: // nobody wants it any more
	case err == nil:
		sub.accept(s)
	default:
		sub.leave()
		sub.refused = s
		sub.settle(err)
	}
}

// heldSubscriptions are what the goroutine of an identity has subscribed to on its
// session.
type heldSubscriptions struct {
	of      *identitySubscriptions
	session *session        // nil if there is none
	uris    map[string]bool // subscribed to with resources/subscribe
	listens
}

// sessionOver returns a channel that is closed with the session. It is nil if there is
// none.
func (h *heldSubscriptions) sessionOver() <-chan struct{} {
	if h.session == nil {
		return nil
	}
	return h.session.life.Done()
}

// adopt goes on with another session, if it is another one.
func (h *heldSubscriptions) adopt(s *session) {
	if h.session == s {
		return
	}
	h.end()
	h.session, h.uris = s, map[string]bool{}
	s.slot.watched.Add(1)
}

// dropEnded lets go of a session, and of streams of notifications, that are over.
func (h *heldSubscriptions) dropEnded() {
	if h.session == nil {
		return
	}
	if h.session.life.Err() != nil {
		h.drop()
		return
	}
	h.dropEndedListens()
}

// drop lets go of the session. What was subscribed to on it is lost.
func (h *heldSubscriptions) drop() {
	if h.session == nil {
		return
	}
	h.endListens()
	h.lose(func(string) bool { return true })
	h.session.slot.watched.Add(-1)
	h.session, h.uris = nil, nil
}

// lose notes that the session does not tell any more of the resources whose URIs are.
func (h *heldSubscriptions) lose(are func(uri string) bool) {
	all := &h.of.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	for uri, sub := range h.of.byURI {
		if sub.on == h.session && are(uri) {
			sub.leave()
		}
	}
}

// end ends what is subscribed to, and lets go of the session.
func (h *heldSubscriptions) end() {
	if h.session != nil && h.session.life.Err() == nil {
		h.unsubscribe(func(string) bool { return true })
	}
	h.drop()
}

// leaveUnwanted ends the subscriptions that nobody wants any more.
func (h *heldSubscriptions) leaveUnwanted() {
	wanted := func(uri string) bool {
		all := &h.of.server.subscriptions
		all.mu.Lock()
		defer all.mu.Unlock()
		return h.of.byURI[uri] != nil
	}
	h.unsubscribe(func(uri string) bool { return !wanted(uri) })
	h.endUnwantedListens(wanted)
}

// errNoStream is the cause of an error of a subscription to a server that could not tell
// of changes.
var errNoStream = &kindError{KindRefused, "it has no stream of notifications (GET), on which it could tell of changes"}

// subscribe subscribes to resources as the revisions up to 2025-11-25 have it.
func (h *heldSubscriptions) subscribe(ctx context.Context, uris []string, t *try) error {
	s := h.session
	s.awaitListening(ctx)
	if over, ok := s.link.(*wire.HTTP); ok && isClosed(s.listening) && !over.Heard() {
		return s.server.newError("subscribe", "", errNoStream.Error(), "", errNoStream)
	}
	for _, uri := range uris {
		var err error
		if !h.uris[uri] {
			if err := t.admit(ctx); err != nil {
				return err
			}
			m := &wire.Message{Method: string(mcp.MethodResourcesSubscribe), Params: value.AppendString([]byte(`"uri":`), uri)}
			_, err = s.request(ctx, m, s.server.entry.Timeout)
			t.ended()
			t.count(err)
		}
		if err = s.refusal(ctx, err); err != nil && !errors.As(err, new(*refusedSubscriptionError)) {
			return err
		}
		if err == nil {
			h.uris[uri] = true
		}
		h.of.settle(s, uri, err)
	}
	return nil
}

// unsubscribe ends those subscriptions of subscribe's whose URIs are. A server that hangs
// is not told all of them: it may tell of changes that nobody wants to hear of.
func (h *heldSubscriptions) unsubscribe(are func(uri string) bool) {
	s := h.session
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, unsubscribeTime)
	defer cancel()
	for uri := range h.uris {
		if !are(uri) {
			continue
		}
		delete(h.uris, uri)
		if ctx.Err() != nil {
			continue
		}
		m := &wire.Message{Method: string(mcp.MethodResourcesUnsubscribe), Params: value.AppendString([]byte(`"uri":`), uri)}
		if _, err := s.request(ctx, m, 0); err != nil {
			s.server.log.Debug("cannot end a subscription", "error", s.server.redact.Err(err))
		}
	}
}

// unsubscribeTime bounds the wait for the end of subscriptions, which nobody needs.
const unsubscribeTime = 5 * time.Second

// refusedSubscriptionError is the error of a subscription that the server refused, for
// reasons that have to do with the resource.
type refusedSubscriptionError struct{ why *Error }

func (e *refusedSubscriptionError) Error() string { return e.why.Error() }

// Unwrap returns the error that it is.
func (e *refusedSubscriptionError) Unwrap() error { return e.why }

// refusal returns err, as a *refusedSubscriptionError if it says that the server refused
// the resource.
func (s *session) refusal(ctx context.Context, err error) error {
	var rpc *RPCError
	if !errors.As(err, &rpc) || s.forgotten(err) || isRefusal(err) {
		return err
	}
	return &refusedSubscriptionError{s.server.requestError(ctx, "subscribe", "", s, 0, err)}
}

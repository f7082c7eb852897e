package upstream

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
)

// Bounds of the subscriptions to the resources of one server.
const (
	maxWatchers       = 10_000 // in all
	maxCallerWatchers = 1_000  // of one authenticated caller
	maxURI            = 8 << 10
)

// watcher is one subscriber of ours.
type watcher struct {
	caller  string
	updated func()
}

// subscriptions are all of a server.
type subscriptions struct {
	mu         sync.Mutex
	byIdentity map[credential.Identity]*identitySubscriptions
	watchers   int
	byCaller   map[string]int // watchers of authenticated callers
	running    sync.WaitGroup // goroutines of identitySubscriptions
}

// identitySubscriptions are those of one identity. One goroutine keeps them, for as
// long as there are any.
type identitySubscriptions struct {
	server *mcpServer
	id     credential.Identity
	wake   chan struct{} // has room for one

	// Guarded by server.subscriptions.mu:

	info   *callinfo.Info // of the latest subscriber: what it carries is sent
	byURI  map[string]*subscription
	urgent bool // someone waits for the next attempt
}

// subscription is that of one identity to one resource.
type subscription struct {
	of  *identitySubscriptions
	uri string
	coalesced

	// Guarded by server.subscriptions.mu:

	watchers map[*watcher]bool
	lost     bool     // it was accepted, and its session is over
	on       *session // that has accepted it; nil if none has
	refused  *session // that has refused it; nil if none has
	next     *attempt // the one that will be made, or is under way
}

// attempt is an attempt to subscribe.
type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

// add adds a watcher to the subscription to the resource, and returns the attempt that
// says whether that is accepted.
func (all *subscriptions) add(s *mcpServer, info *callinfo.Info, id credential.Identity, uri string, w *watcher) (*subscription, *attempt, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case s.life.Err() != nil:
		return nil, nil, s.closedError("subscribe", "")
	case len(uri) > maxURI:
		return nil, nil, s.newError("subscribe", "", fmt.Sprintf("the URI is longer than %d bytes", maxURI), "", KindRefused)
	case all.watchers >= maxWatchers:
		return nil, nil, s.newError("subscribe", "", fmt.Sprintf("there are already %d subscriptions to its resources", maxWatchers), "", KindRefused)
	case w.caller != "" && all.byCaller[w.caller] >= maxCallerWatchers:
		return nil, nil, s.newError("subscribe", "", fmt.Sprintf("the caller already has %d subscriptions to its resources", maxCallerWatchers), "", KindRefused)
	}
	of := all.byIdentity[id]
	if of == nil {
		of = &identitySubscriptions{server: s, id: id, wake: make(chan struct{}, 1), byURI: map[string]*subscription{}}
		if all.byIdentity == nil {
			all.byIdentity, all.byCaller = map[credential.Identity]*identitySubscriptions{}, map[string]int{}
		}
		all.byIdentity[id] = of
		all.running.Go(of.keep)
	}
	own := *info
	own.Listener, own.Sent, own.Trace, own.IdempotencyKey = nil, nil, nil, ""
	of.info = &own
	sub := of.byURI[uri]
	if sub == nil {
		sub = &subscription{of: of, uri: strings.Clone(uri), watchers: map[*watcher]bool{}, next: newAttempt()}
		of.byURI[sub.uri] = sub
	}
	sub.watchers[w] = true
	all.watchers++
	if w.caller != "" {
		all.byCaller[w.caller]++
	}
	if sub.on != nil {
		accepted := newAttempt()
		close(accepted.done)
		return sub, accepted, nil
	}
	sub.refused, of.urgent = nil, true
	of.wakeUp()
	return sub, sub.next, nil
}

func newAttempt() *attempt { return &attempt{done: make(chan struct{})} }

// remove removes a watcher, and with the last one the subscription.
func (all *subscriptions) remove(sub *subscription, w *watcher) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(sub.watchers, w)
	all.watchers--
	if w.caller != "" {
		if all.byCaller[w.caller]--; all.byCaller[w.caller] == 0 {
			delete(all.byCaller, w.caller)
		}
	}
	if len(sub.watchers) == 0 && sub.of.byURI[sub.uri] == sub {
		delete(sub.of.byURI, sub.uri)
		sub.leave()
		sub.of.wakeUp()
	}
}

// accept notes that the session has accepted the subscription, with the subscriptions
// locked.
func (sub *subscription) accept(s *session) {
	sub.leave()
	sub.on, sub.refused = s, nil
	if s.accepted == nil {
		s.accepted = sessionSubscriptions{}
	}
	s.accepted[sub.uri] = append(s.accepted[sub.uri], sub)
	sub.settle(nil)
	if sub.lost {
		sub.lost = false
		sub.changed()
	}
}

// leave takes the subscription from its session, with the subscriptions locked.
func (sub *subscription) leave() {
	if sub.on == nil {
		return
	}
	here := sub.on.accepted
	if here[sub.uri] = slices.DeleteFunc(here[sub.uri], func(other *subscription) bool { return other == sub }); len(here[sub.uri]) == 0 {
		delete(here, sub.uri)
	}
	sub.on, sub.lost = nil, true
}

// settle ends the attempt under way, with the subscriptions locked.
func (sub *subscription) settle(err error) {
	sub.next.err = err
	close(sub.next.done)
	sub.next = newAttempt()
}

// wait waits until nothing keeps subscriptions any more. The server's life has ended.
func (all *subscriptions) wait() {
	all.mu.Lock()
	//lint:ignore SA2001 who holds the lock now may add one; the next one sees the end
	all.mu.Unlock()
	all.running.Wait()
}

func (u *identitySubscriptions) wakeUp() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// changed tells the watchers that the resource has changed, with the subscriptions
// locked or not.
func (sub *subscription) changed() {
	all := &sub.of.server.subscriptions
	sub.run(func() {
		all.mu.Lock()
		watchers := slices.Collect(maps.Keys(sub.watchers))
		all.mu.Unlock()
		for _, w := range watchers {
			all.mu.Lock()
			there := sub.watchers[w]
			all.mu.Unlock()
			if there {
				w.updated()
			}
		}
	})
}

// sessionSubscriptions are the subscriptions that a session has accepted, by their URIs:
// of more than one identity only if credentials change. Guarded by
// server.subscriptions.mu.
type sessionSubscriptions map[string][]*subscription

// resourceUpdated takes the notification that a resource has changed. It is for those
// subscribed to the resource itself, or to one that it is a part of (MCP,
// notifications/resources/updated).
func (s *session) resourceUpdated(uri string) {
	all := &s.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(s.accepted) == 0 || len(uri) > maxURI {
		return
	}
	for _, sub := range s.accepted[uri] {
		sub.changed()
	}
	for i := 1; i < len(uri); i++ {
		if uri[i-1] == '/' || strings.IndexByte("/?#", uri[i]) >= 0 {
			for _, sub := range s.accepted[uri[:i]] {
				sub.changed()
			}
		}
	}
}

// isSubscribed reports whether there are subscriptions on the session.
func (s *session) isSubscribed() bool {
	all := &s.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	return len(s.accepted) > 0
}

// missedUpdates tells all who are subscribed on the session that there may have been
// changes.
func (s *session) missedUpdates() {
	all := &s.server.subscriptions
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, subs := range s.accepted {
		for _, sub := range subs {
			sub.changed()
		}
	}
}

package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// watches are the resources that clients have subscribed to. All subscriptions of a
// caller to one URI share a watch, which looks at the resource for the oldest of them.
// It is safe for concurrent use.
type watches struct {
	server *Server
	polls  *callLimiter

	mu  sync.Mutex
	all map[watchKey]*watch
}

// watchKey tells watches apart: results can differ by caller.
type watchKey struct{ identity, uri string }

// Limits of polls that run at the same time, beside those of calls.
const (
	maxPolls          = 32
	maxPollsPerCaller = 8
)

func newWatches(s *Server) *watches {
	return &watches{
		server: s, all: map[watchKey]*watch{},
		polls: &callLimiter{log: s.log, limits: Limits{Calls: maxPolls, PerCaller: maxPollsPerCaller}, byCaller: map[string]*callerQueue{}},
	}
}

// watcher is a subscription to one resource. What it keeps of the request that
// subscribed is what polls need.
type watcher struct {
	request  Request         // what polls start from
	ctx      context.Context // done when the subscription ends
	admitted func() bool     // reports whether the caller still has access; may be nil
	updated  func()          // tells the client; must not block
	over     func()          // called when the subscription ends by itself; may be nil
	account  *memory.Account
}

// watcherBytes is roughly what a subscription takes beside its texts.
const watcherBytes = 4 << 10

// newWatcher returns the subscription that a request makes. It is an error if there is
// no memory for it.
func (s *watches) newWatcher(r *Request, updated func()) (*watcher, *rpcError) {
	w := &watcher{updated: updated, account: s.server.memory.Account(r.Caller), request: Request{
		Info: callinfo.Info{Caller: r.Caller, Header: r.Header}, URI: strings.Clone(r.URI), Transport: r.Transport, Session: r.Session,
		Protocol: r.Protocol, Address: r.Address, Port: r.Port, From: r.From, Scopes: r.Scopes, Client: r.Client,
		Method: readMethod, modern: r.modern,
	}}
	if err := w.account.Grow(watcherBytes + int64(len(r.URI)) + w.request.Info.Footprint()); err != nil {
		w.account.Close()
		return nil, busyError(err)
	}
	return w, nil
}

// identity returns what tells the subscriber apart from others. Without authentication
// each session or stream is a caller: what they send along can differ.
func (w *watcher) identity(stream string) string {
	r := &w.request
	switch {
	case r.Caller != "":
		return "caller " + r.Caller
	case r.Transport == Pipe:
		return "pipe"
	case r.Session != "":
		return "session " + r.Session
	}
	return "stream " + stream
}

// add adds a subscription until leave is called or its context is done. leave may be
// called more than once.
func (s *watches) add(w *watcher, stream string) (leave func()) {
	key := watchKey{w.identity(stream), w.request.URI}
	s.mu.Lock()
	of := s.all[key]
	if of == nil {
		of = &watch{watches: s, key: key}
		s.all[key] = of
		of.timer = time.AfterFunc(0, of.look)
	}
	of.watchers = append(of.watchers, w)
	s.mu.Unlock()
	stop := context.AfterFunc(w.ctx, func() { of.remove(w) })
	return func() {
		stop()
		of.remove(w)
	}
}

// rebind makes all watches look again, after Replace: the resource may be served by
// another server, be read more often, or be gone.
func (s *watches) rebind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.all {
		w.restart()
	}
}

// watch looks at one resource for one caller.
type watch struct {
	*watches
	key watchKey

	// Guarded by watches.mu.
	watchers []*watcher // oldest first; a watch without any is over
	timer    *time.Timer
	looking  bool   // look runs
	again    bool   // look must run again at once
	stop     func() // ends the subscription at an upstream server; nil if there is none
	digest   []byte // of the contents; nil until they are known
	failing  bool   // the last poll failed
	telling  bool   // tell is about to run
}

// restart ends the subscription upstream, if there is one, and looks again at once.
// The caller holds the lock.
func (w *watch) restart() {
	if w.stop != nil {
		go w.stop() // it may wait for the server
		w.stop = nil
	}
	if w.looking {
		w.again = true
		return
	}
	w.timer.Reset(0)
}

// remove removes a subscription. After the last one the watch ends.
func (w *watch) remove(one *watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.Index(w.watchers, one)
	if at < 0 {
		return
	}
	one.account.Close()
	w.watchers = slices.Delete(w.watchers, at, at+1)
	switch {
	case len(w.watchers) == 0:
		w.timer.Stop()
		delete(w.all, w.key)
		if w.stop != nil {
			go w.stop()
			w.stop = nil
		}
	case at == 0 && w.stop != nil: // it was made for the one that left
		w.restart()
	}
}

// oldest returns the subscription that the watch looks for; nil if the watch is over.
func (w *watch) oldest() *watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.watchers) == 0 {
		return nil
	}
	return w.watchers[0]
}

// tell tells all subscribers that the resource has changed.
func (w *watch) tell() {
	w.mu.Lock()
	all := slices.Clone(w.watchers)
	w.mu.Unlock()
	for _, one := range all {
		one.updated()
	}
}

// updateInterval is the least time between two notifications about a resource whose
// upstream server sends more of them.
const updateInterval = 50 * time.Millisecond

// tellSoon calls tell, once for all calls within updateInterval.
func (w *watch) tellSoon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.telling {
		return
	}
	w.telling = true
	time.AfterFunc(updateInterval, func() {
		w.mu.Lock()
		w.telling = false
		w.mu.Unlock()
		w.tell()
	})
}

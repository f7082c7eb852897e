package upstream

import (
	"maps"
	"slices"
	"sync"
)

// ListChange says which lists of a server may be others now.
type ListChange struct {
	Server             string // the name of its entry
	Prompts, Resources bool   // templates are among the resources
}

// WatchLists calls changed when a server of the pool says that its list of prompts or
// resources has changed, when a session with it is opened again, because it may be another
// version, and when the stream on which it announces changes is opened again, because
// what it announced in between is lost. Only servers with an open session say so. It
// ends when stop is called, and with the servers.
//
// Changed is called on a goroutine of its own. Changes of a server that come while it
// runs are one call.
func (p *Pool) WatchLists(changed func(ListChange)) (stop func()) {
	w := &listWatcher{changed}
	for _, name := range p.names {
		p.servers[name].listWatchers.add(w)
	}
	return sync.OnceFunc(func() {
		for _, name := range p.names {
			p.servers[name].listWatchers.remove(w)
		}
	})
}

type listWatcher struct{ changed func(ListChange) }

// listWatchers are those who want to hear of changes of a server's lists.
type listWatchers struct {
	mu   sync.Mutex
	all  map[*listWatcher]bool
	next ListChange // that was not told yet
	coalesced
}

func (l *listWatchers) add(w *listWatcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*listWatcher]bool{}
	}
	l.all[w] = true
}

func (l *listWatchers) remove(w *listWatcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, w)
}

// listsChanged tells that lists of the server may be others now. What it refused to tell
// of may be there now.
func (s *server) listsChanged(c ListChange) {
	if c.Resources {
		s.subscriptions.reconsider()
	}
	l := &s.listWatchers
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 || !c.Prompts && !c.Resources {
		return
	}
	l.next = ListChange{s.entry.Name, l.next.Prompts || c.Prompts, l.next.Resources || c.Resources}
	l.run(func() {
		l.mu.Lock()
		change, all := l.next, slices.Collect(maps.Keys(l.all))
		l.next = ListChange{}
		l.mu.Unlock()
		for _, w := range all {
			w.changed(change)
		}
	})
}

// reconsider has the subscriptions made that were refused.
func (all *subscriptions) reconsider() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, of := range all.byIdentity {
		for _, sub := range of.byURI {
			sub.refused = nil
		}
		of.wakeUp()
	}
}

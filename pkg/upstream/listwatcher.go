package upstream

import (
	"sync"
)

// ListChange says which lists of a server may be others now.
type ListChange struct {
	Server             string // the name of its entry
	Prompts, Resources bool   // templates are among the resources
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

package runs

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// All returns the runs of all callers: those under way, then those that are over, the
// newest first.
func (s *Store) All() []*Run { return s.list(func(string) bool { return true }) }

// Find returns the run with this id, of any caller.
func (s *Store) Find(id string) (*Run, bool) { return s.find(id, func(string) bool { return true }) }

// Caller returns who caused the run; empty if callers are not told apart.
func (r *Run) Caller() string { return r.caller }

// Graph returns what is run.
func (r *Run) Graph() *graph.Graph {
	if r.graph == nil && r.live != nil {
		return r.live.call.Run.Graph()
	}
	return r.graph
}

// Live returns the run itself while it is under way, with its secrets, and what takes
// them out of texts; that is nil if there are none. It reports false if the Store knew
// the run to be over.
func (r *Run) Live() (run *executor.Run, redact func(string) string, ok bool) {
	if r.live == nil {
		return nil, nil, false
	}
	return r.live.call.Run, r.live.call.redactor(), true
}

// maxChanges is how many changes a Watch notes before they are taken.
const maxChanges = 1024

// Watch notes which runs of a Store begin and end. It is safe for concurrent use.
type Watch struct {
	store *Store
	ids   []string // guarded by the mutex of the store
	lost  bool
}

// Watch returns what notes, from now on, which runs begin and end.
func (s *Store) Watch() *Watch {
	w := &Watch{store: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, w)
	return w
}

// Take returns the ids of the runs that began or ended since the last Take, in their
// order; that of a run that did both is there twice. It reports true if there were too
// many to note them all.
func (w *Watch) Take() (ids []string, lost bool) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	ids, lost = w.ids, w.lost
	w.ids, w.lost = nil, false
	return ids, lost
}

// Close ends the Watch.
func (w *Watch) Close() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.store.watches = slices.DeleteFunc(w.store.watches, func(o *Watch) bool { return o == w })
}

// changed notes that a run began or ended; the mutex of the store is held.
func (s *Store) changed(id string) {
	for _, w := range s.watches {
		if len(w.ids) < maxChanges {
			w.ids = append(w.ids, id)
		} else {
			w.lost = true
		}
	}
}

package runs

import (
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Entry is what a Store knows a run by.
type Entry struct {
	// ID is what [NewID] returned for the run; empty: the Store makes one.
	ID  string
	Run *executor.Run
	// Caller is the owner of the run; see [Store.Get].
	Caller string
	Began  time.Time
	// Program is the file; nil: it is not known.
	Program interface{ Digest() string }
	// Secrets takes secrets out of what is shown and kept of the run; nil: there are none.
	Secrets Secrets
}

// Live is a run under way. It is safe for concurrent use.
type Live struct {
	store *Store
	call  Entry

	check string // of its Claim
	claim atomic.Pointer[claim]
}

// changed tells who drives the run, once it is ready again, that somebody has changed it.
func (l *Live) changed() {
	if k := l.claim.Load(); k != nil {
		k.changed()
	}
}

// liveBytes is roughly what is held of a run under way beside the run itself.
const liveBytes = 256

// Begin makes a run known to its caller, from now until [Live.End]. What is held of
// it meanwhile does not grow with it.
func (s *Store) Begin(c Entry) *Live {
	l := &Live{call: c}
	s.begin(l)
	return l
}

// begin makes a run known; see Begin.
func (s *Store) begin(l *Live) {
	if l.store = s; l.call.ID == "" {
		l.call.ID = NewID()
	}
	if s.limits.Count < 0 {
		return
	}
	_ = s.held.Grow(liveBytes) // so little that it may as well be known
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[l.call.ID] = l
	s.changed(l.call.ID)
}

// End keeps the run, which is over: err is why the call failed, which need not be
// the failure of a node. It must be called once. A run that alone exceeds the bounds
// of the Store is kept without its values.
func (l *Live) End(ended time.Time, err error) {
	s := l.store
	if s.limits.Count < 0 {
		return
	}
	r := s.pack(l.call, false, nil)
	r.Ended, r.check = ended, l.check
	r.fail(l.call, err)
	s.keep(l, r)
}

// Leave makes a run unknown that goes on somewhere else. It stands for End.
func (l *Live) Leave() {
	s := l.store
	if s.limits.Count < 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(l)
	s.changed(l.call.ID)
}

// forget takes the run from those under way; the mutex of the store is held.
func (s *Store) forget(l *Live) {
	if s.live[l.call.ID] == l {
		delete(s.live, l.call.ID)
	}
	s.held.Shrink(liveBytes)
}

// show returns the run as it is known without its values.
func (l *Live) show() *Run {
	c := l.call
	return &Run{
		ID: c.ID, Tool: c.Run.Graph().Name, Began: c.Began, Executions: c.Run.Len(), Running: true,
		caller: c.Caller, check: l.check, version: c.version(), live: l,
	}
}

// pack returns the run with its values as they are now. What that takes counts on
// held, which may be nil.
func (l *Live) pack(held *memory.Account) (*Run, error) {
	c, s := l.call, l.store
	size := int64(c.Run.Args().TextSize())
	for rec := range c.Run.Records(0) {
		if size += int64(rec.Arguments.TextSize()+rec.Output.TextSize()+rec.Reply.TextSize()) + stepBytes; size > s.limits.Bytes {
			break
		}
	}
	if err := held.Grow(2 * min(size, s.limits.Bytes)); err != nil { // while it is written there are two
		return nil, err
	}
	active := c.Run.Active(maxActive)
	r := s.pack(c, true, held)
	r.Running, r.live, r.active = true, l, active
	return r, nil
}

// maxActive is how many executions under way are shown.
const maxActive = 100

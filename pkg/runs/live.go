package runs

import (
	"sync"
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
	// Version returns the digest of the file; it may be nil.
	Version func() string
	// Redactor returns what takes secrets out of what is shown and kept of the
	// run, or nil if there are none. It is called again each time, since a call
	// meets more of them as it goes on. A nil Redactor leaves everything as it is.
	Redactor func() func(string) string
}

// Live is a run under way. It is safe for concurrent use.
type Live struct {
	store *Store
	call  Entry

	mu   sync.Mutex
	held func() // of who holds the run while nobody drives it; nil while somebody does
}

// Hold notes that nobody drives the run, which waits for answers. Changed is called in a
// goroutine of its own after somebody has answered a question of it or cancelled it. Nil
// ends that.
func (l *Live) Hold(changed func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = changed
}

// changed tells who holds the run.
func (l *Live) changed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		go l.held()
	}
}

// liveBytes is roughly what is held of a run under way beside the run itself.
const liveBytes = 256

// Begin makes a run known to its caller, from now until [Live.End]. What is held of
// it meanwhile does not grow with it.
func (s *Store) Begin(c Entry) *Live {
	l := &Live{store: s, call: c}
	if c.ID == "" {
		l.call.ID = NewID()
	}
	if s.limits.Count < 0 {
		return l
	}
	_ = s.held.Grow(liveBytes) // so little that it may as well be known
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[l.call.ID] = l
	s.changed(l.call.ID)
	return l
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
	r.Ended = ended
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
		caller: c.Caller, version: c.version(), live: l,
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

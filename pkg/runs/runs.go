// Package runs knows the runs under way and keeps those of the recent past in
// memory: what they were asked, the way they took and what each node gave, so that
// someone can look at a run while it goes on and after it is over, or travel
// through it.
//
// A run under way is packed when somebody reads it, and one that is over as it
// ends: the JSON text of its values, without their long strings, which are kept as
// they are, each once. That makes its size known to the byte, and keeps nothing else
// alive, such as the whole reply of a server of which a node took one word.
package runs

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// The defaults of [Limits].
const (
	DefaultCount = 100
	DefaultBytes = 16 << 20
)

// None as Limits.Count keeps no runs, and knows none under way.
const None = -1

// Limits bound a [Store]. Zero fields are the defaults.
type Limits struct {
	Count int   // how many runs are kept once they are over, or None
	Bytes int64 // how many bytes these may take in all
	// Memory is what the runs draw on; nil has no bounds. A run that does not fit
	// is kept without its values. Where Bytes is 0 the runs take no more than a
	// 32nd of it.
	Memory *memory.Budget
}

const memoryShare = 32

// Store knows the runs of any number of tools and callers: those under way, and
// the last ones that are over. It is safe for concurrent use.
type Store struct {
	limits Limits
	held   *memory.Account

	packing sync.Mutex // long runs are packed one after the other
	mu      sync.Mutex
	live    map[string]*Live // by id
	watches []*Watch
	runs    []*Run // oldest first
	bytes   int64
}

// New returns an empty Store.
func New(l Limits) *Store {
	if l.Count == 0 {
		l.Count = DefaultCount
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
		if all := l.Memory.Limit(); all > 0 {
			l.Bytes = min(l.Bytes, all/memoryShare)
		}
	}
	return &Store{limits: l, held: l.Memory.Account(""), live: map[string]*Live{}}
}

// MinKey is how many bytes the key of a user or of a place has at least (MCPGRAPH_KEY),
// which seals ids of sessions and what is kept of runs.
const MinKey = 16

// NewID returns an id for a run.
func NewID() string { return strconv.FormatUint(rand.Uint64(), 36) }

// keep keeps a run that is over in the place of one under way. The oldest ones
// are dropped if there are too many or where they are too large together. It
// may wait for memory; others do not wait for it.
func (s *Store) keep(l *Live, r *Run) {
	s.reserve(r)
	if s.held.Grow(r.bytes) != nil {
		was := r.bytes
		r.truncate()
		_ = s.held.Grow(r.bytes) // so little that it may as well be kept
		s.mu.Lock()
		s.bytes -= was - r.bytes
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(l)
	s.drop(len(s.runs) - s.limits.Count + 1)
	s.runs = append(s.runs, r)
	s.changed(r.ID)
}

// reserve makes room for a run.
func (s *Store) reserve(r *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for left := s.bytes; n < len(s.runs) && left+r.bytes > s.limits.Bytes; n++ {
		left -= s.runs[n].bytes
	}
	s.drop(n)
	if s.bytes+r.bytes > s.limits.Bytes { // others that end now have the room
		r.truncate()
	}
	s.bytes += r.bytes
}

// drop drops the n oldest runs.
func (s *Store) drop(n int) {
	if n <= 0 {
		return
	}
	for i, r := range s.runs[:n] {
		s.bytes -= r.bytes
		s.held.Shrink(r.bytes)
		s.runs[i] = nil
	}
	s.runs = s.runs[n:] // those that are left move when the slice grows
}

// List returns the runs of a caller: those under way, then those that are over,
// the newest first.
func (s *Store) List(caller string) []*Run {
	return s.list(func(c string) bool { return c == caller })
}

func (s *Store) list(of func(caller string) bool) []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Run
	for _, l := range s.live {
		if of(l.call.Caller) {
			list = append(list, l.show())
		}
	}
	slices.SortFunc(list, func(a, b *Run) int { return b.Began.Compare(a.Began) })
	for _, r := range slices.Backward(s.runs) {
		if of(r.caller) {
			list = append(list, r)
		}
	}
	return list
}

// Get returns the run with this id, if it is one of the caller's. Runs of others
// are as if they were not there.
func (s *Store) Get(caller, id string) (*Run, bool) {
	return s.find(id, func(c string) bool { return c == caller })
}

func (s *Store) find(id string, of func(caller string) bool) (*Run, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.live[id]; l != nil && of(l.call.Caller) {
		return l.show(), true
	}
	for _, r := range s.runs {
		if r.ID == id && of(r.caller) {
			return r, true
		}
	}
	return nil, false
}

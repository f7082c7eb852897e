// Package runs keeps the runs of the recent past in memory: what they were
// asked, the way they took and what each node gave, so that someone can look at
// a run after it is over, or travel through it.
//
// A run is kept as the JSON text of its values. That makes its size known to
// the byte, and keeps nothing else alive, such as the whole reply of a server of
// which a node took one word.
package runs

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What a [Store] keeps where its Limits do not say.
const (
	DefaultCount = 100
	DefaultBytes = 16 << 20
)

// None as Limits.Count keeps no runs.
const None = -1

// Limits bound a [Store]. Zero fields are the defaults.
type Limits struct {
	Count int   // how many runs are kept, or None
	Bytes int64 // how many bytes they may take in all
}

// Store keeps the last runs of any number of tools and callers. It is safe for
// concurrent use.
type Store struct {
	limits Limits

	mu    sync.Mutex
	runs  []*Run // oldest first
	bytes int64
}

// New returns an empty Store.
func New(l Limits) *Store {
	if l.Count == 0 {
		l.Count = DefaultCount
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	return &Store{limits: l}
}

// Finished is a run that is over.
type Finished struct {
	// ID is what [NewID] gave for the run; empty: the Store makes one.
	ID  string
	Run *executor.Run
	// Caller says whose run it is; see [Store.Get].
	Caller       string
	Began, Ended time.Time
	// Err is why the call failed, which need not be the failure of a node.
	Err error
	// Redact takes secrets out of what is kept of the run; nil keeps it as it
	// is.
	Redact func(string) string
}

// Run is one run that is kept. It is immutable.
type Run struct {
	// ID names the run among those of its Store.
	ID string
	// Tool is the tool that was called.
	Tool string
	// Began and Ended are when the call was.
	Began, Ended time.Time
	// Err is why the call failed, empty where it did not.
	Err string
	// Executions is how many nodes were executed.
	Executions int
	// Truncated is true where the run was too large to be kept: its arguments
	// and its history are gone.
	Truncated bool

	caller string
	graph  *graph.Graph
	args   span
	steps  []step
	text   string // of all values
}

// span is a part of a Run's text; an empty one stands for undefined, which has
// no JSON.
type span struct{ from, to int }

// step is one execution: its record without the values, and where they are.
type step struct {
	executor.Record
	arguments, output span
}

// Rough sizes in bytes of what a run and a step take beside their texts.
const (
	runBytes  = 512
	stepBytes = 256
)

// Add keeps a run, and lets go of the oldest ones where there are too many or
// where they are too large together. A run that alone exceeds the bounds is
// kept without its values.
func (s *Store) Add(f Finished) {
	if s.limits.Count < 0 {
		return
	}
	r := s.pack(f)
	size := r.size()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.runs) && (len(s.runs)-n >= s.limits.Count || s.bytes+size > s.limits.Bytes) {
		s.bytes -= s.runs[n].size()
		n++
	}
	s.runs = append(slices.Delete(s.runs, 0, n), r)
	s.bytes += size
}

func (r *Run) size() int64 {
	return int64(runBytes + len(r.text) + len(r.Err) + len(r.caller) + stepBytes*len(r.steps))
}

// maxErr bounds the text of an error, in bytes.
const maxErr = 16 << 10

// buffers hold the texts of runs while they are written.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// NewID returns an id for a run.
func NewID() string { return strconv.FormatUint(rand.Uint64(), 36) }

func (s *Store) pack(f Finished) *Run {
	g := f.Run.Graph()
	history := f.Run.History()
	r := &Run{
		ID: cmp.Or(f.ID, NewID()), Tool: g.Name, Began: f.Began, Ended: f.Ended,
		Executions: len(history), caller: f.Caller, graph: g,
	}
	if f.Err != nil {
		r.Err = f.errorText(f.Err)
	}
	buffer := buffers.Get().(*[]byte)
	text := (*buffer)[:0]
	text, r.args = f.appendValue(text, f.Run.Args())
	room := s.limits.Bytes - int64(runBytes+stepBytes*len(history)+len(r.Err)+len(r.caller))
	r.steps = make([]step, 0, len(history))
	for _, rec := range history {
		if int64(len(text)) > room {
			break
		}
		st := step{Record: rec}
		text, st.arguments = f.appendValue(text, rec.Arguments)
		text, st.output = f.appendValue(text, rec.Output)
		st.Arguments, st.Output = value.Undef, value.Undef
		if rec.Err != nil {
			// An error may hold on to much, and has nothing to say but its text.
			st.Err = errors.New(f.errorText(rec.Err))
		}
		r.steps = append(r.steps, st)
	}
	if int64(len(text)) > room {
		r.Truncated, r.args, r.steps = true, span{}, nil
	} else {
		r.text = string(text)
	}
	if cap(text) <= 1<<20 {
		*buffer = text
		buffers.Put(buffer)
	}
	return r
}

func (f Finished) errorText(err error) string {
	text := err.Error()
	if f.Redact != nil {
		text = f.Redact(text)
	}
	return text[:min(len(text), maxErr)]
}

func (f Finished) appendValue(dst []byte, v value.Value) ([]byte, span) {
	from := len(dst)
	if v.IsUndefined() {
		return dst, span{from, from}
	}
	if f.Redact != nil {
		v = v.Rewritten(f.Redact)
	}
	dst = v.Append(dst)
	return dst, span{from, len(dst)}
}

// List gives the runs of a caller, the newest first.
func (s *Store) List(caller string) []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Run
	for _, r := range slices.Backward(s.runs) {
		if r.caller == caller {
			list = append(list, r)
		}
	}
	return list
}

// Get gives the run with this id, if it is one of the caller's. Runs of others
// are as if they were not there.
func (s *Store) Get(caller, id string) (*Run, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		if r.ID == id && r.caller == caller {
			return r, true
		}
	}
	return nil, false
}

// Replay gives the run as it was at its end, secrets aside, to read its history and to travel
// through it with [executor.Run.ContextAt]. Errors are texts now. A run that is
// truncated has no history. The error is for a text that is no JSON, which a
// Store does not hold.
func (r *Run) Replay() (*executor.Run, error) {
	args, err := r.value(r.args)
	if err != nil {
		return nil, err
	}
	run := executor.NewRun(r.graph, args)
	for _, st := range r.steps {
		if st.Arguments, err = r.value(st.arguments); err != nil {
			return nil, err
		}
		if st.Output, err = r.value(st.output); err != nil {
			return nil, err
		}
		if err := run.Advance(st.Record); err != nil {
			return nil, err
		}
	}
	return run, nil
}

func (r *Run) value(at span) (value.Value, error) {
	if at.from == at.to {
		return value.Undef, nil
	}
	return value.ParseLazy(r.text[at.from:at.to])
}

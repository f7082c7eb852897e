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
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
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
	// Memory is what the runs draw on; nil has no bounds. A run that does not fit
	// is kept without its values. Where Bytes is 0 the runs take no more than a
	// 32nd of it.
	Memory *memory.Budget
}

const memoryShare = 32

// Store keeps the last runs of any number of tools and callers. It is safe for
// concurrent use.
type Store struct {
	limits Limits
	held   *memory.Account

	packing sync.Mutex // long runs are packed one after the other
	mu      sync.Mutex
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
	return &Store{limits: l, held: l.Memory.Account("")}
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
	seed   uint64
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
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.runs) && (len(s.runs)-n >= s.limits.Count || s.bytes+r.size() > s.limits.Bytes) {
		gone := s.runs[n].size()
		s.bytes -= gone
		s.held.Shrink(gone)
		n++
	}
	if s.held.Grow(r.size()) != nil {
		r.truncate()
		_ = s.held.Grow(r.size()) // so little that it may as well be kept
	}
	size := r.size()
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
	history := slices.Collect(f.Run.Records(0))
	r := &Run{
		ID: cmp.Or(f.ID, NewID()), Tool: g.Name, Began: f.Began, Ended: f.Ended,
		Executions: f.Run.Len(), caller: f.Caller, graph: g, seed: f.Run.Seed(),
	}
	if f.Err != nil {
		r.Err = f.errorText(f.Err)
	}
	room := s.limits.Bytes - int64(runBytes+stepBytes*len(history)+len(r.Err)+len(r.caller))
	if long := f.Run.Args().TextSize() + len(history); f.longer(long, longRun) {
		if f.longer(long, int(max(0, room))) {
			r.Truncated = true
			return r
		}
		s.packing.Lock()
		defer s.packing.Unlock()
	}
	buffer := buffers.Get().(*[]byte)
	p := packer{Finished: f, text: (*buffer)[:0]}
	r.args = p.pack(f.Run.Args())
	r.steps = make([]step, 0, len(history))
	for _, rec := range history {
		if int64(len(p.text)) > room {
			break
		}
		st := step{Record: rec}
		st.arguments = p.pack(rec.Arguments)
		st.output = p.pack(rec.Output)
		st.Arguments, st.Output = value.Undef, value.Undef
		if rec.Err != nil {
			// An error may hold on to much, and has nothing to say but its text.
			st.Err = errors.New(f.errorText(rec.Err))
		}
		if f.Redact != nil {
			for i, v := range rec.Results {
				rec.Results[i] = v.Rewritten(f.Redact)
			}
		}
		r.steps = append(r.steps, st)
	}
	if int64(len(p.text)) > room {
		r.truncate()
	} else {
		r.text = string(p.text)
	}
	if cap(p.text) <= 1<<20 {
		*buffer = p.text
		buffers.Put(buffer)
	}
	return r
}

// longRun is the size of the values of a run, in bytes, from which it is long.
const longRun = 256 << 10

// longer reports whether the values of the run are longer than most bytes, of
// which there are some already.
func (f Finished) longer(already, most int) bool {
	var known written
	known.put(f.Run.Args(), span{})
	for _, rec := range f.Run.History() {
		for _, v := range []value.Value{rec.Arguments, rec.Output} {
			if already > most {
				return true
			}
			if _, ok := known.get(v); !ok {
				already += v.TextSize()
				known.put(v, span{})
			}
		}
	}
	return already > most
}

// truncate takes the values out of a run.
func (r *Run) truncate() {
	r.Truncated, r.args, r.steps, r.text = true, span{}, nil, ""
}

func (f Finished) errorText(err error) string {
	text := err.Error()
	if f.Redact != nil {
		text = f.Redact(text)
	}
	if len(text) <= maxErr {
		return text
	}
	n := maxErr
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// packer writes the values of a run. Many nodes hand on what they got, which is
// written once.
type packer struct {
	Finished
	text  []byte
	known written
}

// written are the long arrays and objects of a run, and where they are.
type written []struct {
	value value.Value
	at    span
}

const (
	longValue  = 1 << 10 // bytes from which a value is remembered
	maxWritten = 16
)

func (w written) get(v value.Value) (span, bool) {
	if v.Kind() == value.Array || v.Kind() == value.Object {
		for _, one := range w {
			if value.Same(one.value, v) {
				return one.at, true
			}
		}
	}
	return span{}, false
}

func (w *written) put(v value.Value, at span) {
	if (v.Kind() == value.Array || v.Kind() == value.Object) && len(*w) < maxWritten && v.LongerThan(longValue) {
		*w = append(*w, struct {
			value value.Value
			at    span
		}{v, at})
	}
}

func (p *packer) pack(v value.Value) span {
	if v.IsUndefined() {
		return span{}
	}
	if at, ok := p.known.get(v); ok {
		return at
	}
	shown := v
	if p.Redact != nil {
		shown = v.Rewritten(p.Redact)
	}
	at := span{from: len(p.text)}
	p.text = shown.Append(p.text)
	at.to = len(p.text)
	p.known.put(v, at)
	return at
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
	var bad error
	run, err := executor.Replay(r.graph, args, r.seed, func(yield func(executor.Record) bool) {
		for _, st := range r.steps {
			var errs [2]error
			st.Arguments, errs[0] = r.value(st.arguments)
			st.Output, errs[1] = r.value(st.output)
			if bad = errors.Join(errs[:]...); bad != nil || !yield(st.Record) {
				return
			}
		}
	})
	return run, errors.Join(err, bad)
}

func (r *Run) value(at span) (value.Value, error) {
	if at.from == at.to {
		return value.Undef, nil
	}
	return value.ParseLazy(r.text[at.from:at.to])
}

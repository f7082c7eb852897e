// Package executor runs graphs.
//
// What a run has done is data: a log of records, from which [Replay] makes the
// run again. What it wants to do next is data, too: the tasks that [Run.Take]
// hands out and the times that [Run.Wake] names. A driver does the things:
// [Local] in this process; others only have to evaluate tasks, call tools, ask
// people and tell the time.
package executor

import (
	"errors"
	"iter"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Run is one call of a tool: what was done and what can be done next. It does no
// I/O and reads no clock. All methods are safe for concurrent use.
type Run struct {
	graph *graph.Graph
	args  value.Value
	seed  uint64
	root  *frame
	first frame // root

	mu      sync.RWMutex
	clock   clock
	agenda  agenda
	queue   queue
	forks   []*opened // that can begin bodies
	asked   []*frame
	cut     []Task // under way in frames that were cancelled
	held    int
	log     []entry
	next    int // index of the next record
	total   int // executions
	trim    trimming
	stopped error       // what ends the run before its end
	changed atomic.Bool // Cut, Stopped or Wake have something new
	started bool
	done    bool
	err     error
}

// NewRun starts a run of g at its entry. g must be free of errors; args are those
// of the call, an object. All randomness of the run derives from seed.
func NewRun(g *graph.Graph, args value.Value, seed uint64) *Run {
	r := &Run{graph: g, args: args, seed: seed, log: make([]entry, 0, min(len(g.Nodes), 16))}
	r.root = &r.first
	r.root.init(r, g, args, nil, 0)
	r.root.past.executions = make([]execution, 0, min(len(g.Nodes), indexFrom))
	r.clock.active = 1
	r.push(r.root)
	return r
}

// Graph returns what is run.
func (r *Run) Graph() *graph.Graph { return r.graph }

// Args returns the arguments of the call.
func (r *Run) Args() value.Value { return r.args }

// Seed returns what the randomness of the run derives from.
func (r *Run) Seed() uint64 { return r.seed }

// push makes the task of a frame ready.
func (r *Run) push(f *frame) {
	f.task++
	r.set(f, ready)
	r.queue.add(f)
}

// Take returns the next task that is ready. It belongs to the caller until
// Release or Open. Take reports false where nothing is ready, which may change
// with every other method.
func (r *Run) Take() (Task, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held >= maxHeld {
		return Task{}, false
	}
	f := r.nextReady()
	if f != nil && f.phase == begin && f.cancelled == nil {
		if err := r.admit(f); err != nil {
			r.queue.add(f)
			r.stop(newNodeError(f, err))
			f = r.nextReady()
		}
	}
	if f == nil {
		return Task{}, false
	}
	if f.phase == begin {
		if f.try == 0 {
			f.start, f.attempts, f.fromCache, f.sent = r.clock.told, 0, false, value.Undef
		}
		f.try++
		f.opened = nil
		if limit := f.node.Policy.Timeout; limit > 0 {
			r.appoint(&r.agenda.work, appointment{r.clock.work().add(limit), f, f.task, deadline})
		}
	}
	f.random = nil
	r.set(f, held)
	r.held++
	return f.current(), true
}

// nextReady removes the first frame from the queue, or begins a body.
func (r *Run) nextReady() *frame {
	if f := r.queue.take(); f != nil {
		return f
	}
	for len(r.forks) > 0 {
		o := r.forks[len(r.forks)-1]
		if o.skip(); !o.spreads() {
			o.queued = false
			r.forks = r.forks[:len(r.forks)-1]
			continue
		}
		f := o.begin(o.next)
		o.next++
		f.task++
		r.clock.active++
		return f
	}
	return nil
}

// spread lets bodies be begun.
func (r *Run) spread(o *opened) {
	if !o.queued && o.spreads() {
		o.queued = true
		r.forks = append(r.forks, o)
	}
}

// admit refuses an execution beyond the limits of the run.
func (r *Run) admit(f *frame) error {
	limits := f.graph.Limits
	if limit := r.graph.Limits.MaxExecutionTime; limit > 0 {
		if elapsed := r.clock.elapsed(); elapsed >= limit {
			return &LimitError{MaxTime: limit, Elapsed: elapsed}
		}
	}
	if f.try > 0 {
		return nil
	}
	if n := len(f.past.executions); n >= limits.MaxNodeExecutions {
		return &LimitError{MaxExecutions: limits.MaxNodeExecutions, Executions: n}
	}
	if r.total >= MaxTotalExecutions {
		return &LimitError{MaxTotal: MaxTotalExecutions, Executions: r.total}
	}
	return nil
}

// Ready reports whether Take has something to give.
func (r *Run) Ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held >= maxHeld {
		return false
	}
	if r.queue.peek() != nil {
		return true
	}
	for _, o := range r.forks {
		if o.spreads() {
			return true
		}
	}
	return false
}

// Begin tells the time at which the run begins. The first one counts.
func (r *Run) Begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(instantOf(now))
}

func (r *Run) begin(now instant) {
	r.clock.tell(now)
	if r.started {
		return
	}
	r.started, r.clock.began = true, now
	if limit := r.graph.Limits.MaxExecutionTime; limit > 0 {
		r.appoint(&r.agenda.work, appointment{r.clock.work().add(limit), r.root, 0, runLimit})
	}
}

// Stop ends the run for a cause that nothing in the graph handles: it was
// cancelled, or has to end to protect the process. Tasks that are under way
// still have to be settled.
func (r *Run) Stop(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop(named(graph.FailCancelled, cause))
}

func (r *Run) stop(cause error) {
	if r.done || r.stopped != nil {
		return
	}
	r.stopped = cause
	r.changed.Store(true)
	r.cancel(r.root, cause)
}

// Stopped returns what Stop was called with or which limit was exceeded, nil
// where the run goes its way.
func (r *Run) Stopped() error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.stopped
}

// Done reports whether the run has ended, well or not.
func (r *Run) Done() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.done
}

// Err returns why the run failed, nil where it has not. Failures of nodes and
// exceeded limits are *NodeError; beneath them errors.As finds a *LimitError and
// errors.Is the cause that Stop was given.
func (r *Run) Err() error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.err
}

// Result returns the tool's result: what the exit node was given, null where
// that is nothing. It is undefined until the run has ended well.
func (r *Run) Result() value.Value {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.done || r.err != nil {
		return value.Undef
	}
	return r.root.result()
}

func (f *frame) result() value.Value {
	if n := len(f.past.executions); n > 0 {
		if v := f.past.executions[n-1].output; !v.IsUndefined() {
			return v
		}
	}
	return value.NullValue
}

// Records returns the records from an index on, in their order, as they are
// now. Those of bodies that were dropped are missing; see Record.Results.
func (r *Run) Records(from int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for at := from; ; {
			r.mu.RLock()
			i := r.search(at)
			if i == len(r.log) {
				r.mu.RUnlock()
				return
			}
			rec := r.log[i].record()
			r.mu.RUnlock()
			at = rec.Index + 1
			if !yield(rec) {
				return
			}
		}
	}
}

// search returns the place in the log of the first record with this index or a
// higher one.
func (r *Run) search(index int) int {
	return sort.Search(len(r.log), func(i int) bool { return r.log[i].index >= index })
}

// History returns the executions that are over, of all walks, in their order.
func (r *Run) History() []Record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	records := make([]Record, 0, len(r.log))
	for i := range r.log {
		if e := &r.log[i]; e.event == Done {
			records = append(records, e.record())
		}
	}
	return records
}

// Len returns the number of executions that are over, of all walks.
func (r *Run) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.total
}

// ContextAt returns the document that expressions of the i-th execution of the
// tool's own walk saw: for each node that had run before it, the latest output.
// A place beyond the end of the history means its end.
func (r *Run) ContextAt(i int) value.Value { return r.documentOf(r.root, max(i, 0)) }

// ErrStale says that a task is not the caller's any more: its execution was
// cancelled, or has timed out.
var ErrStale = errors.New("the task was given up meanwhile")

// cancel ends a walk and all beneath it: at once where nobody has its task, else
// when that is settled.
func (r *Run) cancel(f *frame, cause error) {
	if f.cancelled != nil || f.state == ended {
		return
	}
	f.cancelled = cause
	switch f.state {
	case held, calling, settled:
		r.interrupt(f)
	case ready:
		if f.phase == begin && f.try == 0 {
			r.end(f, f.failed(cause))
			return
		}
		f.pending, f.phase = cause, conclude
	case joining:
		f.pending = cause
		r.close(f.opened)
	default:
		f.pending, f.phase = cause, conclude
		r.unask(f)
		r.push(f)
	}
}

// interrupt says that what a task does should end.
func (r *Run) interrupt(f *frame) {
	r.cut = append(r.cut, f.current())
	r.changed.Store(true)
}

// close ends the bodies of a fork that is decided. Once none is left the
// execution goes on.
func (r *Run) close(o *opened) {
	o.closing = true
	r.interrupt(o.frame)
	for i := len(o.live) - 1; i >= 0; i-- {
		if i < len(o.live) {
			r.cancel(o.live[i], errBeside)
		}
	}
	if len(o.live) > 0 {
		r.appoint(&r.agenda.wall, appointment{r.clock.told.add(grace), o.frame, o.frame.task, abandon})
		return
	}
	r.join(o)
}

// errBeside ends what is not needed any more.
var errBeside error = &graph.Failure{Name: graph.FailCancelled, Message: "ended by what happened beside it"}

// join goes on with an execution whose bodies have all ended.
func (r *Run) join(o *opened) {
	f := o.frame
	if f.state != joining || f.opened != o {
		return
	}
	if f.pending == nil {
		f.pending = o.err
	}
	f.phase = conclude
	r.push(f)
}

// end is the end of a walk.
func (r *Run) end(f *frame, err error) {
	r.set(f, ended)
	f.node = nil
	o := f.opener
	if o == nil {
		r.done, r.err = true, err
		return
	}
	if o.frame.opened != o {
		return // the execution went on without it
	}
	was := o.closing
	result := value.Undef
	if err == nil {
		result = f.result()
	}
	if o.finish(f, result, err); !o.closing {
		r.spread(o)
		return
	}
	if !was {
		r.close(o)
	} else if len(o.live) == 0 {
		r.join(o)
	}
}

// Outputs returns the outputs of all executions of a node in the tool's own walk,
// in their order. The slice must not be modified.
func (r *Run) Outputs(id string) []value.Value { return r.root.Outputs(id) }

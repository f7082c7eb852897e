// Package executor runs graphs.
//
// What a run has done is data: a log of records, from which [Replay] makes the
// run again. What it wants to do next is data, too: the tasks that [Run.Take]
// hands out and the times that [Run.Wake] names. A driver does the things:
// [Local] in this process; others only have to evaluate tasks, call tools, ask
// people and set the time.
package executor

import (
	"context"
	"errors"
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
	seed  uint64
	mask  MaskFunc  // may be nil
	check CheckFunc // may be nil
	root  frame

	mu     sync.Mutex
	clock  clock
	timers timers
	queue  queue
	forks  []*opened // that can begin bodies
	asked  []*frame
	only   *frame // the run ends after its node; nil: it ends as its walk does
	// decisions are what a person chose about tools that are asked about once.
	decisions map[serverTool]string
	cut       []Task // under way in frames that were cancelled
	log       runLog
	held      int
	total     int // executions
	shares    *shares
	stopped   error       // what ends the run before its end
	err       error       // why it failed
	changed   atomic.Bool // Cut, Stopped or Wake have something new
	replaced  []int       // the indexes of the Replaced records
	// replacements is how many there are, for those who do not have the lock.
	replacements atomic.Int32
	driver       waiter // nil where nobody drives the run
	started      bool
	done         bool
}

// NewRun starts a run of g at its entry. g must be free of errors; args are those
// of the call, an object. All randomness of the run derives from seed.
func NewRun(g *graph.Graph, args value.Value, seed uint64) *Run {
	r := &Run{graph: g, seed: seed}
	r.root.init(r, g, args, nil, 0)
	n := min(len(g.Nodes), indexFrom)
	lists := make([]*entry, 2*n)
	r.log.list, r.root.past.executions = lists[:0:n], lists[n:n:2*n]
	r.root.past.room = make([]entry, 0, n)
	r.clock.active = 1
	r.push(&r.root)
	return r
}

// Graph returns what is run.
func (r *Run) Graph() *graph.Graph { return r.graph }

// Args returns the arguments of the call.
func (r *Run) Args() value.Value { return r.root.in.Args }

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
	return r.take()
}

// follow is Release and Take.
func (r *Run) follow(settled Task) (Task, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if settled.frame != nil {
		r.released(settled)
	}
	return r.take()
}

func (r *Run) take() (Task, bool) {
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
	if f.phase != conclude {
		if f.try == 0 {
			f.start = r.clock.now
		}
		if f.phase == begin {
			f.try++
			if f.attempts != nil {
				f.attempts.began = r.clock.now
			}
			f.opened = nil
		}
		if limit := f.node.Policy.Timeout; limit > 0 {
			r.schedule(&r.timers.work, timerEvent{r.clock.work().add(limit), f, f.task, deadline})
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
	if total := r.maxTotal(); r.spent()+r.reserved() >= total {
		return &LimitError{MaxTotal: total, Executions: r.spent()}
	}
	return nil
}

// Ready reports whether Take would return a task.
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

// Begin sets the time at which the run begins. The first one counts.
func (r *Run) Begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(instantOf(now))
}

func (r *Run) begin(now instant) {
	r.clock.advance(now)
	if r.started {
		return
	}
	r.started, r.clock.began = true, now
	if limit := r.graph.Limits.MaxExecutionTime; limit > 0 {
		r.schedule(&r.timers.work, timerEvent{r.clock.work().add(limit), &r.root, 0, runLimit})
	}
}

// Done reports whether the run has ended, well or not.
func (r *Run) Done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// outcome returns Done and Err.
func (r *Run) outcome() (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done, r.err
}

// Err returns why the run failed, or nil if it has not. Failures of nodes and
// exceeded limits are *NodeError; beneath them errors.As finds a *LimitError
// and errors.Is the cause that Stop was given.
func (r *Run) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// ResultAdvice returns what to change if the result does not fit the outputSchema.
func (r *Run) ResultAdvice() string {
	last := ""
	for rec := range r.Records(0) {
		if rec.Frame == "" && (r.graph.Exit == nil || rec.Node != r.graph.Exit.ID) {
			last = rec.Node
		}
	}
	return r.graph.ResultAdvice(last)
}

// Result returns the tool's result: what the exit node was given, null where
// that is nothing. It is undefined until the run has ended well.
func (r *Run) Result() value.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done || r.err != nil {
		return value.Undef
	}
	return r.root.result()
}

// resultOf returns the result of a walk whose last output this is.
func resultOf(output value.Value) value.Value {
	if output.IsUndefined() {
		return value.NullValue
	}
	return output
}

// Len returns the number of executions that are over, of all walks.
func (r *Run) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// ContextAt returns the document that expressions of the i-th execution of the
// tool's own walk saw: for each node that had run before it, the latest output.
// A place beyond the end of the history means its end.
func (r *Run) ContextAt(i int) value.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	return value.FromSource(&document{&r.root, int32(min(max(i, 0), len(r.root.past.executions))), r.replacements.Load()})
}

// ErrStale is returned for a task whose execution was cancelled or has timed
// out.
var ErrStale = errors.New("the task was given up meanwhile")

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

// endAt ends a run of one node after it.
func (r *Run) endAt(f *frame) {
	r.set(f, ended)
	r.done = true
	if f.last.edge == graph.NoEdge {
		r.err = f.last.extra.get().err
	}
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

// MaskFunc returns arguments without those that hold secrets: those of a call of an
// upstream tool or, if server is empty, of a tool of the file; of an unknown one if both
// are empty. It may be called by several goroutines at once.
type MaskFunc func(server, tool string, args value.Value) value.Value

// Mask sets what takes secrets out of the arguments that questions and the texts of errors
// of the run show. It is called before the run begins; nil shows all.
func (r *Run) Mask(f MaskFunc) { r.mask = f }

// Masked returns the arguments of the run, or of a call that it makes, without those that
// hold secrets. server is empty for those of the run, and of calls of tools of the file.
func (r *Run) Masked(server, tool string, args value.Value) value.Value {
	if r.mask == nil || args.IsUndefined() {
		return args
	}
	if server == "" {
		tool = ""
		if value.Same(args, r.Args()) {
			tool = r.graph.Name
		}
	}
	return r.mask(server, tool, args)
}

// MaskedRecord returns a record of the run without the arguments that hold secrets: of the
// calls of its node, or of the run, which the entry and many other nodes hand on.
func (r *Run) MaskedRecord(rec Record) Record {
	rec.Arguments = r.Masked(rec.Server, rec.Tool, rec.Arguments)
	switch entry := r.graph.Entry; {
	case rec.Output.IsUndefined():
	case rec.Frame == "" && entry != nil && rec.Node == entry.ID && r.mask != nil:
		rec.Output = r.mask("", r.graph.Name, rec.Output)
	case value.Same(rec.Output, r.Args()):
		rec.Output = r.Masked("", "", rec.Output)
	}
	return rec
}

// CheckFunc returns why a call of an upstream tool would not be sent, nil if it would be. It
// may be called by several goroutines at once.
type CheckFunc func(ctx context.Context, server, tool string, args value.Value) error

// CheckCalls sets what checks calls before a person is asked to approve them. It is called
// before the run is driven; nil checks nothing.
func (r *Run) CheckCalls(f CheckFunc) { r.check = f }

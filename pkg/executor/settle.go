package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Outcome is what came of a task.
type Outcome struct {
	// Output is what the node yielded; it does not count where Err is not nil.
	Output graph.Output
	Err    error
	// End is the time at which the task ended.
	End time.Time
	// Attempts and FromCache are those of the upstream call, where the task made
	// one.
	Attempts  int
	FromCache bool
}

// Settle puts what came of a task into the log: the execution is over, or will
// be tried again, as the policy of the node has it. The record says which. The
// walk goes on with Release, so that observers can be told before. The error is
// ErrStale where the task is not the caller's any more; nothing has changed then.
func (r *Run) Settle(ctx context.Context, t Task, o Outcome) (Record, error) {
	if !r.owns(t) {
		return Record{}, ErrStale
	}
	e, err := r.settle(ctx, t, o)
	if err != nil {
		return Record{}, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return e.record(), nil
}

func (r *Run) settle(ctx context.Context, t Task, o Outcome) (entry, error) {
	f := t.frame
	if o.Err == nil {
		o.Err = checkEdge(f.node, o.Output.Edge)
	}
	v := verdict{output: o.Output.Value, edge: o.Output.Edge}
	if o.Err != nil {
		o.Err = newNodeError(f, o.Err).attempted(f.attempts + o.Attempts)
		v = r.judge(ctx, f, o.Err)
	}
	var weight entry
	weight.weigh(f, v.output)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) {
		return entry{}, ErrStale
	}
	r.clock.tell(instantOf(o.End))
	r.held--
	if f.cancelled == nil && f.pending != nil && f.phase == begin {
		// Its time was over while it was evaluated.
		err := newNodeError(f, f.pending).attempted(f.attempts + o.Attempts)
		r.mu.Unlock()
		v = r.judge(ctx, f, err)
		r.mu.Lock()
		o.Err = err
	}
	if o.Err != nil && f.cancelled == nil && failureOf(o.Err).Reserved() {
		r.stop(o.Err)
	}
	f.attempts += o.Attempts
	f.fromCache = f.fromCache || o.FromCache
	e := f.entry(r.clock.told)
	e.more = weight.more
	switch {
	case f.cancelled != nil && (f.opener != nil || interrupted(f.cancelled)):
		e.event, e.err, e.edge = Cancelled, f.failed(f.cancelled), graph.NoEdge
	case f.cancelled != nil && o.Err != nil:
		e.err, e.edge = newNodeError(f, endedBy(o.Err, f.cancelled)), graph.NoEdge
	case v.retry:
		e.event, e.err, e.edge, e.until = Retried, o.Err, graph.NoEdge, r.clock.told.add(v.delay)
	default:
		e.output, e.err, e.edge = v.output, o.Err, int32(v.edge)
	}
	r.commit(&e)
	r.set(f, settled)
	return e, nil
}

// owns is valid for those who do not have the lock.
func (r *Run) owns(t Task) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.valid(t)
}

// valid reports whether a task is still that of its frame.
func (r *Run) valid(t Task) bool {
	return t.frame != nil && t.frame.task == t.task && (t.frame.state == held || t.frame.state == calling)
}

func (f *frame) entry(now instant) entry {
	return entry{
		frame: f, node: f.node, start: f.start, end: now, sent: f.sent,
		execution: int32(len(f.past.executions)), try: int32(f.try),
		attempts: int32(f.attempts), fromCache: f.fromCache,
	}
}

// verdict is what follows from the outcome of a task.
type verdict struct {
	retry  bool
	delay  time.Duration
	output value.Value
	edge   int
}

var noVerdict = verdict{edge: graph.NoEdge}

// judge decides what follows from a failure: another attempt, a handler, or the
// end of the walk. It evaluates expressions, so it must be called by whoever has
// the task.
func (r *Run) judge(ctx context.Context, f *frame, err error) verdict {
	n := f.node
	if len(n.Policy.Retry) == 0 && len(n.Policy.Catch) == 0 && len(f.graph.Catch) == 0 {
		return noVerdict
	}
	failed := failureOf(err)
	if failed.Reserved() {
		return noVerdict
	}
	if i := f.rule(failed); i >= 0 {
		if delay, ok := f.delay(i, err); ok {
			return verdict{retry: true, delay: delay}
		}
	}
	if edge, ok := f.handler(ctx, n.Policy.Catch, failed); ok {
		return verdict{output: caught(failed), edge: edge}
	}
	if !f.caught {
		if edge, ok := f.handler(ctx, f.graph.Catch, failed); ok {
			return verdict{output: caught(failed), edge: len(n.Edges) + edge}
		}
	}
	return noVerdict
}

// rule returns the rule of retry that is for a failure, -1 where none is.
func (f *frame) rule(failed *graph.Failure) int {
	for i := range f.node.Policy.Retry {
		if f.node.Policy.Retry[i].Matches(failed) {
			return i
		}
	}
	return -1
}

// delay returns how long the next attempt by a rule waits, and reports whether
// there is one.
func (f *frame) delay(rule int, err error) (time.Duration, bool) {
	r, tried := &f.node.Policy.Retry[rule], 0
	if rule < len(f.tries) {
		tried = f.tries[rule]
	}
	if tried+1 >= r.MaxAttempts {
		return 0, false
	}
	delay := float64(r.InitialDelay)
	for range tried {
		if delay *= max(r.Backoff, 1); delay >= float64(r.MaxDelay) {
			break
		}
	}
	delay = min(delay, float64(r.MaxDelay))
	if r.Jitter {
		delay *= 0.5 + f.source(saltDelay).Float64()/2
	}
	if asked := retryAfter(err); asked > r.MaxDelay {
		return 0, false
	} else if asked > time.Duration(delay) {
		return asked, true
	}
	return time.Duration(delay), true
}

// saltDelay keeps the randomness of delays apart from that of expressions.
const saltDelay = 1 << 32

// handler returns the edge of the first rule that catches a failure.
func (f *frame) handler(ctx context.Context, rules []graph.CatchRule, failed *graph.Failure) (int, bool) {
	for i := range rules {
		rule := &rules[i]
		if !rule.Matches(failed) {
			continue
		}
		if rule.When == nil {
			return rule.Edge, true
		}
		env := f.env
		env.Vars = map[string]value.Value{"error": failed.Value()}
		for name, v := range f.env.Vars {
			if name != "error" {
				env.Vars[name] = v
			}
		}
		if v, err := rule.When.Eval(ctx, &env); err == nil && v.Truthy() {
			return rule.Edge, true
		}
	}
	return 0, false
}

// commit puts an entry into the log and into the history of its frame.
func (r *Run) commit(e *entry) {
	f := e.frame
	f.last = moved{e.event, e.edge, e.err, e.until}
	r.append(e)
	switch e.event {
	case Done:
		f.past.add(e.node, e.output, e.err != nil && e.edge == graph.NoEdge)
		f.random, f.opened, f.pending = nil, nil, nil
		r.total++
	case Retried:
		if i := f.rule(failureOf(e.err)); i >= 0 {
			for len(f.tries) <= i {
				f.tries = append(f.tries, 0)
			}
			f.tries[i]++
		}
		f.opened, f.pending = nil, nil
	}
}

// append gives an entry its index.
func (r *Run) append(e *entry) {
	e.index = r.next
	r.next++
	r.log = grow(r.log, *e)
	r.trimLog(e)
}

// Release lets the walk of a settled task go on.
func (r *Run) Release(t Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := t.frame; f != nil && f.task == t.task && f.state == settled {
		r.release(f)
	}
}

func (r *Run) release(f *frame) {
	last := f.last
	switch {
	case last.event == Retried && f.cancelled != nil:
		f.pending, f.phase = f.cancelled, conclude
		r.push(f)
	case last.event == Retried:
		f.phase = begin
		f.task++
		if last.until <= r.clock.told {
			r.push(f)
			return
		}
		r.set(f, delayed)
		r.appoint(&r.agenda.wall, appointment{last.until, f, f.task, goOn})
	case last.event == Cancelled:
		r.end(f, last.err)
	case last.edge == graph.NoEdge:
		r.end(f, last.err)
	default:
		edge := int(last.edge)
		if edge >= len(f.node.Edges) {
			f.caught = true
		}
		next := f.node.Way(edge).To
		f.node, f.try, f.phase = next, 0, begin
		clear(f.tries)
		if f.cancelled != nil {
			r.end(f, f.failed(f.cancelled))
			return
		}
		r.push(f)
	}
}

// Open does what the action of a task asks for beside calls of tools and
// outputs: it begins bodies, a called tool, a sleep or a question. The task then
// is not the caller's any more. The error is ErrStale as in Settle, or says what
// is wrong with the action; the task then has to be settled with it.
func (r *Run) Open(t Task, a graph.Action, now time.Time) error {
	var weight entry
	weight.weigh(t.frame, a.Value)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) {
		return ErrStale
	}
	f := t.frame
	if f.cancelled != nil {
		return f.cancelled
	}
	if f.pending != nil {
		return f.pending
	}
	o, until, err := f.open(a, instantOf(now))
	if err != nil {
		return err
	}
	r.clock.tell(instantOf(now))
	r.held--
	e := f.entry(r.clock.told)
	e.more = &more{opened: o, size: weight.size()}
	e.event, e.output, e.do, e.until, e.edge = Opened, a.Value, a.Do, until, int32(a.Edge)
	r.append(&e)
	r.wait(o, until)
	return nil
}

// wait lets a frame wait for what it opened.
func (r *Run) wait(o *opened, until instant) {
	f := o.frame
	f.opened = o
	switch o.do {
	case graph.Sleep:
		r.set(f, sleeping)
		r.appoint(&r.agenda.wall, appointment{until, f, f.task, goOn})
	case graph.Ask:
		r.set(f, asking)
		r.asked = append(r.asked, f)
		r.changed.Store(true)
	default:
		r.set(f, joining)
		if o.ended == o.bodies {
			o.closing = true
			r.join(o)
			return
		}
		r.spread(o)
	}
}

// Call says that the caller of Take now calls the tool that the node names, with
// these arguments. The error is ErrStale where it need not.
func (r *Run) Call(t Task, args value.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) || t.frame.cancelled != nil || t.frame.pending != nil {
		return ErrStale
	}
	t.frame.sent = args
	t.frame.state = calling
	return nil
}

// Return says that the call is over. The error is ErrStale where nobody waits
// for it any more.
func (r *Run) Return(t Task) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) {
		return ErrStale
	}
	t.frame.state = held
	return nil
}

// Cut returns the tasks under way that were cancelled since the last Cut, and
// those whose bodies are decided. What they do, and what is done beneath them,
// should end soon.
func (r *Run) Cut() []Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	cut := r.cut
	r.cut = nil
	return cut
}

// checkEdge refuses a way that the node did not declare.
func checkEdge(n *graph.Node, edge int) error {
	if edge >= 0 && edge < len(n.Edges) || edge == graph.NoEdge && (n.Kind.Role == graph.Exit || n.Graph != nil && n.Graph.Owner != nil) {
		return nil
	}
	return fmt.Errorf("the node went along edge %d, but it has %d", edge, len(n.Edges))
}

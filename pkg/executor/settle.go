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
	// Reply is what the upstream server answered, undefined where the task called
	// none.
	Reply value.Value
	// AttemptTimes are those of the upstream call, if it took several attempts.
	AttemptTimes []graph.Attempt
	// Pinned is true if the node was not executed, because its output was set.
	Pinned bool
}

// Settle puts what came of a task into the log: the execution is over, or will
// be tried again, as the policy of the node has it. The record says which. The
// walk goes on with Release, so that observers can be notified before. The
// error is ErrStale where the task is not the caller's any more; nothing has
// changed then.
func (r *Run) Settle(ctx context.Context, t Task, o Outcome) (Record, error) {
	if !r.owns(t) {
		return Record{}, ErrStale
	}
	e, err := r.settle(ctx, t, o)
	if err != nil {
		return Record{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return e.record(), nil
}

func (r *Run) settle(ctx context.Context, t Task, o Outcome) (*entry, error) {
	f := t.frame
	if o.Err == nil {
		o.Err = checkEdge(f.node, o.Output.Edge)
	}
	v := verdict{output: o.Output.Value, edge: o.Output.Edge}
	if o.Err != nil {
		o.Err = newNodeError(f, o.Err).attempted(f.extra.get().attempts + o.Attempts)
		v = f.judge(ctx, o.Err)
	}
	e, late, err := r.write(t, o, v, false)
	if late != nil { // its time was over while it was evaluated
		o.Err = late
		e, _, err = r.write(t, o, f.judge(ctx, late), true)
	}
	return e, err
}

// write puts an outcome into the log as a verdict has it. If the time of the execution is
// over it only returns the failure that is to be judged, unless that was done.
func (r *Run) write(t Task, o Outcome, v verdict, judged bool) (_ *entry, late, _ error) {
	f := t.frame
	size, reply := f.weigh(v.output), replySize(o.Reply)
	if f.opener != nil && reply <= maxReply {
		size += int32(reply)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) {
		return nil, nil, ErrStale
	}
	r.clock.advance(instantOf(o.End))
	if !judged && f.cancelled == nil && f.pending != nil && f.phase != conclude {
		return nil, newNodeError(f, f.pending).attempted(f.extra.get().attempts + o.Attempts), nil
	}
	r.held--
	if o.Err != nil && f.cancelled == nil && FailureOf(o.Err).Reserved() {
		r.stop(o.Err)
	}
	f.called(o.Attempts, o.FromCache)
	f.replied(o.Reply, reply, o.AttemptTimes)
	if o.Pinned {
		f.extend().pinned = true
	}
	e := r.decide(f, v, o.Err)
	e.size = size
	r.commit(e)
	r.set(f, settled)
	return e, nil, nil
}

// decide returns what follows from a verdict, unless the walk is being ended.
func (r *Run) decide(f *frame, v verdict, err error) *entry {
	now := r.clock.now
	switch {
	case f.cancelled != nil && (f.opener != nil || interrupted(f.cancelled)):
		err = f.failed(f.cancelled)
		return f.failure(Cancelled, now, err)
	case f.cancelled != nil && err != nil:
		return f.failure(Done, now, newNodeError(f, endedBy(err, f.cancelled)))
	case v.retry:
		e := f.failure(Retried, now, err)
		e.extra.until = now.add(v.delay)
		return e
	}
	e := f.entry(Done, now)
	e.output, e.edge = v.output, int32(v.edge)
	e.fail(err)
	return e
}

func (f *frame) failure(event Event, now instant, err error) *entry {
	e := f.entry(event, now)
	e.edge = graph.NoEdge
	e.fail(err)
	return e
}

// owns is valid for those who do not have the lock.
func (r *Run) owns(t Task) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.valid(t)
}

// valid reports whether a task is still that of its frame.
func (r *Run) valid(t Task) bool {
	return t.frame != nil && t.frame.task == t.task && (t.frame.state == held || t.frame.state == calling)
}

// entry begins the next entry about the execution under way.
func (f *frame) entry(event Event, now instant) *entry {
	e := f.past.entry()
	f.describe(e, event, now)
	return e
}

func (f *frame) describe(e *entry, event Event, now instant) {
	e.frame, e.node, e.event, e.start, e.end = f, f.node, event, f.start, now
	e.execution, e.try = int32(len(f.past.executions)), f.try
	switch {
	case f.extra == nil:
	case event == Done || event == Cancelled:
		e.extra, f.extra = f.extra, nil
	default:
		so := *f.extra
		if event != Retried {
			so.reply, so.replyBytes, so.times = value.Undef, 0, nil
		}
		so.nextReply = nil
		e.extra = &so
	}
}

// commit puts an entry into the log and into the history of its frame.
func (r *Run) commit(e *entry) {
	f := e.frame
	f.last = e
	f.keepTimes(e)
	r.log.add(e)
	r.log.replies.add(e)
	r.charge(f.opened)
	switch e.event {
	case Done:
		f.add(e)
		f.random, f.opened, f.pending = nil, nil, nil
		r.total++
	case Retried:
		a := f.attempts
		if i := f.rule(FailureOf(e.extra.get().err)); i >= 0 {
			for len(a.tries) <= i {
				a.tries = append(a.tries, 0)
			}
			a.tries[i]++
		}
		if f.opened != nil && f.opened.do == graph.Ask {
			a.answer = f.opened.answer
		}
		f.opened, f.pending = nil, nil
	}
}

// Release lets the walk of a settled task go on.
func (r *Run) Release(t Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released(t)
}

func (r *Run) released(t Task) {
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
		until := last.extra.get().until
		if until <= r.clock.now {
			r.push(f)
			return
		}
		r.set(f, delayed)
		r.schedule(&r.timers.wall, timerEvent{until, f, f.task, goOn})
	case f == r.only:
		r.endAt(f)
	case last.event == Cancelled, last.edge == graph.NoEdge:
		r.end(f, last.extra.get().err)
	default:
		edge := int(last.edge)
		if edge >= len(f.node.Edges) {
			f.caught = true
		}
		next := f.node.Way(edge).To
		f.node, f.try, f.phase, f.approved = next, 0, begin, false
		f.attempts = nil
		if f.cancelled != nil {
			r.end(f, f.failed(f.cancelled))
			return
		}
		r.push(f)
	}
}

// Open does what the action of a task asks for beside calls of tools and
// outputs: it begins bodies, a called tool, a sleep or a question. The task
// then is not the caller's any more. The error is ErrStale as in Settle, or
// describes what is wrong with the action; the task then has to be settled with
// it.
func (r *Run) Open(t Task, a graph.Action, now time.Time) error {
	size := t.frame.weigh(a.Value)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) {
		return ErrStale
	}
	_, err := r.open(t.frame, a, "", size, instantOf(now))
	return err
}

// open is Open for a task that is the caller's. id is that of the run to wait for, if
// there is one.
func (r *Run) open(f *frame, a graph.Action, id string, size int32, now instant) (*opened, error) {
	if f.cancelled != nil {
		return nil, f.cancelled
	}
	if f.pending != nil {
		return nil, f.pending
	}
	o, until, err := f.open(a, now)
	if err != nil {
		return nil, err
	}
	o.run = id
	r.clock.advance(now)
	r.held--
	e := f.entry(Opened, r.clock.now)
	e.output, e.do, e.edge, e.size = a.Value, a.Do, int32(a.Edge), size
	x := e.extend()
	x.opened, x.until = o, until
	r.log.add(e)
	r.wait(o, until)
	return o, nil
}

// wait lets a frame wait for what it opened.
func (r *Run) wait(o *opened, until instant) {
	f := o.frame
	f.opened, o.until = o, until
	switch o.do {
	case graph.Sleep:
		r.set(f, sleeping)
		r.schedule(&r.timers.wall, timerEvent{until, f, f.task, goOn})
	case graph.Ask:
		r.set(f, asking)
		if action, decided := r.decision(f.node); decided { // while this one was evaluated
			r.decided(f, declinedError(f.node, action))
			return
		}
		r.asked = append(r.asked, f)
		if until != 0 {
			r.schedule(&r.timers.wall, timerEvent{until, f, f.task, expiry})
		}
		r.changed.Store(true)
	case graph.Detach:
		r.set(f, detached)
		if until != 0 {
			r.schedule(&r.timers.wall, timerEvent{until, f, f.task, expiry})
		}
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

// Call records that the caller of Take now calls the node's tool with these
// arguments. The error is ErrStale where it need not.
func (r *Run) Call(t Task, args value.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) || t.frame.cancelled != nil || t.frame.pending != nil {
		return ErrStale
	}
	t.frame.send(args)
	t.frame.state = calling
	return nil
}

// Return records that the call is over. The error is ErrStale if the execution
// does not wait for it any more.
func (r *Run) Return(t Task) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) {
		return ErrStale
	}
	t.frame.state = held
	return nil
}

// checkEdge refuses a way that the node did not declare.
func checkEdge(n *graph.Node, edge int) error {
	if edge >= 0 && edge < len(n.Edges) || edge == graph.NoEdge && (n.Kind.Role == graph.Exit || n.Graph != nil && n.Graph.Owner != nil) {
		return nil
	}
	return fmt.Errorf("the node went along edge %d, but it has %d", edge, len(n.Edges))
}

// weigh returns the size of an entry. Values may be views of the run, so it must
// be called without its lock.
func (f *frame) weigh(output value.Value) int32 {
	if f.opener == nil {
		return 0
	}
	return roughly(output) + roughly(f.extra.get().sent)
}

package executor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Port is the world as a Local driver reaches it. It must be safe for concurrent
// use.
type Port interface {
	graph.Caller
	// Now returns the time for records, limits and expressions.
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own after d has passed. What it
	// returns ends that, if it is not too late.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
	// Processor returns what shares processor time with other runs, for one
	// goroutine, or nil if nothing does. When a run goes on changes no result.
	Processor() expr.Processor
}

// Local drives runs in this process. It is safe for concurrent use; its fields
// must not change while it is used. The zero Local has no observers, and parks
// runs that ask.
type Local struct {
	// Info is what the calls of tools carry about the caller of the run; nil:
	// nothing. It is handed to the Port, and no part of the run.
	Info  *callinfo.Info
	Hooks []Hooks
	// Log gets what the JSON Logic operator `log` writes, and panics that were
	// survived; nil means nothing does.
	Log *slog.Logger
	// Gate is called before each task and may block; its error fails the task.
	Gate func(ctx context.Context, r *Run, t Task) error
	// Pin is called after Gate, before each attempt. If it reports true, the node
	// yields that and is not executed. It may be nil.
	Pin func(r *Run, t Task) (graph.Output, bool)
	// Ask asks a person; it returns soon after ctx is done. Without it a run that
	// waits for nothing but answers is parked.
	Ask func(ctx context.Context, r *Run, q Question) (value.Value, error)
}

// ErrParked is returned if a run waits only for answers of people. It goes on
// where it was once it has one (Run.Answer) and is driven again.
var ErrParked = errors.New("the run waits for an answer")

// Run drives r to its end, or until it is parked. It returns Run.Err, ErrParked,
// or the error of a start hook. Where ctx is done, the run ends with its cause.
func (l *Local) Run(ctx context.Context, r *Run, port Port) (err error) {
	ctx, done, err := l.runStart(ctx, r)
	defer func() { done(err) }()
	if err != nil {
		return err
	}
	d := &driving{Local: l, run: r, port: port, account: memory.AccountOf(ctx)}
	d.ctx.Context, d.ctx.driving = ctx, d
	defer d.ctx.free()
	r.Begin(port.Now())
	r.inline()
	if r.attach(d) {
		r.changed.Store(true) // the driver before may have missed something
		r.Advance(port.Now()) // before it is parked again, its time may be over
		d.reopen()
	}
	defer d.disarm()
	w := worker{driving: d, first: true, processor: port.Processor()}
	return w.drive()
}

// driving is one Local driving one Run. Any free goroutine takes a task: the
// goroutine of the caller, which never waits for a tool where anything else may
// have to be done meanwhile, and those that have waited for one.
type driving struct {
	*Local
	run     *Run
	port    Port
	ctx     runContext
	account *memory.Account // of the call; nil where memory is not counted
	over    atomic.Bool     // somebody else may drive the run now

	mu    sync.Mutex    // guards what follows, and the cancel of each frame
	wake  chan struct{} // something may be ready, or over; see waking
	armed time.Time
	stop  func() bool // of the timer; nil where there is none
	asked map[string]bool
}

// worker is one goroutine that does tasks.
type worker struct {
	*driving
	first     bool           // the goroutine of the caller
	processor expr.Processor // nil where processor time is not shared
	tasks     int            // done so far
	settled   Task           // to be released
}

func (d *worker) drive() error {
	for {
		d.work()
		d.release()
		if done, err := d.run.outcome(); done {
			return err
		}
		gone := d.ctx.Done()
		switch stopped := d.run.Stopped() != nil; {
		case stopped:
			gone = nil // that is known
		case d.ctx.Err() != nil:
			continue
		case d.Ask == nil && d.run.Parked() && d.park():
			return ErrParked
		}
		select {
		case <-d.waking():
		case <-gone:
		}
	}
}

func (d *driving) signal() {
	select {
	case d.waking() <- struct{}{}:
	default:
	}
}

// waking returns the channel by which the goroutine of the caller learns that
// something may be ready, or over. Most runs never need it.
func (d *driving) waking() chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wake == nil {
		d.wake = make(chan struct{}, 1)
	}
	return d.wake
}

// unshared is the number of tasks that take too little processor time to be
// shared, but for expressions.
const unshared = 64

// yield lets others compute, in a run that is long.
func (d *worker) yield(ctx context.Context) {
	if d.tasks++; d.processor != nil && d.tasks > unshared {
		d.processor.Yield(ctx)
	}
}

// release frees the processor before something that may block.
func (d *worker) release() {
	if d.processor != nil {
		d.processor.Release()
	}
}

// work does tasks until none is ready.
func (d *worker) work() {
	for {
		d.checkStopped()
		t, ok := d.take()
		d.applyChanges()
		if !ok {
			break
		}
		d.perform(t)
	}
	if !d.first {
		d.release()
		d.signal()
	}
}

// take releases the task that the worker has settled, and returns the next one.
// The goroutine of the caller alone ends the drive; all others have to see that it
// has not, or they would take tasks of the next one.
func (d *worker) take() (Task, bool) {
	if !d.first {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	settled := d.settled
	d.settled = Task{}
	if d.over.Load() {
		d.run.Release(settled)
		return Task{}, false
	}
	return d.run.follow(settled)
}

// checkStopped stops the run if there is too little memory for it, or where its caller
// has gone. It does nothing after the end of the drive.
func (d *driving) checkStopped() {
	short := d.account.Err()
	if short == nil && d.ctx.Context.Err() == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.over.Load():
	case short != nil:
		d.run.halt(&InterruptedError{Tool: d.run.graph.Name, Err: short}, instantOf(d.port.Now()))
	default:
		d.run.halt(context.Cause(d.ctx.Context), instantOf(d.port.Now()))
	}
}

// applyChanges applies what changed in the run beside tasks: it cancels work, asks
// questions and sets the timer.
func (d *driving) applyChanges() {
	if !d.run.changed.Load() {
		return
	}
	cut, asks, stopped := d.run.changes()
	if stopped != nil {
		d.ctx.cancel(stopped)
	}
	for _, t := range cut {
		d.interrupt(t)
	}
	if asks && d.Ask != nil {
		d.ask()
	}
	d.arm()
}

// perform does one task.
func (d *worker) perform(t Task) {
	f := t.frame
	if f.local.ctx == nil {
		if err := d.enter(t); err != nil {
			d.settle(t, Outcome{Err: err})
			return
		}
	}
	if !t.Concludes() {
		d.attempt(f)
	}
	if d.Gate != nil {
		d.release()
		ctx := f.local.attempt
		if t.Concludes() {
			ctx = f.local.ctx // the attempt may have been ended
		}
		if err := d.Gate(ctx, d.run, t); err != nil {
			d.settle(t, Outcome{Err: err})
			return
		}
	}
	if d.Pin != nil && !t.Concludes() {
		if out, ok := d.Pin(d.run, t); ok {
			d.settle(t, Outcome{Output: out, Pinned: true})
			return
		}
	}
	f.env.Processor = d.processor
	d.yield(f.local.ctx)
	if t.Concludes() {
		out, err := t.Conclude(f.local.ctx)
		d.settle(t, Outcome{Output: out, Err: err})
		return
	}
	a, err := t.Begin(f.local.attempt)
	if err == nil {
		err = d.account.Err() // the value is not what it should be
	}
	switch {
	case err != nil:
		d.settle(t, Outcome{Err: err})
	case a.Do == graph.Yield:
		d.settle(t, Outcome{Output: graph.Output{Value: a.Value, Edge: a.Edge}})
	case a.Do != graph.CallTool:
		if a.Do == graph.Ask {
			d.mu.Lock()
			f.local.asking = f.local.attempt
			d.mu.Unlock()
		}
		if err := d.run.Open(t, a, d.port.Now()); err != nil && !errors.Is(err, ErrStale) {
			d.settle(t, Outcome{Err: err})
		}
		d.applyChanges()
	case f.opener == nil && f.node.Policy.Timeout == 0:
		f.send(a.Value)
		reply, err := d.call(f.local.attempt, d.infoFor(t), f.node, a)
		d.replied(t, a, reply, err)
	case d.first:
		go d.driving.waitApart(t, a)
	default:
		d.wait(t, a)
	}
}

// waitApart is wait in a goroutine of its own, which then does other tasks.
func (d *driving) waitApart(t Task, a graph.Action) {
	w := worker{driving: d, processor: d.port.Processor()}
	w.wait(t, a)
	w.work()
}

// wait calls a tool where other things go on meanwhile.
func (d *worker) wait(t Task, a graph.Action) {
	ctx, info, n := t.frame.local.attempt, d.infoFor(t), t.Node() // the frame may get another task soon
	if err := d.run.Call(t, a.Value); err != nil {
		d.settle(t, Outcome{Err: err})
		return
	}
	if d.run.Ready() {
		d.signal()
	}
	reply, err := d.call(ctx, info, n, a)
	if d.run.Return(t) != nil {
		if d.Log != nil && err == nil {
			d.Log.Warn("a call ended after its node was given up", "tool", d.run.graph.Name, "node", n.ID)
		}
		return
	}
	d.replied(t, a, reply, err)
}

// infoFor returns what the call of a task carries: a key, too, if it may be
// repeated.
func (d *driving) infoFor(t Task) *callinfo.Info {
	key := t.IdempotencyKey()
	if key == "" {
		return d.Info
	}
	own := *d.Info.OrNone()
	own.IdempotencyKey = key
	return &own
}

// call calls the tool of a node. A panic is an error.
func (d *worker) call(ctx context.Context, info *callinfo.Info, n *graph.Node, a graph.Action) (result graph.ToolResult, err error) {
	defer survive(&err)
	d.release()
	return d.port.CallTool(ctx, info, n.Server, n.Tool, a.Value)
}

func (d *worker) replied(t Task, a graph.Action, r graph.ToolResult, err error) {
	t.frame.env.Processor = d.processor
	o := Outcome{
		Err: named(graph.FailProtocol, err), Attempts: r.Attempts, FromCache: r.FromCache,
		Reply: r.Reply, AttemptTimes: r.AttemptTimes,
	}
	if err == nil {
		o.Output, o.Err = t.End(t.frame.local.attempt, a, r.Reply)
	}
	d.settle(t, o)
}

func (d *worker) settle(t Task, o Outcome) {
	f := t.frame
	o.End = d.port.Now()
	if err := d.account.Err(); err != nil {
		o.Err = err // what came of the task means nothing
	} else if d.account != nil {
		o.Output.Value = o.Output.Value.Metered(d.account)
	}
	if o.Err != nil {
		d.checkStopped()
		d.survived(t, o.Err)
	}
	e, err := d.run.settle(f.local.ctx, t, o)
	if err != nil {
		return
	}
	d.endAttempt(f)
	if len(d.Hooks) > 0 {
		d.release()
	}
	if e.event == Retried {
		d.retry(f, e)
	} else {
		d.leave(f, e)
	}
	d.settled = t
}

// survived logs a panic, which is a mistake in the program.
func (d *driving) survived(t Task, err error) {
	var p *PanicError
	if d.Log != nil && errors.As(err, &p) {
		d.Log.ErrorContext(t.frame.local.ctx, "a node panicked", "tool", d.run.graph.Name, "node", t.Path(), "panic", p.Value, "stack", string(p.Stack))
	}
}

// ask asks the questions that are new, unless their attempt was cancelled and has yet
// to end. d.mu is held from the look at the run to the mark, so that none is found that
// was answered meanwhile.
func (d *driving) ask() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.run.questions() {
		if d.asked[q.ID] || q.frame.local.asking.Err() != nil {
			continue
		}
		if d.asked == nil {
			d.asked = map[string]bool{}
		}
		d.asked[q.ID] = true
		go d.question(q)
	}
}

func (d *driving) question(q Question) {
	d.mu.Lock()
	ctx := q.frame.local.asking
	d.mu.Unlock()
	q = q.shown()
	answer, err := d.Ask(ctx, d.run, q)
	if ctx.Err() == nil {
		_ = d.run.reply(q.ID, answer, err, d.port.Now()) // stale where nobody asks any more
	}
	d.mu.Lock()
	delete(d.asked, q.ID)
	d.mu.Unlock()
	d.run.changed.Store(true) // the next attempt may have asked the same meanwhile
	d.runChanged()
}

// runChanged implements waiter.
func (d *driving) runChanged() {
	d.applyChanges()
	d.signal()
}

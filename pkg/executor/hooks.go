package executor

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Hooks observe runs; any field may be nil. Start hooks are called in the order
// of Local.Hooks, each with the context that the one before returned, and may
// block or refuse. Done hooks are called in the reverse order, once for each of
// the Hooks whose start succeeded or is nil, whatever happened in between. The
// hooks of executions that run side by side are called at the same time.
type Hooks struct {
	RunStart func(ctx context.Context, r *Run) (context.Context, error)
	RunDone  func(ctx context.Context, r *Run, err error)
	// NodeStart is called once for an execution, before its first attempt. The
	// contexts of a body derive from that of the execution that it is part of.
	NodeStart func(ctx context.Context, r *Run, t Task) (context.Context, error)
	// NodeRetry is called with the record, of event Retried, of each attempt that
	// failed and that the execution makes again. Its context is that of NodeDone.
	NodeRetry func(ctx context.Context, r *Run, rec Record)
	// NodeDone is called with the record of the execution: of event Done or
	// Cancelled or, where the run is parked, Opened.
	NodeDone func(ctx context.Context, r *Run, rec Record)
}

// local is what a Local driver knows of a frame. It is that of the execution
// under way, and belongs to the goroutine that has the task.
type local struct {
	ctx         context.Context // of the execution; nil before it is entered
	attempt     context.Context // of the attempt
	undo        []undo
	cancellable bool
	// What the mutex of the driver guards: what ends the attempt under way alone,
	// or nil if nothing can, and the context of a question.
	interruptTask uint32 // the generation of the task that it is of
	interrupt     context.CancelCauseFunc
	asking        context.Context
}

// undo has the hooks to be called after an attempt and after the execution.
type undo struct {
	retry, done func(context.Context, *Run, Record) // either may be nil
	ctx         context.Context
}

// runStart calls the start hooks and returns what calls the done hooks.
func (l *Local) runStart(ctx context.Context, r *Run) (context.Context, func(error), error) {
	if len(l.Hooks) == 0 {
		return ctx, func(error) {}, nil
	}
	var undo []func(error)
	done := func(err error) {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i](err)
		}
	}
	for _, h := range l.Hooks {
		if h.RunStart != nil {
			next, err := h.RunStart(ctx, r)
			if err != nil {
				return ctx, done, err
			}
			ctx = next
		}
		if h.RunDone != nil {
			at := ctx
			undo = append(undo, func(err error) { h.RunDone(at, r, err) })
		}
	}
	return ctx, done, nil
}

// enter begins an execution for its observers.
func (d *driving) enter(t Task) error {
	f := t.frame
	var ctx context.Context = &d.ctx
	if f.opener != nil && f.opener.frame.local.attempt != nil { // a NodeRun begins within it
		ctx = f.opener.frame.local.attempt
	}
	if d.Log != nil && f.env.Log == nil {
		f.env.Log = f.log
	}
	f.local.ctx, f.local.attempt, f.local.undo = ctx, ctx, f.local.undo[:0]
	if len(d.Hooks) == 0 {
		return nil
	}
	for _, h := range d.Hooks {
		if h.NodeStart != nil {
			next, err := h.NodeStart(ctx, d.run, t)
			if err != nil {
				return err
			}
			ctx = next
		}
		if h.NodeDone != nil || h.NodeRetry != nil {
			f.local.undo = append(f.local.undo, undo{h.NodeRetry, h.NodeDone, ctx})
		}
	}
	f.local.ctx, f.local.attempt = ctx, ctx
	return nil
}

// attempt makes the context of an attempt, where something may have to end it
// alone.
func (d *driving) attempt(f *frame) {
	n := f.node
	if n.Policy.Timeout == 0 && n.Bodies == nil && n.Callee == nil {
		if f.try > 1 {
			f.local.attempt = f.local.ctx
		}
		return
	}
	ctx, cancel := context.WithCancelCause(f.local.ctx)
	f.local.attempt, f.local.cancellable = ctx, true
	d.mu.Lock()
	defer d.mu.Unlock()
	f.local.interrupt, f.local.interruptTask = cancel, f.task
}

// endAttempt frees the context of an attempt.
func (d *driving) endAttempt(f *frame) {
	if !f.local.cancellable {
		return
	}
	f.local.cancellable = false
	d.mu.Lock()
	defer d.mu.Unlock()
	f.local.interrupt(errGivenUp)
	f.local.interrupt = nil
}

// interrupt ends what an attempt does, where it can be ended alone. What is
// beneath it ends too.
func (d *driving) interrupt(t Task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := &t.frame.local; l.interrupt != nil && l.interruptTask == t.task {
		l.interrupt(errGivenUp)
	}
}

var errGivenUp error = &graph.Failure{Name: graph.FailCancelled, Message: "the node was given up"}

// leave ends an execution for its observers.
func (d *driving) leave(f *frame, e *entry) {
	if undo := f.local.undo; len(undo) > 0 {
		rec := d.run.recordOf(e)
		for i := len(undo) - 1; i >= 0; i-- {
			if u := undo[i]; u.done != nil {
				u.done(u.ctx, d.run, rec)
			}
		}
	}
	f.local.ctx, f.local.undo = nil, f.local.undo[:0]
}

// retry tells the observers of an execution that it is tried again.
func (d *driving) retry(f *frame, e *entry) {
	if undo := f.local.undo; len(undo) > 0 {
		rec := d.run.recordOf(e)
		for i := len(undo) - 1; i >= 0; i-- {
			if u := undo[i]; u.retry != nil {
				u.retry(u.ctx, d.run, rec)
			}
		}
	}
}

// reopen begins the executions, for their observers, that a run which goes on
// has under way: the outermost first.
func (d *driving) reopen() {
	for _, f := range d.run.waiting() {
		if d.enter(f.current()) == nil {
			d.attempt(f)
			f.local.asking = f.local.attempt
		}
	}
}

// park ends them. It reports false where the run goes on by itself after all.
func (d *driving) park() bool {
	d.disarm()
	if !d.run.Parked() {
		d.over.Store(false)
		d.run.attach(d)
		d.run.changed.Store(true)
		d.signal()
		return false
	}
	open := d.run.waiting()
	for i := len(open) - 1; i >= 0; i-- {
		f := open[i]
		e := &entry{}
		f.describe(e, Opened, d.run.time())
		e.do, e.output, e.edge = f.opened.do, f.opened.value, graph.NoEdge
		d.endAttempt(f)
		d.leave(f, e)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run.detach(open)
	return true
}

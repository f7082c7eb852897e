package executor

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
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
	// NodeDone is called with the record of the execution: of event Done or
	// Cancelled or, where the run is parked, Opened.
	NodeDone func(ctx context.Context, r *Run, rec Record)
}

// local is what a Local driver knows of a frame. It is that of the execution
// under way, and belongs to whoever has the task.
type local struct {
	ctx         context.Context // of the execution; nil before it is entered
	attempt     context.Context // of the attempt
	cancellable bool
	undo        []undo
}

// undo is a done hook to be called.
type undo struct {
	done func(context.Context, *Run, Record)
	ctx  context.Context
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
	ctx := d.ctx
	if f.opener != nil {
		ctx = f.opener.frame.local.attempt
	}
	if d.Log != nil && f.env.Log == nil {
		f.env.Log = func(v value.Value) {
			d.Log.InfoContext(f.local.ctx, "log", "tool", d.run.graph.Name, "node", f.node.ID, "value", v.JSON())
		}
	}
	f.local = local{ctx: ctx, attempt: ctx, undo: f.local.undo[:0]}
	for _, h := range d.Hooks {
		if h.NodeStart != nil {
			next, err := h.NodeStart(ctx, d.run, t)
			if err != nil {
				return err
			}
			ctx = next
		}
		if h.NodeDone != nil {
			f.local.undo = append(f.local.undo, undo{h.NodeDone, ctx})
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
		f.local.attempt = f.local.ctx
		return
	}
	ctx, cancel := context.WithCancelCause(f.local.ctx)
	f.local.attempt, f.local.cancellable = ctx, true
	d.mu.Lock()
	defer d.mu.Unlock()
	f.interrupt, f.interruptTask = cancel, f.task
}

// endAttempt gives the context of an attempt free.
func (d *driving) endAttempt(f *frame) {
	if !f.local.cancellable {
		return
	}
	f.local.cancellable = false
	d.mu.Lock()
	defer d.mu.Unlock()
	f.interrupt(errGivenUp)
	f.interrupt = nil
}

// interrupt ends what an attempt does, where it can be ended alone. What is
// beneath it ends too.
func (d *driving) interrupt(t Task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := t.frame; f.interrupt != nil && f.interruptTask == t.task {
		f.interrupt(errGivenUp)
	}
}

var errGivenUp error = &graph.Failure{Name: graph.FailCancelled, Message: "the node was given up"}

// leave ends an execution for its observers.
func (d *driving) leave(f *frame, e *entry) {
	if undo := f.local.undo; len(undo) > 0 {
		rec := e.record()
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i].done(undo[i].ctx, d.run, rec)
		}
	}
	f.local = local{undo: f.local.undo[:0]}
}

// reopen begins the executions, for their observers, that a run which goes on
// has under way: the outermost first.
func (d *driving) reopen() {
	for _, f := range d.run.waiting() {
		if d.enter(f.current()) == nil {
			d.attempt(f)
			f.asking = f.local.attempt
		}
	}
}

// park ends them. It reports false where the run goes on by itself after all.
func (d *driving) park() bool {
	d.disarm()
	if !d.run.Parked() {
		d.over.Store(false)
		d.run.changed.Store(true)
		d.signal()
		return false
	}
	open := d.run.waiting()
	for i := len(open) - 1; i >= 0; i-- {
		f := open[i]
		e := f.entry(d.run.time())
		e.event, e.do, e.output, e.edge = Opened, f.opened.do, f.opened.value, graph.NoEdge
		d.endAttempt(f)
		d.leave(f, &e)
	}
	return true
}

// waiting returns the frames that wait for what they opened, the outermost first.
func (r *Run) waiting() []*frame {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := []*frame{}
	var add func(f *frame)
	add = func(f *frame) {
		if f.opened != nil && f.state != ended {
			list = append(list, f)
			for _, body := range f.opened.live {
				add(body)
			}
		}
	}
	add(r.root)
	return list
}

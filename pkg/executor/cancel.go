package executor

import (
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Stop ends the run for a cause that nothing in the graph handles: it was
// cancelled, or has to end to protect the process. Tasks that are under way
// still have to be settled; a Local ends what they do.
func (r *Run) Stop(cause error) {
	r.halt(cause, 0)
	r.notify()
}

// halt is Stop for a driver, which knows the time: the grace of tasks under way counts
// from now on.
func (r *Run) halt(cause error, now instant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.advance(now)
	r.stop(named(graph.FailCancelled, cause))
}

func (r *Run) stop(cause error) {
	if r.done || r.stopped != nil {
		return
	}
	r.stopped = cause
	r.changed.Store(true)
	r.cancel(&r.root, cause)
}

// Stopped returns what Stop was called with or which limit was exceeded, or nil
// if the run goes its way.
func (r *Run) Stopped() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// cancel ends a walk and all beneath it: at once if its task is not being
// executed, else when the task is settled.
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
		if f.state == detached {
			r.interrupt(f)
		}
		f.pending, f.phase = cause, conclude
		r.unask(f)
		r.push(f)
	}
}

// interrupt cancels the work of a task.
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
		r.schedule(&r.timers.wall, timerEvent{r.clock.now.add(grace), o.frame, o.frame.task, abandon})
		return
	}
	r.join(o)
}

// errBeside ends what is not needed any more.
var errBeside error = &graph.Failure{Name: graph.FailCancelled, Message: "ended by what happened beside it"}

// Cut returns the tasks under way that were cancelled since the last Cut, and
// those whose bodies are decided. What they do, and what is done beneath them,
// should end soon.
func (r *Run) Cut() []Task {
	cut, _, _ := r.changes()
	return cut
}

// changes returns what may have changed beside tasks: Cut, whether there are questions,
// and Stopped.
func (r *Run) changes() (cut []Task, asks bool, stopped error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cut, r.cut = r.cut, nil
	return cut, len(r.asked) > 0, r.stopped
}

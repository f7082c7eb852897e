package executor

import (
	"fmt"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Replace sets the output of an execution for all that follows it. rec is the
// record that Settle or a NodeDone hook was given; the walk must not have gone on
// since. The way of the walk stays as it is, and so does that record: another one,
// of event Replaced, has the new output. The error is ErrStale where the walk has
// gone on or was cancelled, and where the execution failed.
func (r *Run) Replace(rec Record, output value.Value, now time.Time) error {
	size := roughly(output)
	r.mu.Lock()
	defer r.mu.Unlock()
	f, _, _, err := r.find(rec.Frame, false)
	if err != nil || f == nil || f.state != settled || f.cancelled != nil {
		return ErrStale
	}
	last := f.last
	if last.event != Done || last.failed() || int(last.execution) != rec.Execution {
		return ErrStale
	}
	r.clock.advance(instantOf(now))
	e := f.replacement(last, output, r.clock.now)
	if f.opener != nil {
		e.size = size
	}
	r.append(e)
	return nil
}

// replacement puts another output into the history of a walk, for its last
// execution.
func (f *frame) replacement(last *entry, output value.Value, now instant) *entry {
	e := f.past.entry()
	e.frame, e.node, e.event, e.output, e.edge = f, last.node, Replaced, output, last.edge
	e.start, e.end, e.execution, e.try = last.start, now, last.execution, last.try
	f.past.replace(e)
	return e
}

// replace puts an entry in the place of the last execution. Lists of outputs that
// were given away stay as they are.
func (h *history) replace(e *entry) {
	h.executions[e.execution] = e
	if h.visits == nil {
		return
	}
	v := &h.visits[e.node.Index]
	if last := len(v.places) - 1; len(v.outputs) > last {
		v.outputs = slices.Clone(v.outputs[:last])
	}
}

// replayReplaced replays what Replace did. The walk has gone on meanwhile, or
// has ended, but the output has not been read yet.
func (r *Run) replayReplaced(rec *Record) error {
	f, o, slot, err := r.find(rec.Frame, true)
	if err != nil {
		return err
	}
	if f == nil {
		if !o.had[slot] || slices.Contains(o.failed, slot) {
			return fmt.Errorf("walk %q has no result", rec.Frame)
		}
		o.results[slot] = resultOf(rec.Output)
		r.appendForeign(rec)
		return nil
	}
	last := len(f.past.executions) - 1
	still := f.state == ended || f.state == ready && f.try == 0
	if last != rec.Execution || !still || f.past.executions[last].node.ID != rec.Node || f.past.executions[last].failed() {
		return fmt.Errorf("it is not of the last execution of its walk")
	}
	r.clock.advance(instantOf(rec.End))
	r.append(f.replacement(f.past.executions[last], rec.Output, instantOf(rec.End)))
	return nil
}

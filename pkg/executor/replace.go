package executor

import (
	"fmt"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Replace sets the output of an execution for all that is evaluated from now on. rec
// is a record of it, of event Done or Replaced. Nothing of its walk may be evaluated
// meanwhile: it is called in a NodeDone hook, or while a Gate holds the tasks. The way
// of the walk stays as it is, and so does that record: another one, of event Replaced,
// has the new output. The error is ErrStale where the walk is over, ends with another
// execution or was cancelled, and where the execution failed.
func (r *Run) Replace(rec Record, output value.Value, now time.Time) error {
	size := roughly(output)
	r.mu.Lock()
	defer r.mu.Unlock()
	f, _, _, err := r.find(rec.Frame, false)
	if err != nil || f == nil || f.state == ended || f.cancelled != nil {
		return ErrStale
	}
	e, err := f.executionOf(rec.Execution, rec.Node)
	if err != nil || f.ending() && rec.Execution != len(f.past.executions)-1 {
		return ErrStale
	}
	r.clock.advance(instantOf(now))
	e = r.replace(e, output, r.clock.now)
	if f.opener != nil {
		e.size = size
	}
	r.log.add(e)
	return nil
}

// executionOf returns the entry of an execution that is over and did not fail.
func (f *frame) executionOf(at int, node string) (*entry, error) {
	if at < 0 || at >= len(f.past.executions) {
		return nil, fmt.Errorf("execution %d of its walk is not over", at)
	}
	e := f.past.executions[at]
	switch {
	case e.node.ID != node:
		return nil, fmt.Errorf("execution %d of its walk is of node %q", at, e.node.ID)
	case e.failed():
		return nil, fmt.Errorf("execution %d of its walk failed", at)
	}
	return e, nil
}

// ending reports whether the walk ends with the execution that was settled last.
func (f *frame) ending() bool {
	return f.state == settled && (f.last.event == Cancelled || f.last.event == Done && f.last.edge == graph.NoEdge)
}

// replace puts another output into the history of a walk, in the place of an
// execution. r.mu is held.
func (r *Run) replace(was *entry, output value.Value, now instant) *entry {
	f := was.frame
	e := f.past.entry()
	e.frame, e.node, e.event, e.output, e.edge = f, was.node, Replaced, output, was.edge
	e.start, e.end, e.execution, e.try = was.start, now, was.execution, was.try
	r.replaced = append(r.replaced, r.log.next)
	x := e.extend()
	x.was, x.version = was, int32(len(r.replaced))
	f.past.replace(e)
	r.replacements.Store(x.version)
	return e
}

// replace puts an entry in the place of an execution. Lists of outputs that were
// given away stay as they are.
func (h *history) replace(e *entry) {
	h.executions[e.execution] = e
	if h.visits == nil {
		return
	}
	v := &h.visits[e.node.Index]
	if i, _ := slices.BinarySearch(v.places, e.execution); len(v.outputs) > i {
		v.outputs = slices.Clone(v.outputs[:i])
	}
}

// replayReplaced replays what Replace did. The walk may have ended meanwhile.
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
	e, err := f.executionOf(rec.Execution, rec.Node)
	if err != nil {
		return err
	}
	r.clock.advance(instantOf(rec.End))
	r.log.add(r.replace(e, rec.Output, instantOf(rec.End)))
	return nil
}

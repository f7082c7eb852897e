package executor

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Replay makes the run that has these records, in their order: all of a run, or
// the first of them, which make the run as it was then. It evaluates nothing.
// Tasks that were under way are ready again. The error explains which record
// does not fit the graph.
func Replay(g *graph.Graph, args value.Value, seed uint64, records iter.Seq[Record]) (*Run, error) {
	r := NewRun(g, args, seed)
	for rec := range records {
		if err := r.Follow(rec); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Follow adds the next record of a run that something else drives, as Replay does.
// Nothing may drive r meanwhile.
func (r *Run) Follow(rec Record) error {
	if err := r.replay(&rec); err != nil {
		return fmt.Errorf("record %d: %w", rec.Index, err)
	}
	return nil
}

func (r *Run) replay(rec *Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.Index < r.log.next {
		return fmt.Errorf("its index is less than %d", r.log.next)
	}
	r.log.next = rec.Index
	switch rec.Event {
	case Cancelled:
		r.appendForeign(rec)
		return nil
	case Replaced:
		return r.replayReplaced(rec)
	}
	f, _, _, err := r.find(rec.Frame, true)
	if err == nil && f == nil {
		err = fmt.Errorf("walk %q is over", rec.Frame)
	}
	if err != nil {
		return err
	}
	if err := f.fits(rec); err != nil {
		return err
	}
	r.begin(instantOf(rec.Start))
	if (f.state == ready || f.state == delayed) && f.phase != conclude {
		f.start, f.try = instantOf(rec.Start), int32(rec.Try)
		f.task++
		if limit := f.node.Policy.Timeout; limit > 0 {
			r.schedule(&r.timers.work, timerEvent{r.clock.work().add(limit), f, f.task, deadline})
		}
		r.set(f, held)
	}
	r.clock.advance(instantOf(rec.End))
	f.extra = nil
	if !rec.Arguments.IsUndefined() || rec.Attempts != 0 || rec.FromCache || rec.AttemptTimes != nil || rec.Pinned {
		f.extra = &extra{sent: rec.Arguments, attempts: rec.Attempts, fromCache: rec.FromCache, times: rec.AttemptTimes, pinned: rec.Pinned}
		f.extra.reply, f.extra.replyBytes = rec.Reply, max(rec.ReplyBytes, replySize(rec.Reply))
	}
	if rec.Event == Done {
		f.attempts = nil // the record has them
	}
	e := f.entry(rec.Event, instantOf(rec.End))
	e.output, e.edge, e.do, e.try = rec.Output, int32(rec.Edge), rec.Do, int32(rec.Try)
	e.fail(rec.Err)
	if !rec.Until.IsZero() {
		e.extend().until = instantOf(rec.Until)
	}
	switch rec.Event {
	case Opened:
		return r.replayOpened(f, rec, e)
	case Answered:
		if f.state != asking {
			return fmt.Errorf("node %q does not ask", rec.Node)
		}
		r.log.add(e)
		r.answer(e)
	case Done, Retried:
		if rec.Event == Done && rec.Edge != graph.NoEdge && f.node.Way(rec.Edge) == nil {
			return fmt.Errorf("node %q has no edge %d", rec.Node, rec.Edge)
		}
		r.unask(f)
		r.forget(f.opened)
		r.commit(e)
		r.release(f)
	default:
		return fmt.Errorf("its event is unknown")
	}
	return nil
}

// appendForeign keeps a record as it is.
func (r *Run) appendForeign(rec *Record) {
	r.log.add(&entry{frame: &r.root, node: r.graph.Entry, event: rec.Event, extra: &extra{foreign: rec}})
}

func (r *Run) replayOpened(f *frame, rec *Record, e *entry) error {
	if f.state != held {
		return fmt.Errorf("node %q waits already", rec.Node)
	}
	o, _, err := f.open(graph.Action{Value: rec.Output, Edge: rec.Edge, Do: rec.Do}, e.end)
	if err == nil {
		err = o.restore(rec.Results, rec.Failed)
	}
	if err != nil {
		return err
	}
	o.run = rec.Run
	e.extend().opened = o
	r.log.add(e)
	r.wait(o, e.extra.get().until)
	return nil
}

// fits reports whether a record can be the next of a frame.
func (f *frame) fits(rec *Record) error {
	switch {
	case f.node == nil:
		return fmt.Errorf("its walk is over")
	case f.node.ID != rec.Node:
		return fmt.Errorf("it is of node %q, but the walk stands at node %q", rec.Node, f.node.ID)
	case len(f.past.executions) != rec.Execution:
		return fmt.Errorf("it is execution %d of its walk, which has had %d", rec.Execution, len(f.past.executions))
	}
	return nil
}

// find returns the walk with an id or, where that is over and nil, the fork or
// call that it was of, and its place there. For a replay it begins bodies.
func (r *Run) find(id string, begin bool) (f *frame, o *opened, slot int, err error) {
	f = &r.root
	if id == "" {
		return f, nil, 0, nil
	}
	for part := range strings.SplitSeq(id, "/") {
		if f == nil {
			return nil, nil, 0, fmt.Errorf("walk %q is over", id)
		}
		execution, place, ok := strings.Cut(part, ".")
		at, err1 := strconv.Atoi(execution)
		slot, err = strconv.Atoi(place)
		o = f.opened
		if !ok || err1 != nil || err != nil || o == nil || o.execution != at || slot < 0 || slot >= o.bodies || !begin && slot >= o.next {
			return nil, nil, 0, fmt.Errorf("no walk %q is under way", id)
		}
		for o.next <= slot {
			if o.skip(); o.next <= slot {
				body := o.begin(o.next)
				r.clock.active++
				r.push(body)
				o.next++
			}
		}
		f = o.body(slot)
	}
	return f, o, slot, nil
}

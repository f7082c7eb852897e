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
// Tasks that were under way are ready again. The error says which record does not
// fit the graph.
func Replay(g *graph.Graph, args value.Value, seed uint64, records iter.Seq[Record]) (*Run, error) {
	r := NewRun(g, args, seed)
	for rec := range records {
		if err := r.replay(&rec); err != nil {
			return nil, fmt.Errorf("record %d: %w", rec.Index, err)
		}
	}
	return r, nil
}

func (r *Run) replay(rec *Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.Index < r.next {
		return fmt.Errorf("its index is less than %d", r.next)
	}
	r.next = rec.Index
	if rec.Event == Cancelled {
		r.append(&entry{frame: r.root, node: r.graph.Entry, event: Cancelled, more: &more{foreign: rec}})
		return nil
	}
	f, err := r.frame(rec.Frame)
	if err != nil {
		return err
	}
	if err := f.fits(rec); err != nil {
		return err
	}
	r.begin(instantOf(rec.Start))
	if (f.state == ready || f.state == delayed) && f.phase == begin {
		f.start, f.try = instantOf(rec.Start), rec.Try
		f.task++
		if limit := f.node.Policy.Timeout; limit > 0 {
			r.appoint(&r.agenda.work, appointment{r.clock.work().add(limit), f, f.task, deadline})
		}
		r.set(f, held)
	}
	r.clock.tell(instantOf(rec.End))
	f.sent, f.attempts, f.fromCache = rec.Arguments, rec.Attempts, rec.FromCache
	e := f.entry(instantOf(rec.End))
	e.event, e.output, e.err, e.edge = rec.Event, rec.Output, rec.Err, int32(rec.Edge)
	e.until, e.do, e.try = instantOf(rec.Until), rec.Do, int32(rec.Try)
	switch rec.Event {
	case Opened:
		return r.replayOpened(f, rec, &e)
	case Answered:
		if f.state != asking {
			return fmt.Errorf("node %q does not ask", rec.Node)
		}
		r.append(&e)
		r.answer(&e)
	case Done, Retried:
		if rec.Event == Done && rec.Edge != graph.NoEdge && f.node.Way(rec.Edge) == nil {
			return fmt.Errorf("node %q has no edge %d", rec.Node, rec.Edge)
		}
		r.unask(f)
		if f.opened != nil {
			f.opened.closing = true
		}
		r.commit(&e)
		r.release(f)
	default:
		return fmt.Errorf("its event is unknown")
	}
	return nil
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
	e.more = &more{opened: o}
	r.append(e)
	r.wait(o, e.until)
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

// frame finds the walk with an id, and begins bodies on the way to it.
func (r *Run) frame(id string) (*frame, error) {
	f := r.root
	if id == "" {
		return f, nil
	}
	for part := range strings.SplitSeq(id, "/") {
		execution, slot, ok := strings.Cut(part, ".")
		at, err1 := strconv.Atoi(execution)
		i, err2 := strconv.Atoi(slot)
		o := f.opened
		if !ok || err1 != nil || err2 != nil || o == nil || o.execution != at || i < 0 || i >= o.bodies {
			return nil, fmt.Errorf("no walk %q is under way", id)
		}
		for o.next <= i {
			if o.skip(); o.next <= i {
				body := o.begin(o.next)
				r.clock.active++
				r.push(body)
				o.next++
			}
		}
		if f = o.body(i); f == nil {
			return nil, fmt.Errorf("walk %q is over", id)
		}
	}
	return f, nil
}

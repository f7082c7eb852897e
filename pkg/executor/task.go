package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Task is one thing to be done: to begin an attempt of a node, or to go on with
// one that waited. It is valid until it is settled, or cancelled.
type Task struct {
	frame          *frame
	task           uint32
	phase          phase
	node           *graph.Node
	execution, try int
}

// current returns the task of a frame.
func (f *frame) current() Task {
	return Task{f, f.task, f.phase, f.node, len(f.past.executions), f.try}
}

// Node returns the node.
func (t Task) Node() *graph.Node { return t.node }

// Execution counts the executions of the node's walk from 0.
func (t Task) Execution() int { return t.execution }

// Path returns where the node stands, for people: "sizes[3].info".
func (t Task) Path() string { return join(t.frame.path(), t.node.ID) }

// ID names the execution in its run. It is the same for every attempt and in
// every replay, and no other execution has it.
func (t Task) ID() string { return fmt.Sprintf("%s:%d", t.frame.id(), t.execution) }

// Attempt counts the attempts of the execution from 1.
func (t Task) Attempt() int { return t.try }

// Concludes reports whether the execution goes on with what it waited for:
// Conclude is to be called, not Begin.
func (t Task) Concludes() bool { return t.phase == conclude }

// Begin evaluates what the node wants to be done. A panic is an error.
func (t Task) Begin(ctx context.Context) (a graph.Action, err error) {
	defer survive(&err)
	f := t.frame
	return f.node.Step.Begin(ctx, f.inputs())
}

// End evaluates the output of the node from the answer to its action.
func (t Task) End(ctx context.Context, a graph.Action, answer value.Value) (out graph.Output, err error) {
	defer survive(&err)
	f := t.frame
	if step, ok := f.node.Step.(graph.Ender); ok {
		out, err = step.End(ctx, f.inputs(), answer)
		return out, named(graph.FailOutput, err)
	}
	return graph.Output{Value: answer, Edge: a.Edge}, nil
}

// Conclude evaluates the output of a node that waited. The error may be that of
// what it waited for.
func (t Task) Conclude(ctx context.Context) (graph.Output, error) {
	f := t.frame
	if f.pending != nil || f.opened == nil {
		return graph.Output{}, f.pending
	}
	return t.End(ctx, graph.Action{Edge: f.opened.edge, Do: f.opened.do}, f.opened.result())
}

// inputs returns what the step may read.
func (f *frame) inputs() *graph.Input {
	previous, _ := f.past.previous(1) // it stands still while the task is somebody's
	f.in = graph.Input{Args: f.input, Previous: previous, Env: &f.env}
	return &f.in
}

// survive turns a panic, which is a mistake in the program, into an error.
func survive(err *error) {
	if p := recover(); p != nil {
		*err = newPanicError(p)
	}
}

// Question is what a run asks a person.
type Question struct {
	// ID names the question in its run.
	ID string
	// Path says where the node stands, for people.
	Path string
	// Node is the node that asks.
	Node *graph.Node
	// Value is what it asks.
	Value value.Value

	frame *frame
}

// Questions returns what is to be answered, the oldest first.
func (r *Run) Questions() []Question {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []Question
	for _, f := range r.asked {
		t := f.current()
		list = append(list, Question{ID: t.ID(), Path: t.Path(), Node: f.node, Value: f.opened.value, frame: f})
	}
	return list
}

// Parked reports whether the run waits for nothing but people.
func (r *Run) Parked() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return !r.done && r.clock.since != 0
}

// Answer answers a question; an error says that it cannot be. The result is
// ErrStale where the run does not ask that (any more).
func (r *Run) Answer(id string, answer value.Value, failed error, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.tell(instantOf(now))
	for _, f := range r.asked {
		if f.current().ID() != id {
			continue
		}
		e := f.entry(r.clock.told)
		e.event, e.output, e.edge = Answered, answer, graph.NoEdge
		if failed != nil {
			e.err = newNodeError(f, failed)
		}
		r.append(&e)
		r.answer(&e)
		return nil
	}
	return ErrStale
}

func (r *Run) answer(e *entry) {
	f := e.frame
	f.opened.answer, f.phase = e.output, conclude
	if e.err != nil {
		f.pending = e.err
	}
	r.unask(f)
	r.push(f)
}

// unask takes a frame off those that ask.
func (r *Run) unask(f *frame) {
	for i, one := range r.asked {
		if one == f {
			r.interrupt(f)
			r.asked = append(r.asked[:i:i], r.asked[i+1:]...)
			return
		}
	}
}

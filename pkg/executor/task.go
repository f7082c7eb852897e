package executor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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
	return Task{f, f.task, f.phase, f.node, len(f.past.executions), int(f.try)}
}

// Node returns the node.
func (t Task) Node() *graph.Node { return t.node }

// Execution counts the executions of the node's walk from 0.
func (t Task) Execution() int { return t.execution }

// Frame names the walk that the execution is part of, as [Record.Frame] does.
func (t Task) Frame() string { return t.frame.id() }

// Path returns where the node stands, for people: "sizes[3].info".
func (t Task) Path() string { return join(t.frame.path(), t.node.ID) }

// Body returns which body of a node the execution is part of: the index of the item
// or branch and, of a branch, its name. It reports false in the walk of a tool.
func (t Task) Body() (index int, branch string, ok bool) {
	o := t.frame.opener
	if o == nil || o.do != graph.Fork {
		return 0, "", false
	}
	index = int(t.frame.slot)
	if spread := o.node.Spread; !spread.Each {
		branch = spread.Names[index]
	}
	return index, branch, true
}

// ID names the execution in its run. It is the same for every attempt and in every
// replay, and no other execution of the same attempts around it has it.
func (t Task) ID() string { return executionID(t.frame.id(), t.execution) }

func executionID(frame string, execution int) string { return fmt.Sprintf("%s:%d", frame, execution) }

// IdempotencyKey returns what upstream servers can know repeated calls of the
// execution by: the same in each attempt, also of what is around it. It is empty
// where neither the node nor anything around it is ever tried again.
func (t Task) IdempotencyKey() string {
	retried := false
	for f := t.frame; f != nil; f = f.outer() {
		n := t.node
		if f != t.frame {
			n = f.node
		}
		retried = retried || n != nil && len(n.Policy.Retry) > 0
	}
	if !retried {
		return ""
	}
	return t.Key()
}

// Key is IdempotencyKey for drivers that may repeat any call: it is never empty.
func (t Task) Key() string {
	before := t.frame.past.executed(t.node)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %d", t.frame.run.seed, t.frame.id(), t.node.ID, before))
	return hex.EncodeToString(sum[:16])
}

// Instance names the execution as ID does, but apart from those that another attempt of
// what is around it has begun: "1.0:0", "1.0:0@2".
func (t Task) Instance() string { return instance(t.frame, t.execution) }

// Within returns the Instance of the execution whose body, or whose called tool, this one
// is part of; empty in the walk of the tool.
func (t Task) Within() string {
	o := t.frame.opener
	if o == nil {
		return ""
	}
	return instance(o.frame, o.execution)
}

func instance(f *frame, execution int) string {
	id, tries, again := executionID(f.id(), execution), "", false
	for outer := f.outer(); outer != nil; outer = outer.outer() {
		tries = fmt.Sprintf(".%d%s", outer.try, tries)
		again = again || outer.try > 1
	}
	if !again {
		return id
	}
	return id + "@" + tries[1:]
}

// outer returns the frame around one, nil for that of the tool.
func (f *frame) outer() *frame {
	if f.opener == nil {
		return nil
	}
	return f.opener.frame
}

// Attempt counts the attempts of the execution from 1.
func (t Task) Attempt() int { return t.try }

// Begins reports whether an attempt begins with the task: it neither concludes one nor
// goes on with a call that a person has approved.
func (t Task) Begins() bool { return t.phase == begin }

// Concludes reports whether the execution goes on with what it waited for:
// Conclude is to be called, not Begin.
func (t Task) Concludes() bool { return t.phase == conclude }

// Begin evaluates what the node wants to be done. A panic is an error.
func (t Task) Begin(ctx context.Context) (a graph.Action, err error) {
	defer survive(&err)
	f := t.frame
	if t.phase == approved {
		return graph.Action{Value: f.opened.value, Edge: f.opened.edge, Do: graph.CallTool}, nil
	}
	if a, err = f.node.Step.Begin(ctx, f.inputs()); err != nil || f.node.Approval == nil {
		return a, err
	}
	ask, err := f.needsApproval()
	if !ask {
		return a, err
	}
	if check := f.run.check; check != nil { // nobody need approve what is not sent
		if err := check(ctx, f.node.Server, f.node.Tool, a.Value); err != nil {
			f.send(a.Value) // the error shows what does not fit
			return a, err
		}
	}
	a.Do = graph.Ask // about a call with these arguments
	return a, nil
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
	f.in.Previous, _ = f.previous(1) // it stands still while the task is somebody's
	f.in.Rejected = f.rejection()
	return &f.in
}

// survive turns a panic, which is a mistake in the program, into an error.
func survive(err *error) {
	if p := recover(); p != nil {
		*err = newPanicError(p)
	}
}

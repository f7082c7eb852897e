package executor

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Attach lets child, which follows the run that an execution waits for, stand for that
// run: Questions has its questions, and Parked looks at it. It masks arguments as r does.
// walk is [Detached.Frame].
func (r *Run) Attach(walk string, child *Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eachDetached(func(f *frame) {
		if f.opened.bodyID(0) == walk {
			f.opened.child, child.mask = child, r.mask
		}
	})
}

// childrenParked reports whether all runs that are waited for are known to wait for people
// alone.
func (r *Run) childrenParked() bool {
	parked := true
	r.eachDetached(func(f *frame) { parked = parked && f.opened.child != nil && f.opened.child.Parked() })
	return parked
}

// childQuestions returns what the runs ask that are waited for. Their ids and paths are
// those that they would have if the runs were part of this one.
func (r *Run) childQuestions() []Question {
	var list []Question
	for _, d := range r.Detached() {
		if d.Child == nil {
			continue
		}
		for _, q := range d.Child.Questions() {
			q.ID, q.Path = JoinID(d.Frame, q.ID), d.Task.Path()+">"+q.Path
			list = append(list, q)
		}
	}
	return list
}

// JoinID returns the id that a question of a run has in the run that waits for it.
func JoinID(frame, id string) string {
	if strings.HasPrefix(id, ":") {
		return frame + id
	}
	return frame + "/" + id
}

// CutID is the inverse of JoinID. It reports false if the question is not of that run.
func CutID(frame, id string) (string, bool) {
	rest, ok := strings.CutPrefix(id, frame)
	if inner, deeper := strings.CutPrefix(rest, "/"); ok && deeper {
		return inner, true
	}
	return rest, ok && strings.HasPrefix(rest, ":")
}

// FailureValue returns what [Task.Failed] makes of an error of a run, as JSON.
func FailureValue(err error) value.Value {
	b := value.NewBuilder(3)
	b.Set("error", FailureOf(err).Value())
	var at *NodeError
	if !errors.As(err, &at) {
		return b.Value()
	}
	b.Set("at", place(at.Pos, at.End))
	var around []value.Value // from the outermost node inwards
	for {
		inner, ok := at.Err.(*NodeError)
		if !ok {
			break
		}
		around = append(around, value.ObjectOf("node", value.FromString(at.Node), "type", value.FromString(at.Kind), "path", value.FromString(at.Path)))
		at = inner
	}
	if around != nil {
		b.Set("around", value.FromArray(around))
	}
	if args := at.MaskedArguments(); !args.IsUndefined() && !args.LongerThan(maxKeptArguments) {
		b.Set("arguments", args)
	}
	return b.Value()
}

// maxKeptArguments bounds the arguments in the FailureValue of an error, in bytes.
const maxKeptArguments = 8 << 10

// Failed returns the error of a run that the task waits for, as that of an execution
// beneath the task. failed is what FailureValue returned.
func (t Task) Failed(failed value.Value) error {
	f := graph.FailureFrom(failed.Get("error"))
	if f.Node == "" {
		return f
	}
	f.Path = t.Path() + ">" + f.Path
	e := restored(t.frame.run.graph, f, failed.Get("at"))
	e.Arguments = failed.Get("arguments")
	for _, outer := range slices.Backward(failed.Get("around").Elems()) {
		e = &NodeError{
			Tool: e.Tool, Node: outer.Get("node").Str(), Kind: outer.Get("type").Str(), Path: t.Path() + ">" + outer.Get("path").Str(),
			File: e.File, Pos: e.Pos, End: e.End, Err: e,
		}
	}
	return e
}

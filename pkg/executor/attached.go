package executor

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

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

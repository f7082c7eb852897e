package runs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Recording is the walk of a tool as JSON shows it, without its graph and without
// what ran in bodies and called tools. It is immutable.
type Recording struct {
	executions []recorded
	failed     bool // the last execution failed
}

type recorded struct {
	index  int // of the record
	node   string
	output value.Value // undefined where there was none
}

// ReadRecording reads a run from the text of [Run.JSON], from the answer to
// resources/read that holds it, or from lines of [Execution]. Among the lines
// others may stand, such as log records. The error explains what is missing.
func ReadRecording(text string) (*Recording, error) {
	if v, err := value.ParseLazy(text); err == nil {
		if history, err := historyIn(v); err != nil || !history.IsUndefined() {
			if err != nil {
				return nil, err
			}
			return recordingOf(history.Elems())
		}
	}
	var executions []value.Value
	for line := range strings.Lines(text) {
		if v, err := value.ParseLazy(line); err == nil && v.Has("index") && v.Has("node") {
			executions = append(executions, v)
		}
	}
	return recordingOf(executions)
}

// historyIn returns the history of a kept run, or undefined if v is none.
func historyIn(v value.Value) (value.Value, error) {
	if result := v.Get("result"); result.Has("contents") {
		v = result
	}
	if contents := v.Get("contents").Elems(); len(contents) == 1 {
		var err error
		if v, err = value.ParseLazy(contents[0].Get("text").Str()); err != nil {
			return value.Undef, fmt.Errorf("the text of the resource: %w", err)
		}
	}
	if v.Get("truncated").Bool() {
		return value.Undef, errors.New("the run was too large to be kept; it has no history")
	}
	return v.Get("history"), nil
}

func recordingOf(executions []value.Value) (*Recording, error) {
	if len(executions) == 0 {
		return nil, errors.New("no executions of nodes; expected the lines of run --trace=json, or a run as mcpgraph://runs/{id} shows it")
	}
	r, next := &Recording{}, 0
	for _, v := range executions {
		index := v.Get("index")
		switch {
		case index.Kind() != value.Number || index.Float() < float64(next) || next == 0 && index.Float() != 0:
			return nil, fmt.Errorf("expected execution %d, found execution %s; expected one whole run", next, index.JSON())
		case v.Get("node").Kind() != value.String:
			return nil, fmt.Errorf("the node of execution %d is %s; expected a string", next, v.Get("node").JSON())
		}
		next = int(index.Float()) + 1 // what executions wait for, and retries, have indexes, too
		if v.Has("path") {
			continue
		}
		r.executions = append(r.executions, recorded{next - 1, v.Get("node").Str(), v.Get("output")})
		r.failed = v.Has("error") && !v.Has("next")
	}
	return r, nil
}

// Len returns the number of executions.
func (r *Recording) Len() int { return len(r.executions) }

// End returns the place at which the run had ended: behind its last execution,
// or at that one where it failed.
func (r *Recording) End() int {
	last := r.executions[len(r.executions)-1].index
	if r.failed {
		return last
	}
	return last + 1
}

// At returns the history that the execution with the index n saw. It implements
// expr.History. A place outside the run means the nearer end of it.
func (r *Recording) At(n int) *Moment {
	n = min(n, r.End())
	i := 0
	for i < len(r.executions) && r.executions[i].index < n {
		i++
	}
	return &Moment{r.executions[:i]}
}

// Moment is a Recording up to one of its executions. It is immutable.
type Moment struct{ executions []recorded }

// Document returns the latest output of each node that had run by its id, the
// latest execution first.
func (m *Moment) Document() value.Value {
	b := value.NewBuilder(8)
	seen := map[string]bool{}
	for _, e := range slices.Backward(m.executions) {
		if !seen[e.node] && !e.output.IsUndefined() {
			b.Set(e.node, e.output)
		}
		seen[e.node] = true
	}
	return b.Value()
}

// Previous returns the output of the execution n before this place, and reports
// whether there was one.
func (m *Moment) Previous(n int) (value.Value, bool) {
	if i := len(m.executions) - n; n >= 1 && i >= 0 {
		return m.executions[i].output, true
	}
	return value.Undef, false
}

// Outputs returns the outputs of all executions of a node in their order.
func (m *Moment) Outputs(id string) []value.Value {
	var outputs []value.Value
	for _, e := range m.executions {
		if e.node == id {
			outputs = append(outputs, e.output)
		}
	}
	return outputs
}

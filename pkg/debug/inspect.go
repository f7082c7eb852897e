package debug

import (
	"fmt"
	"iter"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// inspector looks into a run, which it does not change. What it shows has no secrets but
// where a comment says so.
type inspector struct {
	run   *executor.Run
	env   Environment
	nodes nodeSet
}

// ID returns the id of the run.
func (in *inspector) ID() string { return in.env.ID }

// Graph returns the tool.
func (in *inspector) Graph() *graph.Graph { return in.run.Graph() }

// Run returns the run, with its secrets: to begin another session from it ([From]).
// Show [Session.Records] instead.
func (in *inspector) Run() *executor.Run { return in.run }

// Records returns the records of the run from an index on, as they are now, without
// secrets.
func (in *inspector) Records(from int) iter.Seq[executor.Record] {
	return func(yield func(executor.Record) bool) {
		for rec := range in.run.Records(from) {
			if !yield(in.env.Record(rec)) {
				return
			}
		}
	}
}

// Record returns the record with an index, without secrets. It reports false if there
// is none (any more).
func (in *inspector) Record(index int) (executor.Record, bool) {
	for rec := range in.run.Records(index) {
		return in.env.Record(rec), rec.Index == index
	}
	return executor.Record{}, false
}

// Questions returns what the run asks, without secrets, the oldest first.
func (in *inspector) Questions() []executor.Question {
	list := in.run.Questions()
	for i, q := range list {
		if in.env.Shown != nil {
			q = in.env.Shown(q)
		}
		q.Value, q.Arguments = in.env.value(q.Value), in.env.value(q.Arguments)
		list[i] = q
	}
	return list
}

// Question returns the question that the run asks under this id. The error says what it
// asks.
func (in *inspector) Question(id string) (executor.Question, error) {
	asked := in.run.Questions()
	if len(asked) == 0 {
		return executor.Question{}, fmt.Errorf("the run does not ask %q: it asks nothing now", id)
	}
	ids := make([]string, len(asked))
	for i, q := range asked {
		if q.ID == id {
			return q, nil
		}
		ids[i] = q.ID
	}
	return executor.Question{}, fmt.Errorf("the run does not ask %q; it asks %s", id, diag.List(ids))
}

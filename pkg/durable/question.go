package durable

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// question is what a run asks, as it travels.
type question struct {
	// ID names the question in its run, Path is where its node stands, for people.
	ID   string `json:"id"`
	Path string `json:"path"`
	// Node is the id of its node.
	Node string `json:"node,omitempty"`
	// Method is the request that the question is, such as elicitation/create, and
	// Params are its params.
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	// Until is when the question fails with a timeout; zero: never.
	Until time.Time `json:"until,omitzero"`
	// Approval is true for what is asked before a call.
	Approval bool `json:"approval,omitempty"`
	// Try counts the times that the node has asked this before.
	Try int `json:"try,omitempty"`
}

// read returns the question for those who look at the run.
func (q *question) read() (runs.Question, error) {
	params, err := parsed(q.Params)
	if err != nil {
		return runs.Question{}, fmt.Errorf("a question of the run %w: %w", runs.ErrUnreadable, err)
	}
	return runs.Question{ID: q.ID, Path: q.Path, Node: q.Node, Method: q.Method, Params: params, Approval: q.Approval, Try: q.Try, Until: q.Until}, nil
}

// questionOf returns a question as people may see it: what is asked before a call
// quotes its arguments, and prompts quote what tools returned. Both can have secrets of
// the file.
func (d *driving) questionOf(q executor.Question) question {
	switch {
	case q.Node.Approval != nil:
		q = q.WithArguments(d.source.RedactValue(d.in.redacted(), q.Arguments))
	case q.Method == graph.AskModel:
		q.Value = d.source.RedactValue(d.in.redacted(), q.Value)
	}
	own := runs.QuestionOf(q)
	return question{ID: own.ID, Path: own.Path, Node: own.Node, Method: own.Method, Params: raw(own.Params), Until: own.Until, Approval: own.Approval, Try: own.Try}
}

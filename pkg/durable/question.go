package durable

import (
	"encoding/json"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Question is what a run asks a person.
type Question struct {
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
}

// questionOf returns a question as people may see it: what is asked before a call
// quotes its arguments, and prompts quote what tools returned. Both can have secrets of
// the file.
func (d *driving) questionOf(q executor.Question) Question {
	switch {
	case q.Node.Approval != nil:
		q = q.WithArguments(d.source.RedactValue(nil, q.Arguments))
	case q.Method == graph.AskModel:
		q.Value = d.source.RedactValue(nil, q.Value)
	}
	return Question{ID: q.ID, Path: q.Path, Node: q.Node.ID, Method: q.Method, Params: raw(q.Value), Until: q.Until}
}

package durable

import (
	"encoding/json"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// Question is what a run asks a person.
type Question struct {
	// ID names the question in its run, Path is where its node stands, for people.
	ID   string `json:"id"`
	Path string `json:"path"`
	// Params are those of elicitation/create: message, and requestedSchema or url.
	Params json.RawMessage `json:"params"`
	// Until is when the question fails with a timeout; zero: never.
	Until time.Time `json:"until,omitzero"`
}

// questionOf returns a question as people may see it: what is asked before a call
// quotes its arguments, which can have secrets of the file.
func (d *driving) questionOf(q executor.Question) Question {
	if q.Node.Approval != nil {
		q = q.WithArguments(d.source.RedactValue(nil, q.Arguments))
	}
	return Question{ID: q.ID, Path: q.Path, Params: raw(q.Value), Until: q.Until}
}

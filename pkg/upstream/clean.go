package upstream

import (
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// cleanError returns err without what the caller of a call sent. What the server's
// own secrets are is taken out where the error is made.
func cleanError(err error, call *credential.Call) error {
	var e *Error
	if len(call.Secrets) == 0 || !errors.As(err, &e) {
		return err
	}
	r := redact.New(call.Secrets)
	edited := *e
	edited.Message, edited.Hint, edited.Err = r.Text(e.Message), r.Text(e.Hint), r.Err(e.Err)
	edited.Stderr = make([]string, len(e.Stderr))
	for i, line := range e.Stderr {
		edited.Stderr[i] = r.Text(line)
	}
	return &edited
}

// cleanReply returns a tool's result without secrets if it is an error, which ends
// up in error texts. Other results belong to the caller, and stay as they are.
func (s *server) cleanReply(reply value.Value, call *credential.Call) value.Value {
	if !reply.Get("isError").Bool() {
		return reply
	}
	return reply.Rewritten(s.redact.With(call.Secrets).Text)
}

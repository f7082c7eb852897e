package runs

import (
	"errors"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// keptError is what is kept of an error, which itself may keep much memory alive: its
// text, and what [executor.FailureOf] says of it beside values.
type keptError struct {
	text    string
	failure graph.Failure      // without values
	place   executor.NodeError // its file and place alone
}

// keepError returns what is kept of an error, without secrets.
func keepError(err error, redact func(string) string) *keptError {
	f := executor.FailureOf(err)
	k := &keptError{text: errorText(err, redact), failure: graph.Failure{
		Name: f.Name, Node: f.Node, Type: f.Type, Path: f.Path, Server: f.Server, Tool: f.Tool, Attempts: f.Attempts,
	}}
	k.failure.Message = errorText(errors.New(f.Message), redact)
	if strings.HasSuffix(k.text, k.failure.Message) { // in most cases: kept once
		k.failure.Message = k.text[len(k.text)-len(k.failure.Message):]
	}
	for at, cause := (*executor.NodeError)(nil), err; errors.As(cause, &at); cause = at.Err {
		k.place.File, k.place.Pos, k.place.End = at.File, at.Pos, at.End
	}
	return k
}

// size returns how many bytes it takes; 0 for nil.
func (e *keptError) size() int64 {
	if e == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*e)) + int64(len(e.text)+len(e.failure.Name)+len(e.failure.Path))
	if !strings.HasSuffix(e.text, e.failure.Message) {
		n += int64(len(e.failure.Message))
	}
	return n
}

// Error returns the text.
func (e *keptError) Error() string { return e.text }

// FailureName returns the name of the failure.
func (e *keptError) FailureName() string { return e.failure.Name }

// As sets target to the failure of the node, or to what it was, as the error could
// that was kept.
func (e *keptError) As(target any) bool {
	switch t := target.(type) {
	case **graph.Failure:
		f := e.failure
		*t = &f
	case **executor.NodeError:
		if e.failure.Path == "" {
			return false
		}
		f, at := e.failure, e.place
		at.Node, at.Kind, at.Path, at.Server, at.UpstreamTool, at.Attempts, at.Err = f.Node, f.Type, f.Path, f.Server, f.Tool, f.Attempts, &f
		*t = &at
	default:
		return false
	}
	return true
}

// maxErr bounds the text of an error, in bytes.
const maxErr = 16 << 10

func errorText(err error, redact func(string) string) string {
	text := err.Error()
	if redact != nil {
		text = redact(text)
	}
	if len(text) <= maxErr {
		return text
	}
	n := maxErr
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.Clone(text[:n])
}

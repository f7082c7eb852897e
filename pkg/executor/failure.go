package executor

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What retry and catch rules can match in errors. All of it is optional.
type (
	failureNamer interface{ FailureName() string }
	failureCoder interface{ FailureCode() string }
	replier      interface{ FailureReply() value.Value }
	dataOwner    interface{ FailureData() value.Value }
	delayer      interface{ RetryAfter() time.Duration }
)

// FailureOf returns an error of a run, or of a record, as graphs and clients see
// it.
func FailureOf(err error) *graph.Failure {
	var at *NodeError
	cause := err
	for next := (*NodeError)(nil); errors.As(cause, &next); cause = next.Err {
		at = next
	}
	f := &graph.Failure{}
	var given *graph.Failure
	if errors.As(err, &given) {
		*f = *given
	} else {
		f.Name, f.Message = nameOf(cause), cause.Error()
		var coded failureCoder
		var failed *expr.Error
		if errors.As(cause, &coded) {
			f.Code = coded.FailureCode()
		} else if errors.As(cause, &failed) {
			f.Code = failed.Code
		}
		var replied replier
		if errors.As(cause, &replied) {
			f.Reply = replied.FailureReply()
		}
		var owner dataOwner
		if errors.As(cause, &owner) {
			f.Data = owner.FailureData()
		}
	}
	if at != nil && f.Node == "" {
		f.Message = at.reason(f.Message)
		f.Node, f.Type, f.Path = at.Node, at.Kind, at.Path
		f.Server, f.Tool, f.Attempts = at.Server, at.UpstreamTool, at.Attempts
	}
	return f
}

func nameOf(err error) string {
	var named failureNamer
	if errors.As(err, &named) {
		return named.FailureName()
	}
	return graph.FailExpression
}

// retryAfter returns how long a server wants to be left alone.
func retryAfter(err error) time.Duration {
	var delay delayer
	if errors.As(err, &delay) {
		return delay.RetryAfter()
	}
	return 0
}

// named sets the name of an error that has none.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	var has failureNamer
	var failed *graph.Failure
	var expression *expr.Error
	if errors.As(err, &has) || errors.As(err, &failed) || errors.As(err, &expression) {
		return err
	}
	return &namedError{err, name}
}

// Unnamed returns an error without the name that this package has given it.
func Unnamed(err error) error {
	if n, ok := err.(*namedError); ok {
		return n.error
	}
	return err
}

type namedError struct {
	error
	name string
}

func (e *namedError) Unwrap() error { return e.error }

// FailureName returns the name.
func (e *namedError) FailureName() string { return e.name }

func (e *NodeError) attempted(n int) *NodeError {
	e.Attempts = n
	return e
}

// endedBy returns why a walk ended of which a task failed with err while it was
// being ended for a cause. The place of err is kept, and its words if they tell of the
// cause, whose name counts: what was cut short knows only that it was.
func endedBy(err, cause error) error {
	if errors.Is(err, cause) {
		name := nameOf(cause)
		if FailureOf(err).Name == name {
			return err
		}
		if at := (*NodeError)(nil); errors.As(err, &at) {
			edited := *at
			edited.Err = &namedError{at.Err, name}
			return &edited
		}
		return &namedError{err, name}
	}
	var at *graph.PosError
	if errors.As(err, &at) {
		return &graph.PosError{Pos: at.Pos, End: at.End, Err: cause}
	}
	return cause
}

func timeoutError(n *graph.Node) error {
	return &graph.Failure{
		Name:    graph.FailTimeout,
		Message: fmt.Sprintf("not done after %d ms (timeoutMs)", n.Policy.Timeout.Milliseconds()),
	}
}

// PanicError is returned if a node panicked, which is a bug in the program.
type PanicError struct {
	Value any // that the node panicked with
	Stack []byte
}

func newPanicError(p any) *PanicError { return &PanicError{p, debug.Stack()} }

// Error returns the value.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// FailureName returns the name of the failure, which nothing handles.
func (e *PanicError) FailureName() string { return graph.FailInternal }

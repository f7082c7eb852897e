package durable

import (
	"errors"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// callFailure is the failure of a call that another worker made.
type callFailure struct {
	*graph.Failure
	after time.Duration
	// What the worker has described the error as.
	errorType, exceptionType string
}

// ErrorType returns the error.type of the call, empty if it is not known.
func (f *callFailure) ErrorType() string { return f.errorType }

// ExceptionType returns the exception.type of the call, empty if it is not known.
func (f *callFailure) ExceptionType() string { return f.exceptionType }

// Unwrap returns the failure as graphs see it.
func (f *callFailure) Unwrap() error { return f.Failure }

// RetryAfter returns how long the server wants to be left alone.
func (f *callFailure) RetryAfter() time.Duration { return f.after }

// failureOf describes the error of a call. What has no name is an error of the
// protocol, as in every driver.
func failureOf(err error) *graph.Failure {
	var named interface{ FailureName() string }
	var given *graph.Failure
	f := *executor.FailureOf(err)
	if !errors.As(err, &named) && !errors.As(err, &given) {
		f.Name = graph.FailProtocol
	}
	return &f
}

// refused returns the error with which an activity or a workflow ends for a failure.
// Temporal never tries again by itself.
func refused(f *graph.Failure, details any) error {
	return temporal.NewApplicationErrorWithOptions(f.Message, f.Name, temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: []any{details},
	})
}

// stopping is the type of the error of a call that ended with its worker.
const stopping = "mcpgraph.workerStopped"

// notBegun is the type of the error of a call that its worker did not make.
const notBegun = "mcpgraph.callNotBegun"

// isLost reports whether the worker of a call was lost.
func isLost(err error) bool {
	var late *temporal.TimeoutError
	var app *temporal.ApplicationError
	return errors.As(err, &late) || errors.As(err, &app) && (app.Type() == stopping || app.Type() == notBegun)
}

// mayHaveBegun reports whether a call whose worker was lost may have happened. Before a
// worker begins a call, it marks it with a heartbeat that has details.
func mayHaveBegun(err error) bool {
	var late *temporal.TimeoutError
	if errors.As(err, &late) && late.TimeoutType() == enums.TIMEOUT_TYPE_HEARTBEAT {
		return late.HasLastHeartbeatDetails()
	}
	var app *temporal.ApplicationError
	return !errors.As(err, &app) || app.Type() != notBegun
}

// What is kept of a failure, in bytes: Temporal takes no error above 2 MiB.
const (
	maxFailure = 512 << 10 // with its data
	maxMessage = 64 << 10
)

// shortened returns a failure that can be kept: without its reply and data if it is too
// long.
func shortened(f *graph.Failure) *graph.Failure {
	short := *f
	short.Message = textline.Prefix(f.Message, maxMessage)
	if len(raw(short.Value())) > maxFailure {
		short.Reply, short.Data = value.Undef, value.Undef
	}
	return &short
}

// shortenedError is shortened for what executor.FailureValue returned.
func shortenedError(v value.Value) value.Value {
	if len(raw(v)) <= maxFailure {
		return v
	}
	entries := slices.Clone(v.Entries())
	for i, e := range entries {
		if e.Key == "error" {
			entries[i].Value = shortened(graph.FailureFrom(e.Value)).Value()
		}
	}
	return value.FromEntries(entries)
}

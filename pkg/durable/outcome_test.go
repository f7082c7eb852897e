package durable

import (
	"errors"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// outcomeOf returns the details of the error of a workflow.
func outcomeOf(t testing.TB, err error) *outcome {
	t.Helper()
	out := &outcome{}
	var app *temporal.ApplicationError
	var canceled *temporal.CanceledError
	switch {
	case errors.As(err, &app) && app.HasDetails():
		err = app.Details(out)
	case errors.As(err, &canceled) && canceled.HasDetails():
		err = canceled.Details(out)
	}
	if err != nil {
		var plain *temporal.ApplicationError
		if !errors.As(err, &plain) {
			t.Fatal(err)
		}
	}
	return out
}

func TestAQueryWhoseWorkerIsLostHasNoWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ err, want error }{
		{serviceerror.NewDeadlineExceeded("query timed out before a worker could process it"), runs.ErrNoWorker},
		{serviceerror.NewCanceled("stream terminated by RST_STREAM with error code: CANCEL"), runs.ErrNoWorker},
		{serviceerror.NewWorkflowNotReady("Unable to query workflow due to Workflow Task in failed state."), runs.ErrNoWorker},
		{&serviceerror.QueryFailed{Message: "unknown queryType"}, nil},
		{serviceerror.NewNotFound("workflow not found"), runs.ErrNotFound},
		{nil, nil},
	} {
		if got := unanswered(c.err); c.want != nil && !errors.Is(got, c.want) || c.want == nil && errors.Is(got, runs.ErrNoWorker) || (got == nil) != (c.err == nil) {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
}

package durable

import (
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"
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

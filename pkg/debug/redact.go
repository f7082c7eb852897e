package debug

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// Record returns a record without secrets.
func (e *Environment) Record(rec executor.Record) executor.Record {
	f := e.redactor()
	if f == nil {
		return rec
	}
	if !rec.Arguments.IsUndefined() {
		rec.Arguments = rec.Arguments.Rewritten(f)
	}
	if !rec.Output.IsUndefined() {
		rec.Output = rec.Output.Rewritten(f)
	}
	if !rec.Reply.IsUndefined() {
		rec.Reply = rec.Reply.Rewritten(f)
	}
	rec.AttemptTimes = slices.Clone(rec.AttemptTimes)
	for i := range rec.AttemptTimes {
		rec.AttemptTimes[i].Err = e.err(rec.AttemptTimes[i].Err)
	}
	rec.Results = slices.Clone(rec.Results)
	for i, v := range rec.Results {
		if !v.IsUndefined() {
			rec.Results[i] = v.Rewritten(f)
		}
	}
	if rec.Err != nil {
		rec.Err = e.err(rec.Err)
	}
	return rec
}

// err returns an error whose text has no secrets. What errors.As finds beneath is as
// it was.
func (e *Environment) err(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := e.text(text)
	if clean == text {
		return err
	}
	return &redactedError{clean, err}
}

type redactedError struct {
	text string
	err  error
}

// Error returns the text without secrets.
func (e *redactedError) Error() string { return e.text }

// Unwrap returns the error as it was.
func (e *redactedError) Unwrap() error { return e.err }

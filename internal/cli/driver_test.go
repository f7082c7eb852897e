package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// answersTo takes answers in the place of a run, with these errors.
type answersTo struct {
	errs   []error
	failed []bool
}

func (a *answersTo) Answer(_ context.Context, _, _ string, _ value.Value, failed error) error {
	a.failed = append(a.failed, failed != nil)
	return a.errs[len(a.failed)-1]
}

func TestAnswersAreNotLost(t *testing.T) {
	t.Parallel()
	tooLong := errors.New("too long")
	for name, test := range map[string]struct {
		errs   []error
		failed bool
	}{
		"at once":              {[]error{nil}, false},
		"Temporal comes back":  {[]error{durable.ErrUnreachable, durable.ErrUnreachable, nil}, false},
		"a worker comes back":  {[]error{durable.ErrNoWorker, nil}, false},
		"it cannot be given":   {[]error{tooLong, nil}, true},
		"nor can that be told": {[]error{tooLong, tooLong}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &answersTo{errs: test.errs}
				q := &questions{driver: a, call: mcpgraph.RemoteCall{
					Ask: func(context.Context, *executor.Run, executor.Question) (value.Value, error) {
						return value.FromEntries(nil), nil
					},
				}}
				q.ask(t.Context(), executor.Question{ID: "q"})
				if n := len(a.failed); n != len(test.errs) || a.failed[n-1] != test.failed {
					t.Errorf("answers that are failures: %v", a.failed)
				}
			})
		})
	}
}

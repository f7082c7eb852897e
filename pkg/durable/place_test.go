package durable

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph/internal/placetest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// program is a source as a program, which calls nothing.
type program struct {
	runs.Program
	*testSource
}

func (p program) Digest() string                                              { return p.testSource.Digest() }
func (p program) Graph(tool string) (*graph.Graph, error)                     { return p.testSource.Graph(tool) }
func (program) Forwards(string) bool                                          { return false }
func (program) Hooks(*callinfo.Info, bool) []executor.Hooks                   { return nil }
func (program) Shown(_ *callinfo.Info, q executor.Question) executor.Question { return q }
func (program) Traced(_ context.Context, info *callinfo.Info) *callinfo.Info  { return info }
func (program) Prepare(*callinfo.Info, *graph.Graph, value.Value, []string)   {}

func TestOnAServerItIsAPlace(t *testing.T) {
	c := dialed(t, nil)
	source := unique(newSource(t, placetest.File))
	working(t, c, source)
	placetest.Run(t, c, program{testSource: source})
}

func TestThePlaceHasAName(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{Address: "localhost:7233", Namespace: DefaultNamespace}, "Temporal at localhost:7233"},
		{Options{Address: "localhost:7233", Namespace: "tools"}, "Temporal at localhost:7233, namespace tools"},
	} {
		if got := (&Client{options: test.options}).Name(); got != test.want {
			t.Errorf("it is %q, want %q", got, test.want)
		}
	}
}

func TestAnswersAreNotLost(t *testing.T) {
	t.Parallel()
	tooLong := errors.New("too long")
	for name, test := range map[string]struct {
		errs   []error
		failed bool
	}{
		"at once":              {[]error{nil}, false},
		"Temporal comes back":  {[]error{&unavailableError{"refused"}, &unavailableError{"refused"}, nil}, false},
		"a worker comes back":  {[]error{runs.ErrNoWorker, nil}, false},
		"nobody asks any more": {[]error{runs.ErrNotAsked}, false},
		"it cannot be given":   {[]error{tooLong, nil}, true},
		"nor can that be told": {[]error{tooLong, tooLong}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var given []bool
				q := &questions{
					answer: func(_ context.Context, _, _ string, _ value.Value, failed error) error {
						given = append(given, failed != nil)
						return test.errs[len(given)-1]
					},
					call: &runs.Call{Ask: func(context.Context, *executor.Run, executor.Question) (value.Value, error) {
						return value.FromEntries(nil), nil
					}},
				}
				q.ask(t.Context(), executor.Question{ID: "q"})
				if n := len(given); n != len(test.errs) || given[n-1] != test.failed {
					t.Errorf("answers that are failures: %v", given)
				}
			})
		})
	}
}

package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestActiveExecutionsAreThoseUnderWay(t *testing.T) {
	r := newRun(branches(t, graph.Policy{}))
	show := func(most int) string {
		list := []string{}
		for _, a := range r.Active(most) {
			list = append(list, fmt.Sprint(a.Path, " ", a.Kind, " ", a.State, " ", a.Try))
			if a.Start.IsZero() != (a.Try == 0) {
				t.Errorf("%s began at %s", a.Path, a.Start)
			}
		}
		return fmt.Sprint(list)
	}
	if got := show(10); got != "[entry entry ready 0]" {
		t.Errorf("before it begins: %s", got)
	}
	var during string
	l := executor.Local{Hooks: []executor.Hooks{{NodeStart: func(ctx context.Context, _ *executor.Run, task executor.Task) (context.Context, error) {
		if task.Node().ID == "entry" {
			during = show(10)
		}
		return ctx, nil
	}}}}
	w := world{func(_ context.Context, args value.Value) (value.Value, error) { return args, nil }}
	if err := l.Run(context.Background(), r, w); !errors.Is(err, executor.ErrParked) {
		t.Fatal(err)
	}
	if during != "[entry entry running 1]" {
		t.Errorf("while the entry runs: %s", during)
	}
	if got := show(10); got != "[both fork joining 1 both.left.question person asking 1]" {
		t.Errorf("parked: %s", got)
	}
	if got := show(1); got != "[both fork joining 1]" {
		t.Errorf("parked, the first: %s", got)
	}
	q := r.Questions()[0]
	if err := r.Answer(q.ID, value.FromString("ann"), nil, genesis); err != nil {
		t.Fatal(err)
	}
	if err := l.Run(context.Background(), r, w); err != nil {
		t.Fatal(err)
	}
	if got := show(10); got != "[]" {
		t.Errorf("at its end: %s", got)
	}
}

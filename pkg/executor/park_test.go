package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestParkedRunForgetsItsCall parks a run, after the bodies of a map, and looks
// whether it keeps what belonged to the request alive.
func TestParkedRunForgetsItsCall(t *testing.T) {
	g := mapOf(t, 3, `{id: one, type: work, expr: "$item", next: end}`, graph.Spread{}, graph.Policy{}, false)
	g.Node("each").Bodies[0].Node("one").Approval = &graph.Approval{}
	r := newRun(g)
	type key struct{}
	drive := func() (weak.Pointer[callinfo.Info], weak.Pointer[[1 << 16]byte]) {
		info, request := &callinfo.Info{Caller: "ann"}, new([1 << 16]byte)
		l := executor.Local{Info: info, Hooks: []executor.Hooks{{
			NodeStart: func(ctx context.Context, _ *executor.Run, _ executor.Task) (context.Context, error) {
				return context.WithValue(ctx, key{}, request), nil
			},
			NodeDone: func(context.Context, *executor.Run, executor.Record) {},
		}}}
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, request))
		defer cancel()
		if err := l.Run(ctx, r, world{func(_ context.Context, args value.Value) (value.Value, error) { return args, nil }}); !errors.Is(err, executor.ErrParked) {
			t.Fatal(err)
		}
		return weak.Make(info), weak.Make(request)
	}
	for round := range 2 {
		info, request := drive()
		for range 3 {
			runtime.GC()
		}
		if info.Value() != nil || request.Value() != nil {
			t.Errorf("round %d: the parked run keeps its call alive: info %v, context %v", round, info.Value() != nil, request.Value() != nil)
		}
		q := r.Questions()[0]
		if err := r.Answer(q.ID, value.FromEntries([]value.Entry{{Key: "action", Value: value.FromString("accept")}}), nil, q.Until.Add(-1)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.KeepAlive(r)
}

// A run that is cancelled while it asks does not ask again.
func TestCancelledRunsAskOnce(t *testing.T) {
	g := mapOf(t, 1, `{id: one, type: work, expr: "$item", next: end}`, graph.Spread{}, graph.Policy{}, false)
	g.Node("each").Bodies[0].Node("one").Approval = &graph.Approval{}
	for range 200 {
		ctx, cancel := context.WithCancel(context.Background())
		var asked atomic.Int32
		l := executor.Local{Ask: func(ctx context.Context, _ *executor.Run, _ executor.Question) (value.Value, error) {
			asked.Add(1)
			go cancel()
			<-ctx.Done()
			return value.Undef, context.Cause(ctx)
		}}
		err := l.Run(ctx, newRun(g), world{func(_ context.Context, args value.Value) (value.Value, error) { return args, nil }})
		if !errors.Is(err, context.Canceled) || asked.Load() != 1 {
			t.Fatalf("the run asked %d times and ended with %v", asked.Load(), err)
		}
	}
}

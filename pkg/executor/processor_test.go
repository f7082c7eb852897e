package executor_test

import (
	"context"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// sharing is a port whose processor is shared; it notes what is done.
type sharing struct {
	script
	events []string
	yields int
}

func (s *sharing) Processor() expr.Processor { return s }

func (s *sharing) Yield(context.Context) { s.yields++ }

func (s *sharing) Acquire(context.Context) func() { return func() {} }

func (s *sharing) Release() { s.events = append(s.events, "release") }

func (s *sharing) CallTool(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	s.events = append(s.events, "call")
	return graph.ToolResult{}, nil
}

// asking is a step that calls a tool.
type asking struct{}

func (asking) Begin(context.Context, *graph.Input) (graph.Action, error) {
	return graph.Action{Value: value.NullValue, Do: graph.CallTool}, nil
}

func TestARunReleasesItsProcessorWhereItMayBlock(t *testing.T) {
	g := withStep(t, "", nil)
	g.Node("n0").Step = asking{}
	s := &sharing{}
	note := func(event string) { s.events = append(s.events, event) }
	hooks := executor.Hooks{NodeDone: func(_ context.Context, _ *executor.Run, r executor.Record) { note("done " + r.Node) }}
	for name, test := range map[string]struct {
		hooks []executor.Hooks
		want  []string
	}{
		"without hooks": {nil, []string{"release", "call", "release"}},
		"with hooks": {[]executor.Hooks{hooks}, []string{
			"release", "done entry", "release", "call", "release", "done n0", "release", "done exit", "release",
		}},
	} {
		s.events = nil
		e := &executor.Local{Hooks: test.hooks}
		if err := e.Run(context.Background(), executor.NewRun(g, value.FromEntries(nil), 1), s); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.events, test.want) {
			t.Errorf("%s: %v, want %v", name, s.events, test.want)
		}
	}
}

func TestALongRunYieldsBetweenItsNodes(t *testing.T) {
	for nodes, want := range map[int]int{20: 0, 100: 100 + 2 - 64} {
		s := &sharing{}
		g := build(t, chain(nodes)).Graphs[0]
		if err := (&executor.Local{}).Run(context.Background(), executor.NewRun(g, value.FromEntries(nil), 1), s); err != nil {
			t.Fatal(err)
		}
		if s.yields != want {
			t.Errorf("a run of %d nodes yields %d times, want %d", nodes+2, s.yields, want)
		}
	}
}

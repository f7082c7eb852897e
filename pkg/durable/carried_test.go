package durable

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// noise returns text that hardly gets shorter by compression, of so many bytes.
func noise(n int) string {
	bytes := make([]byte, n*3/4)
	_, _ = rand.Read(bytes)
	return base64.StdEncoding.EncodeToString(bytes)
}

func TestWhatARunCarriesFitsTemporal(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: map, items: [1, 2, 3, 4, 5, 6, 7], maxConcurrency: 1, nodes: [{id: c, type: mcp, server: up, tool: do, next: d}, {id: d, type: transform, transform: {expr: "1"}}], next: exit}`))
	long := noise(500_000)
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text(long), nil
	}
	steps := 0
	for in := (&request{Tool: "t", Seed: 7}); ; steps++ {
		env := environment(t, source)
		env.SetContinueAsNewSuggested(true)
		register(env, source, nil, WorkerOptions{Log: slog.New(slog.DiscardHandler)})
		env.ExecuteWorkflow(WorkflowType, in)
		next, ok := continued(t, env)
		if !ok {
			break
		}
		payloads, err := converter.GetDefaultDataConverter().ToPayloads(next)
		if err != nil {
			t.Fatal(err)
		}
		list, err := codec{}.Encode(payloads.GetPayloads())
		if err != nil {
			t.Fatal(err)
		}
		if size := (&commonpb.Payloads{Payloads: list}).Size(); size > 2<<20 {
			t.Fatalf("%d bytes are carried", size)
		}
		in = next
	}
	if steps < 3 {
		t.Errorf("it continued %d times", steps)
	}
}

func TestOnAServerALongRunOfNoiseEnds(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, oneTool(`      - {id: a, type: map, items: {expr: "[1..64]"}, maxConcurrency: 4, nodes: [{id: c, type: mcp, server: up, tool: do, next: d}, {id: d, type: transform, transform: {expr: "1"}}], next: exit}`)))
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text(noise(100_000)), nil
	}
	working(t, c, source)
	id := started(t, c, source, "{}", nil)
	if run, out := followed(t, c, source, id, "{}"); out.Err() != nil || run.Result().Len() != 64 {
		t.Errorf("%s, %v", run.Result().Preview(100), out.Err())
	}
}

// cancelling cancels a run while a step of it is made.
type cancelling struct{ cancel func() }

func (c *cancelling) Observe(*callinfo.Info, *executor.Run, time.Time) Observer        { return c }
func (c *cancelling) DescribeError(context.Context, error) (string, string)            { return "", "" }
func (c *cancelling) Trace(executor.Task) []value.Entry                                { return nil }
func (c *cancelling) Lost(executor.Task, string, time.Time, time.Time) (report func()) { return nil }
func (c *cancelling) Ended(error, time.Time) (report func())                           { return nil }
func (c *cancelling) Recorded(_ executor.Task, rec executor.Record) (report func()) {
	if rec.Node == "a" {
		c.cancel()
	}
	return nil
}

func TestACancellationIsNotLostWhereARunContinues(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: mcp, server: up, tool: do, next: b}
      - {id: b, type: mcp, server: up, tool: do, next: exit}`))
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text("x"), nil
	}
	env := environment(t, source)
	env.SetContinueAsNewSuggested(true)
	register(env, source, nil, WorkerOptions{Log: slog.New(slog.DiscardHandler)})
	const name = "cancelled"
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context) (*outcome, error) {
		ctx, cancel := workflow.WithCancel(ctx)
		w := &walks{source: source, telemetry: &cancelling{cancel}}
		return w.run(ctx, &request{Tool: "t", Seed: 7})
	}, workflow.RegisterOptions{Name: name})
	env.ExecuteWorkflow(name)
	if err := env.GetWorkflowError(); !errors.As(err, new(*temporal.CanceledError)) {
		t.Errorf("it goes on: %v", err)
	}
}

func TestALongRecordIsReadWithoutItsArguments(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: mcp, server: up, tool: do, args: {x: {expr: "$.entry.x"}}, next: exit}`))
	reply, args := noise(1_700_000), `{"x":"`+noise(1_700_000)+`"}`
	source.call = func(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
		return text(reply), nil
	}
	env := environment(t, source)
	register(env, source, nil, WorkerOptions{Log: slog.New(slog.DiscardHandler)})
	env.ExecuteWorkflow(WorkflowType, &request{Tool: "t", Seed: 7, Args: []byte(args)})
	run, from := executor.NewRun(source.graphs[0], value.FromEntries(nil), 7), 0
	for done := false; !done; {
		got, err := env.QueryWorkflow(queryRecords, from)
		if err != nil {
			t.Fatal(err)
		}
		p := &page{}
		if err := got.Get(p); err != nil {
			t.Fatal(err)
		}
		if size := compressedSize(&request{Records: p.Records}); size > MaxValue || len(p.Records) == 0 {
			t.Fatalf("%d records of %d bytes", len(p.Records), size)
		}
		if err := added(run, p.Records, nil); err != nil {
			t.Fatal(err)
		}
		from, done = p.Next, p.Done && run.Done()
	}
	if got := run.Result().Str(); got != reply {
		t.Errorf("the result has %d bytes", len(got))
	}
}

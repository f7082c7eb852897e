package durable

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// chain returns the nodes of a graph that has so many of one kind in a row.
func chain(n int, node string) string {
	var b strings.Builder
	for i := range n {
		id, next := "a", fmt.Sprintf("n%d", i+1)
		if i > 0 {
			id = fmt.Sprintf("n%d", i)
		}
		if i == n-1 {
			next = "exit"
		}
		fmt.Fprintf(&b, "      - {id: %s, %s, next: %s}\n", id, node, next)
	}
	return b.String()
}

// costs are the graphs whose costs the documentation has.
var costs = []struct {
	name, nodes string
	calls       int
}{
	{"OneTransform", chain(1, `type: transform, transform: {expr: "1 + 1"}`), 0},
	{"TenTransforms", chain(10, `type: transform, transform: {expr: "1 + 1"}`), 0},
	{"OneCall", chain(1, `type: mcp, server: up, tool: do, args: {text: "some words"}`), 1},
	{"TenCalls", chain(10, `type: mcp, server: up, tool: do, args: {text: "some words"}`), 10},
	{"TenCallsAtOnce", `      - {id: a, type: map, items: {expr: "[1..10]"}, maxConcurrency: 10, nodes: [{id: c, type: mcp, server: up, tool: do, args: {n: {expr: $item}}}], next: exit}`, 10},
	{"OneWait", chain(1, `type: wait, ms: 1`), 0},
}

func answering(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	return text("a few words"), nil
}

// BenchmarkDurableCost compares runs of this process with those of a Temporal server, one
// after the other, and says how long their histories are.
func BenchmarkDurableCost(b *testing.B) {
	c := dialed(b, nil)
	for _, cost := range costs {
		source := unique(newSource(b, oneTool(cost.nodes)))
		source.call = answering
		b.Run("local/"+cost.name, func(b *testing.B) {
			for b.Loop() {
				run := executor.NewRun(source.graphs[0], value.FromEntries(nil), 7)
				if err := (&executor.Local{}).Run(b.Context(), run, localPort{source}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("temporal/"+cost.name, func(b *testing.B) {
			working(b, c, source)
			done(b, c, source) // the worker is there
			id := ""
			for b.Loop() {
				id = done(b, c, source)
			}
			s, err := c.summarize(b.Context(), id)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(historyOf(b, c, id).Events)), "events/run")
			b.ReportMetric(float64(s.Bytes), "bytes/run")
		})
	}
}

// done makes a run and returns its id.
func done(b testing.TB, c *Client, s *testSource) string {
	id := started(b, c, s, `{}`, nil)
	out, err := c.resultOf(b.Context(), id)
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// BenchmarkDurableThroughput makes 32 runs at the same time, of 10 calls in a row each.
func BenchmarkDurableThroughput(b *testing.B) {
	c := dialed(b, nil)
	source := unique(newSource(b, oneTool(chain(10, `type: mcp, server: up, tool: do, args: {text: "some words"}`))))
	source.call = answering
	working(b, c, source)
	done(b, c, source)
	b.ResetTimer()
	began := time.Now()
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				done(b, c, source)
			}
		})
	}
	all.Wait()
	rate := float64(b.N) / time.Since(began).Seconds()
	b.ReportMetric(rate, "runs/s")
	b.ReportMetric(10*rate, "calls/s")
}

// BenchmarkDurableMemory says what 500 runs that wait take in a worker, after ten nodes
// each.
func BenchmarkDurableMemory(b *testing.B) {
	const runs = 500
	c := dialed(b, nil)
	nodes := strings.Replace(chain(10, `type: transform, transform: {expr: "1 + 1"}`), "next: exit", "next: z", 1) +
		"      - {id: z, type: wait, ms: 250000, next: exit}\n"
	source := unique(newSource(b, oneTool(nodes)))
	w := c.NewWorker(source, WorkerOptions{Log: slog.New(slog.DiscardHandler), Grace: time.Second})
	if err := w.Start(); err != nil {
		b.Fatal(err)
	}
	defer w.Stop()
	for b.Loop() {
		before := heap()
		ids := make([]string, runs)
		for i := range ids {
			ids[i] = started(b, c, source, `{}`, nil)
		}
		for _, id := range ids {
			for {
				if _, next, _, err := c.records(b.Context(), id, 0); err == nil && next > 11 {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
		b.ReportMetric(float64(heap()-before)/runs, "bytes/waiting-run")
		for _, id := range ids {
			if err := c.cancel(b.Context(), id); err != nil {
				b.Fatal(err)
			}
		}
		for _, id := range ids {
			if _, err := c.resultOf(b.Context(), id); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func heap() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

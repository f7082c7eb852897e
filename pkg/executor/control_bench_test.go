package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// mapAndLoop returns a map of so many items with one transform, and a loop of as
// many turns with the same transform and a switch.
func mapAndLoop(b *testing.B, n int) (mapped, looped *graph.Graph) {
	set := build(b, fmt.Sprintf(`
version: "1.0"
server: {name: test, version: "1"}
executionLimits: {maxNodeExecutions: 10000000}
tools:
  - name: map
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: each}
      - id: each
        type: map
        items: {expr: "[1..%[1]d]"}
        nodes: [{id: one, type: transform, transform: {expr: "$item * 2"}}]
        next: exit
      - {id: exit, type: exit}
  - name: loop
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: start, type: entry, next: turn}
      - {id: turn, type: transform, transform: {expr: "21 * 2"}, next: again}
      - {id: again, type: switch, conditions: [{rule: {"<": [{var: '$executionCount("turn")'}, %[1]d]}, next: turn}], next: done}
      - {id: done, type: exit}
`, n))
	return set.Graphs[0], set.Graphs[1]
}

// BenchmarkMapItem compares an item of a map that has one transform with a step of
// a loop, which has two in each turn: rounds in turns, the medians of their times.
func BenchmarkMapItem(b *testing.B) {
	const n = 10_000
	mapped, looped := mapAndLoop(b, n)
	args, local, port := value.FromEntries(nil), &executor.Local{}, &script{}
	var items, steps []float64
	took := func(g *graph.Graph) float64 {
		began := time.Now()
		if err := local.Run(context.Background(), executor.NewRun(g, args, 1), port); err != nil {
			b.Fatal(err)
		}
		return float64(time.Since(began).Nanoseconds()) / n
	}
	for b.Loop() {
		items, steps = append(items, took(mapped)), append(steps, took(looped)/2)
	}
	slices.Sort(items)
	slices.Sort(steps)
	item, step := items[len(items)/2], steps[len(steps)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(item, "ns/item")
	b.ReportMetric(step, "ns/step")
	b.ReportMetric(item/step, "items/step")
}

// BenchmarkCallsSideBySide makes 64 calls of 10 ms in a map that allows as many.
func BenchmarkCallsSideBySide(b *testing.B) {
	g := mapOf(b, 64, oneCall, graph.Spread{Limit: 64}, graph.Policy{}, false)
	slow := world{func(context.Context, value.Value) (value.Value, error) {
		time.Sleep(10 * time.Millisecond)
		return value.Undef, nil
	}}
	for b.Loop() {
		if err := (&executor.Local{}).Run(context.Background(), newRun(g), slow); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMapMemory shows what a map of 100,000 items holds at its end, and what is
// left once its run is gone.
func BenchmarkMapMemory(b *testing.B) {
	mapped, _ := mapAndLoop(b, 100_000)
	held := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	before := held()
	var during float64
	for b.Loop() {
		r := executor.NewRun(mapped, value.FromEntries(nil), 1)
		if err := (&executor.Local{}).Run(context.Background(), r, &script{}); err != nil {
			b.Fatal(err)
		}
		during = held() - before
		runtime.KeepAlive(r)
	}
	b.ReportMetric(during, "MB-held")
	b.ReportMetric(held()-before, "MB-left")
}

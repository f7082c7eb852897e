package executor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// BenchmarkLoop shows what one turn of a loop with history functions costs; it
// must not grow with the number of turns.
func BenchmarkLoop(b *testing.B) {
	for _, turns := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			g, args := loop(b, turns), value.FromEntries(nil)
			e, port := &executor.Local{}, &script{}
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Run(context.Background(), executor.NewRun(g, args, 1), port); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
		})
	}
}

// BenchmarkEntryExit is the least that a run costs.
func BenchmarkEntryExit(b *testing.B) {
	g := build(b, `
version: "1.0"
server: {name: test, version: "1"}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit}
`).Graphs[0]
	args := value.FromEntries(nil)
	e, port := &executor.Local{}, &script{}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Run(context.Background(), executor.NewRun(g, args, 1), port); err != nil {
			b.Fatal(err)
		}
	}
}

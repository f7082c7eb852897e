//go:build unix

package jsonata_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/bench"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// BenchmarkEvalParallel shows with -cpu 1,2,4 how evaluations of one
// expression scale. The processor time of one evaluation, which other work on
// the machine changes less than the time on the clock, stays the same where
// nothing is shared.
func BenchmarkEvalParallel(b *testing.B) {
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	eachCase(b, func(b *testing.B, _ bench.Case, e *jsonata.Expr, data value.Value) {
		b.ReportAllocs()
		start := used()
		b.RunParallel(func(pb *testing.PB) {
			ctx := context.Background()
			for pb.Next() {
				if _, err := e.Eval(ctx, data, nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(float64(used()-start)/float64(b.N), "cpu-ns/op")
	})
}

package jsonata_test

import (
	"context"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/bench"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// eachCase compiles the cases of the speed table and reads their data.
func eachCase[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, do func(t T, c bench.Case, e *jsonata.Expr, data value.Value)) {
	for _, c := range bench.Cases() {
		t.Run(c.Name, func(t T) {
			e, err := jsonata.Compile(c.Expr, jsonata.WithFunctions(bench.Functions()...))
			if err != nil {
				t.Fatal(err)
			}
			data, err := value.Parse(c.Data)
			if err != nil {
				t.Fatal(err)
			}
			do(t, c, e, data)
		})
	}
}

func TestMeasuredExpressionsAreRight(t *testing.T) {
	eachCase(t, func(t *testing.T, c bench.Case, e *jsonata.Expr, data value.Value) {
		got, err := e.Eval(context.Background(), data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.JSON() != c.Want {
			t.Errorf("got %s, want %s", got.JSON(), c.Want)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	eachCase(b, func(b *testing.B, _ bench.Case, e *jsonata.Expr, data value.Value) {
		ctx := context.Background()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Eval(ctx, data, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestAPathAllocatesNothing(t *testing.T) {
	data, err := value.Parse(`{"entry":{"directory":"/srv","list":[1,2],"n":null}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{`$.entry.directory`, `entry.directory`, `$$.entry.list`, `entry.n`, `entry.absent.name`} {
		e, err := jsonata.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		if n := testing.AllocsPerRun(100, func() { e.Eval(ctx, data, nil) }); n != 0 {
			t.Errorf("%s: %v allocations", src, n)
		}
	}
}

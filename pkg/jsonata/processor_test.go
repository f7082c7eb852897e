package jsonata

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// sharedProcessor counts how it is used.
type sharedProcessor struct {
	yields, releases, acquired int
	turn                       func() // called when a turn begins
}

func (p *sharedProcessor) Yield(context.Context) { p.yields++ }
func (p *sharedProcessor) Release()              { p.releases++ }

func (p *sharedProcessor) Acquire(context.Context) func() {
	p.acquired++
	if p.turn != nil {
		p.turn()
	}
	return func() {}
}

func TestLongEvaluationsYieldTheirProcessor(t *testing.T) {
	const count = `($f := function($n){ $n > 0 ? $f($n - 1) : "done" }; $f(100000))`
	for src, want := range map[string]struct {
		yields int // at least
		short  bool
	}{
		`1 + 1`:      {short: true},
		`$.list.n`:   {short: true},
		`[1..100].n`: {short: true},
		count:        {yields: 100},
		`$sum($map([1..100000], function($v){ $v * 2 }))`:        {yields: 50},
		`$count($sort([1..50000], function($a, $b){ $a < $b }))`: {yields: 50},
	} {
		e, err := Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		var p sharedProcessor
		got, err := e.Eval(context.Background(), value.Undef, &Options{Processor: &p})
		if err != nil {
			t.Fatal(err)
		}
		if p.yields < want.yields || want.short && p.yields > 0 || p.releases > 0 {
			t.Errorf("%s yields %d times and releases its processor %d times", src, p.yields, p.releases)
		}
		alone, err := e.Eval(context.Background(), value.Undef, nil)
		if err != nil || !value.Equal(got, alone) {
			t.Errorf("%s is %s with a processor that is shared, and %s (%v) alone", src, got.JSON(), alone.JSON(), err)
		}
	}
}

func TestHostFunctionsReleaseTheProcessorUnlessTheyAreImmediate(t *testing.T) {
	nothing := func(*Call, []value.Value) (value.Value, error) { return value.Undef, nil }
	functions := WithFunctions(Function{Name: "blocks", Call: nothing}, Function{Name: "quick", Immediate: true, Call: nothing})
	for src, want := range map[string]int{`$quick()`: 0, `[$blocks(), $quick(), $blocks()]`: 2} {
		e, err := Compile(src, functions)
		if err != nil {
			t.Fatal(err)
		}
		var p sharedProcessor
		if _, err := e.Eval(context.Background(), value.Undef, &Options{Processor: &p}); err != nil || p.releases != want {
			t.Errorf("%s releases its processor %d times (%v), want %d", src, p.releases, err, want)
		}
	}
}

func TestLongSearchesTakeTurns(t *testing.T) {
	for src, want := range map[string]struct {
		turns   int
		endless bool
	}{
		`$contains("aaaa!", /^(?=a)(a|aa)+$/)`: {},
		`$contains("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(?=a)(a|aa)+$/)`: {1, true},
		`$contains(big, /(?:xy|z )+q/)`: {turns: 1},
	} {
		e, err := Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var p sharedProcessor
		if want.endless {
			p.turn = func() { time.AfterFunc(100*time.Millisecond, cancel) }
		}
		input := value.FromEntries([]value.Entry{{Key: "big", Value: value.FromString(strings.Repeat("xyz ", 1<<18))}})
		_, err = e.Eval(ctx, input, &Options{Processor: &p})
		cancel()
		if p.acquired != want.turns || (err != nil) != want.endless {
			t.Errorf("%.60s… takes %d turns and ends with %v, want %d turns", src, p.acquired, err, want.turns)
		}
	}
}

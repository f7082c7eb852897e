package expr

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// sharedProcessor counts how it is used.
type sharedProcessor struct{ yields, releases, acquired int }

func (p *sharedProcessor) Yield(context.Context) { p.yields++ }
func (p *sharedProcessor) Release()              { p.releases++ }

func (p *sharedProcessor) Acquire(context.Context) func() {
	p.acquired++
	return func() {}
}

func TestLongRulesYieldTheirProcessor(t *testing.T) {
	list := make([]value.Value, 20_000)
	for i := range list {
		list[i] = value.FromInt(int64(i))
	}
	document := value.FromEntries([]value.Entry{{Key: "list", Value: value.FromArray(list)}})
	for rule, want := range map[string]sharedProcessor{
		`{"==":[{"var":"list.0"},0]}`:                             {},
		`{"some":[{"var":"list"},{"==":[{"var":""},-1]}]}`:        {yields: 20},
		`{"var":"$count($map(list, function($v){ $v + 1 }))"}`:    {yields: 10},
		`{"log":[{"some":[[1],{"==":[{"var":""},1]}]}]}`:          {releases: 1},
		`{"reduce":[{"var":"list"},{"+":[{"var":"current"},1]}]}`: {yields: 20},
	} {
		var p sharedProcessor
		env := envOver(document)
		env.Processor, env.Log = &p, func(value.Value) {}
		if _, err := compileLogic(t, rule).Eval(context.Background(), env); err != nil {
			t.Fatal(err)
		}
		if p.yields < want.yields || want.yields == 0 && p.yields > 0 || p.releases != want.releases {
			t.Errorf("%s yields %d times and releases its processor %d times; want %+v", rule, p.yields, p.releases, want)
		}
	}
}

// TestAReductionThatKeepsAListDoesNotWalkItAtEachTurn counts its work.
func TestAReductionThatKeepsAListDoesNotWalkItAtEachTurn(t *testing.T) {
	list := make([]value.Value, 20_000)
	env := envOver(value.FromEntries([]value.Entry{{Key: "list", Value: value.FromArray(list)}}))
	var p sharedProcessor
	env.Processor = &p
	rule := compileLogic(t, `{"reduce":[{"var":"list"},{"var":"accumulator"},{"var":"list"}]}`)
	if v, err := rule.Eval(context.Background(), env); err != nil || v.Len() != len(list) {
		t.Fatal(v.Len(), err)
	}
	if p.yields > 200 {
		t.Errorf("it yields %d times, so it takes thousands of steps for each element", p.yields)
	}
}

func TestEvaluationsWaitForMemoryWithoutTheirProcessor(t *testing.T) {
	list := make([]value.Value, 100_000)
	for i := range list {
		list[i] = value.FromString("x")
	}
	document := value.FromEntries([]value.Entry{{Key: "list", Value: value.FromArray(list)}})
	jsonata, err := CompileJSONata("$count([1..500000])")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Program{
		"JSONata":    jsonata,
		"JSON Logic": compileLogic(t, `{"merge":[{"var":"list"},{"var":"list"}]}`),
	} {
		runtime.GC() // else the budget finds room later in what other tests have left
		budget := memory.New(memory.MinLimit)
		for full := budget.Account(""); full.TryGrow(1 << 20); {
		}
		account := budget.Account("")
		ctx, cancel := memory.WithAccount(t.Context(), account)
		var shared sharedProcessor
		env := envOver(document)
		env.Processor = &shared
		_, err := p.Eval(ctx, env)
		var short *memory.Error
		if !errors.As(err, &short) || shared.releases == 0 {
			t.Errorf("%s: %v after %d releases", name, err, shared.releases)
		}
		cancel()
		account.Close()
	}
}

package expr

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func BenchmarkSwitchRule(b *testing.B) {
	for _, rule := range []string{
		`{">":[{"var":"entry.value"},5]}`,
		`{"and":[{">":[{"var":"entry.value"},5]},{"==":[{"var":"entry.name"},"Ada"]}]}`,
		`{"some":[{"var":"list.items"},{"==":[{"var":"name"},"c"]}]}`,
		`{"<":[{"var":"$previousNode().n"},10]}`,
	} {
		b.Run(rule, func(b *testing.B) {
			prog := compileLogic(b, rule)
			env := envOver(parse(b, sample))
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := prog.Test(ctx, env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompileRule(b *testing.B) {
	rule := parse(b, `{"and":[{">":[{"var":"entry.value"},5]},{"==":[{"var":"entry.name"},"Ada"]}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := CompileLogic(rule); errs != nil {
			b.Fatal(errs)
		}
	}
}

func BenchmarkLoopStep(b *testing.B) {
	prog, err := CompileJSONata(`{"n": $previousNode(2).n + 1, "runs": $executionCount("add")}`)
	if err != nil {
		b.Fatal(err)
	}
	outputs := []value.Value{parse(b, `{"n":1}`), parse(b, `"add"`)}
	env := &Env{History: &run{nodes: []string{"add", "check"}, outputs: outputs}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := prog.Eval(context.Background(), env); err != nil {
			b.Fatal(err)
		}
	}
}

func TestProgramsServeManyCallersAtOnce(t *testing.T) {
	rule := compileLogic(t, `{"if":[
		{"some":[{"var":"list"},{"==":[{"var":"id"},{"reduce":[[1,2],{"+":[{"var":"current"},{"var":"accumulator"}]},0]}]}]},
		{"cat":[{"var":"name"},"-",{"var":"$nodeExecution('name', 0)"},"-",{"max":{"var":"list.id"}}]},
		{"var":"$executionCount(name)"}]}`)
	expression, err := CompileJSONata(`name & "-" & $executionCount("name") & "-" & $sum(list.id)`)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			name := value.FromString(fmt.Sprint("caller", g))
			env := &Env{History: &run{
				nodes:   []string{"name", "list"},
				outputs: []value.Value{name, parse(t, fmt.Sprintf(`[{"id":3},{"id":%d}]`, g))},
			}}
			for range 500 {
				got, err := rule.Eval(context.Background(), env)
				if want := fmt.Sprintf(`"caller%d-caller%d-NaN"`, g, g); err != nil || show(got) != want {
					t.Errorf("the rule gives %s, %v; want %s", show(got), err, want)
					return
				}
				got, err = expression.Eval(context.Background(), env)
				if want := fmt.Sprintf(`"caller%d-1-%d"`, g, 3+g); err != nil || show(got) != want {
					t.Errorf("the expression gives %s, %v; want %s", show(got), err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

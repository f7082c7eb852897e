package expr

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// loop is a run of entry, add, check, add, check, silent, add; its last but
// one step yielded nothing.
func loop(t testing.TB) *Env {
	n := func(text string) value.Value { return parse(t, text) }
	return &Env{History: &run{
		nodes:   []string{"entry", "add", "check", "add", "check", "silent", "add"},
		outputs: []value.Value{n(`{"n":0}`), n(`{"n":1}`), n(`"add"`), n(`{"n":2}`), n(`"silent"`), value.Undef, n(`[3]`)},
	}}
}

func TestHistoryFunctions(t *testing.T) {
	tests := []struct{ src, want string }{
		{`$previousNode()`, `[3]`},
		{`$previousNode(1)`, `[3]`},
		{`$previousNode(2)`, `undefined`},
		{`{"was": $previousNode(2)}`, `{}`},
		{`$previousNode(3)`, `"silent"`},
		{`$previousNode(7)`, `{"n":0}`},
		{`$previousNode(7).n`, `0`},
		{`$previousNode(8)`, `null`},
		{`$previousNode(0)`, `null`},
		{`$previousNode(-1)`, `null`},
		{`$previousNode(1.5)`, `null`},
		{`$previousNode(1e300)`, `null`},
		{`$previousNode(absent)`, `[3]`},
		{`$executionCount("add")`, `3`},
		{`$executionCount("silent")`, `1`},
		{`$executionCount("nobody")`, `0`},
		{`$executionCount(absent)`, `0`},
		{`$nodeExecution("add", 0).n`, `1`},
		{`$nodeExecution("add", 1)`, `{"n":2}`},
		{`$nodeExecution("add", -1)`, `[3]`},
		{`$nodeExecution("add", -3)`, `{"n":1}`},
		{`$nodeExecution("add", -4)`, `null`},
		{`$nodeExecution("add", 3)`, `null`},
		{`$nodeExecution("add", 0.5)`, `null`},
		{`$nodeExecution("add", 1e15)`, `null`},
		{`$nodeExecution("add", absent)`, `null`},
		{`$nodeExecution("nobody", 0)`, `null`},
		{`$nodeExecution("silent", 0)`, `undefined`},
		{`"add" ~> $nodeExecution(0)`, `{"n":1}`},
		{`$nodeExecutions("add")`, `[{"n":1},{"n":2},[3]]`},
		{`$nodeExecutions("entry")`, `[{"n":0}]`},
		{`$nodeExecutions("nobody")`, `[]`},
		{`$nodeExecutions(absent)`, `[]`},
		{`$count($nodeExecutions("silent"))`, `1`},
		{`$nodeExecutions("add")[0].n`, `1`},
		{`$sum($nodeExecutions("add").n)`, `3`},
		{`$map(["add", "check"], $executionCount)`, `[3,2]`},
		{`($f := $nodeExecution("add", ?); $map([0, 1], $f).n)`, `[1,2]`},
		{`($p := $previousNode; $p(3))`, `"silent"`},
		{`$map([3, 5], function($n) { $previousNode($n) })`, `["silent","add"]`},
		{`$type($previousNode)`, `"function"`},
		{`$exists($executionCount)`, `true`},
		{`$ = {"entry":{"n":0}} or $keys($)[0] = "add"`, `true`},
	}
	for _, tt := range tests {
		prog, err := CompileJSONata(tt.src)
		if err != nil {
			t.Errorf("%s does not compile: %v", tt.src, err)
			continue
		}
		got, err := prog.Eval(context.Background(), loop(t))
		if err != nil || show(got) != tt.want {
			t.Errorf("%s = %s, %v; want %s", tt.src, show(got), err, tt.want)
		}
	}
}

func TestHistoryFunctionsRefuseOtherTypes(t *testing.T) {
	for _, src := range []string{
		`$previousNode("1")`, `$previousNode(null)`, `$previousNode([1])`, `$previousNode(1, 2)`,
		`$executionCount(1)`, `$executionCount(null)`, `$executionCount(["add"])`, `$executionCount("a", "b")`,
		`$nodeExecution("add", "0")`, `$nodeExecution(1, 0)`, `$nodeExecution("add", null)`,
		`$nodeExecutions(1)`, `$nodeExecutions({"id": "add"})`,
	} {
		prog, err := CompileJSONata(src)
		if err != nil {
			t.Errorf("%s does not compile: %v", src, err)
			continue
		}
		v, err := prog.Eval(context.Background(), loop(t))
		var e *Error
		if !errors.As(err, &e) || e.Code != "T0410" && e.Code != "T0412" {
			t.Errorf("%s = %s, %v; want a type error", src, show(v), err)
		}
	}
}

func TestWithoutAHistoryNothingHasRun(t *testing.T) {
	for src, want := range map[string]string{
		`$`: `{}`, `$.entry`: `undefined`, `$previousNode()`: `null`, `$executionCount("a")`: `0`,
		`$nodeExecution("a", 0)`: `null`, `$nodeExecutions("a")`: `[]`,
	} {
		prog, err := CompileJSONata(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, env := range []*Env{nil, {}} {
			if got, err := prog.Eval(context.Background(), env); err != nil || show(got) != want {
				t.Errorf("%s = %s, %v; want %s", src, show(got), err, want)
			}
		}
	}
}

func TestTimeAndRandomnessAreTheEnvironments(t *testing.T) {
	env := loop(t)
	env.Now = func() time.Time { return time.Unix(1700000000, 0) }
	env.Random = func() float64 { return 0.25 }
	prog, err := CompileJSONata(`[$millis(), $now(), $random()]`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := prog.Eval(context.Background(), env)
	if want := `[1700000000000,"2023-11-14T22:13:20.000Z",0.25]`; err != nil || show(got) != want {
		t.Errorf("got %s, %v; want %s", show(got), err, want)
	}
	if got, err := compileLogic(t, `{"var":"$random()"}`).Eval(context.Background(), env); err != nil || show(got) != "0.25" {
		t.Errorf("in a rule $random() = %s, %v; want 0.25", show(got), err)
	}
}

func TestErrorsOfJSONataKeepCodePlaceAndToken(t *testing.T) {
	_, err := CompileJSONata("entry.\n  value +")
	var e *Error
	if !errors.As(err, &e) || e.Code != "S0207" || e.Path != nil || e.Offset != 16 {
		t.Errorf("an unfinished sum gives %+v", e)
	}
	prog, err := CompileJSONata(`1 + entry.name`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = prog.Eval(context.Background(), envOver(parse(t, sample)))
	if !errors.As(err, &e) || e.Code != "T2002" || e.Token != "+" || e.Offset != 2 || e.End != 3 || e.Err == nil {
		t.Errorf("adding a text gives %+v", e)
	}
}

func TestRefsOfAnExpression(t *testing.T) {
	prog, err := CompileJSONata("$.list.items & $executionCount(\"loop\") & $nodeExecution('x', 0).y & $previousNode(2) & $$.`odd id`[0] & items.(name)")
	if err != nil {
		t.Fatal(err)
	}
	sameRefs(t, prog.Refs(), []Ref{
		{Node: "list", Offset: 0, End: 12},
		{Node: "loop", Func: "executionCount", Offset: 15, End: 38},
		{Node: "x", Func: "nodeExecution", Offset: 41, End: 63},
		{Node: "odd id", Offset: 87, End: 98},
		{Node: "items", Offset: 104, End: 109},
	})
}

package expr

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func compileLogic(t testing.TB, rule string) *Program {
	t.Helper()
	prog, errs := CompileLogic(parse(t, rule))
	if errs != nil {
		t.Fatalf("%s does not compile: %v", rule, errs)
	}
	return prog
}

const sample = `{
	"entry": {"value": 7, "name": "Ada", "flag": true, "nothing": null, "empty": "", "op": {"+": [1, 2]}},
	"list": {"items": [{"q": 1, "name": "a"}, {"q": 5, "name": "b"}, {"name": "c"}], "numbers": [1, 2, 3], "one": [4], "none": []},
	"1": ["first", ["inner"]]
}`

func TestOperatorsGiveWhatJSONLogicGives(t *testing.T) {
	tests := []struct{ rule, want string }{
		{`{"==":[1,"1"]}`, `true`},
		{`{"==":[null,0]}`, `false`},
		{`{"==":[[1,2],"1,2"]}`, `true`},
		{`{"==":[{},"[object Object]"]}`, `true`},
		{`{"==":[[1],[1]]}`, `false`},
		{`{"==":[true,"1"]}`, `true`},
		{`{"==":["","\n0x0 "]}`, `false`},
		{`{"==":[{"var":"list.items"},{"var":"list.items"}]}`, `true`},
		{`{"!=":[1,"1"]}`, `false`},
		{`{"===":[1,"1"]}`, `false`},
		{`{"===":["a","a"]}`, `true`},
		{`{"!==":[1,"1"]}`, `true`},
		{`{"!":[[]]}`, `true`},
		{`{"!":["0"]}`, `false`},
		{`{"!!":{}}`, `true`},
		{`{"!!":[]}`, `false`},
		{`{"!!":[{}]}`, `true`},
		{`{"<":["10","9"]}`, `true`},
		{`{"<":["10",9]}`, `false`},
		{`{"<":[1,2,3]}`, `true`},
		{`{"<":[1,5,3]}`, `false`},
		{`{"<=":[1,1,1]}`, `true`},
		{`{"<=":[null,0]}`, `true`},
		{`{">":[[2],1]}`, `true`},
		{`{">=":["a",1]}`, `false`},
		{`{">=":["żółw","zebra"]}`, `true`},
		{`{"+":[1,"2kg",true]}`, `NaN`},
		{`{"+":[1,"2kg"]}`, `3`},
		{`{"+":"-0.5e1x"}`, `-5`},
		{`{"+":[]}`, `0`},
		{`{"*":[2,"3",4]}`, `24`},
		{`{"*":["x"]}`, `"x"`},
		{`{"-":["3"]}`, `-3`},
		{`{"-":[5,"0x10"]}`, `-11`},
		{`{"-":[5,"16 "]}`, `-11`},
		{`{"-":[5,"1_6"]}`, `NaN`},
		{`{"-":["0b1111111111111111111111111111111111111111111111111111111111111111111111",0]}`, `1.1805916207174113e+21`},
		{`{"/":[1,0]}`, `Infinity`},
		{`{"/":[1,null]}`, `Infinity`},
		{`{"%":[-7,3]}`, `-1`},
		{`{"%":[7,0]}`, `NaN`},
		{`{"min":[]}`, `Infinity`},
		{`{"min":[3,"1",[2]]}`, `1`},
		{`{"max":[1,"x",{"/":[1,0]}]}`, `NaN`},
		{`{"max":[1,true,null]}`, `1`},
		{`{"cat":["a",1,null,[1,[null,2]],true,{}]}`, `"a11,,2true[object Object]"`},
		{`{"cat":["\ud83d","\ude00"]}`, `"😀"`},
		{`{"cat":[12345678901234567890,0.0000001]}`, `"123456789012345670001e-7"`},
		{`{"substr":["jsonlogic",4]}`, `"logic"`},
		{`{"substr":["jsonlogic",-5]}`, `"logic"`},
		{`{"substr":["jsonlogic",1,3]}`, `"son"`},
		{`{"substr":["jsonlogic",4,-2]}`, `"log"`},
		{`{"substr":["x😀y",1,2]}`, `"😀"`},
		{`{"substr":["x😀y",2,1]}`, `"\ude00"`},
		{`{"substr":["abc",0,"-1"]}`, `""`},
		{`{"substr":[12.5,1,9]}`, `"2.5"`},
		{`{"in":["Spring","Springfield"]}`, `true`},
		{`{"in":[2,[1,2]]}`, `true`},
		{`{"in":["2",[1,2]]}`, `false`},
		{`{"in":[[1],[[1]]]}`, `false`},
		{`{"in":["a",""]}`, `false`},
		{`{"in":["a",null]}`, `false`},
		{`{"in":["\ud83d","😀"]}`, `true`},
		{`{"merge":[[1,[2]],3,[]]}`, `[1,[2],3]`},
		{`{"merge":[]}`, `[]`},
		{`{"if":[]}`, `null`},
		{`{"if":["yes"]}`, `"yes"`},
		{`{"if":[false,1]}`, `null`},
		{`{"if":["0",1,2]}`, `1`},
		{`{"if":[0,1,"",2,[],3,4]}`, `4`},
		{`{"?:":[true,1,2]}`, `1`},
		{`{"and":[1,"a",[],2]}`, `[]`},
		{`{"and":[1,2]}`, `2`},
		{`{"or":[0,"",null]}`, `null`},
		{`{"or":[0,"x",1]}`, `"x"`},
		{`{"or":[true,{"*":[]}]}`, `true`},
		{`{"and":[false,{"missing_some":[1,null]}]}`, `false`},
		{`{"if":[true,1,{"*":[]}]}`, `1`},
		{`{"map":[{"var":"list.numbers"},{"*":[{"var":""},2]}]}`, `[2,4,6]`},
		{`{"map":["x",{"var":""}]}`, `[]`},
		{`{"map":[[1,2]]}`, `[undefined,undefined]`},
		{`{"filter":[{"var":"list.items"},{">":[{"var":"q"},2]}]}`, `[{"q":5,"name":"b"}]`},
		{`{"filter":[{"var":"list.items"},{"<":[{"var":"q"},1]}]}`, `[{"name":"c"}]`},
		{`{"filter":[{"var":"list.items"},{"===":[{"var":"q"},null]}]}`, `[{"name":"c"}]`},
		{`{"map":[{"var":"list.items"},{"var":["q",9]}]}`, `[1,5,9]`},
		{`{"map":[{"var":"list.items"},{"missing":["q","name"]}]}`, `[[],[],["q"]]`},
		{`{"reduce":[{"var":"list.numbers"},{"+":[{"var":"current"},{"var":"accumulator"}]},10]}`, `16`},
		{`{"reduce":[{"var":"list.numbers"},{"var":""}]}`, `{"current":3,"accumulator":{"current":2,"accumulator":{"current":1,"accumulator":null}}}`},
		{`{"reduce":[5,{"var":"current"},"start"]}`, `"start"`},
		{`{"reduce":[[1],{"map":[[7],[{"var":"accumulator"},{"var":""}]]},0]}`, `[[null,7]]`},
		{`{"all":[[1,2],{"var":""}]}`, `true`},
		{`{"all":[[],true]}`, `false`},
		{`{"some":[[0,2],{"var":""}]}`, `true`},
		{`{"some":[[],true]}`, `false`},
		{`{"none":[[0,null],{"var":""}]}`, `true`},
		{`{"none":[[],true]}`, `true`},
		{`{"some":[{"var":"list.items"},{"some":[[1],{"==":[{"var":""},1]}]}]}`, `true`},
		{`{"missing":["entry.value","entry.nothing","entry.empty","entry.x","list.items.0.q"]}`, `["entry.nothing","entry.empty","entry.x"]`},
		{`{"missing":"entry.x"}`, `["entry.x"]`},
		{`{"missing":[["a"],"b"]}`, `["a"]`},
		{`{"missing":{"merge":["a",{"if":[true,"b"]}]}}`, `["a","b"]`},
		{`{"missing_some":[1,["entry.value","b"]]}`, `[]`},
		{`{"missing_some":[2,["entry.value","b"]]}`, `["b"]`},
		{`{"log":[1,2]}`, `1`},
		{`[1,{"+":[1,1]},[{"var":"entry.value"}]]`, `[1,2,[7]]`},
		{`{"a":{"var":"entry"},"b":1}`, `{"a":{"var":"entry"},"b":1}`},
		{`{}`, `{}`},
	}
	for _, tt := range tests {
		prog, errs := CompileLogic(parse(t, tt.rule))
		if errs != nil {
			t.Errorf("%s does not compile: %v", tt.rule, errs)
			continue
		}
		got, err := prog.Eval(context.Background(), envOver(parse(t, sample)))
		if err != nil || show(got) != tt.want {
			t.Errorf("%s = %s, %v; want %s", tt.rule, show(got), err, tt.want)
		}
	}
}

func TestVarOutsideBodiesIsJSONataOverTheRun(t *testing.T) {
	tests := []struct{ rule, want string }{
		{`{"var":"entry.value"}`, `7`},
		{`{"var":"$.entry.value"}`, `7`},
		{`{"var":["$.entry.value"]}`, `7`},
		{`{"var":"$count(list.items)"}`, `3`},
		{`{"var":"list.items.name"}`, `["a","b","c"]`},
		{`{"var":"list.items[q > 2].name"}`, `"b"`},
		{`{"var":"list.one"}`, `[4]`},
		{`{"var":"list.none"}`, `[]`},
		{`{"var":"entry.nothing"}`, `null`},
		{`{"var":"entry.absent"}`, `undefined`},
		{`{"var":"entry.absent.more"}`, `undefined`},
		{`{"var":["entry.absent",5]}`, `5`},
		{`{"var":["entry.absent",{"var":"entry.name"}]}`, `"Ada"`},
		{`{"var":["entry.nothing",5]}`, `null`},
		{`{"var":["entry.empty",5]}`, `""`},
		{`{"var":"$previousNode().value"}`, `undefined`},
		// What var yields is data.
		{`{"var":"entry.op"}`, `{"+":[1,2]}`},
		{`{"map":[[{"var":"entry.op"}],{"var":""}]}`, `[{"+":[1,2]}]`},
		{`{"if":[{"var":"entry.op"},{"var":"entry.op"}]}`, `{"+":[1,2]}`},
		// Paths with whole numbers, numbers and computed names are JSON Logic's.
		{`{"var":"list.items.1.name"}`, `"b"`},
		{`{"var":"list.items.9.name"}`, `undefined`},
		{`{"var":"1.1.0"}`, `"inner"`},
		{`{"var":1}`, `["first",["inner"]]`},
		{`{"var":1.1}`, `["inner"]`},
		{`{"var":{"cat":["entry.","value"]}}`, `7`},
		{`{"var":{"cat":["$","uppercase('x')"]}}`, `undefined`},
		{`{"var":[{"if":[true,"entry.x"]},"none"]}`, `"none"`},
		{`{"var":"entry.name.0"}`, `"A"`},
		// Bodies have JSON Logic's own.
		{`{"map":[{"var":"list.numbers"},{"var":"entry.value"}]}`, `[null,null,null]`},
		{`{"map":[{"var":"list.items"},{"var":"name.length"}]}`, `[1,1,1]`},
		{`{"map":[["abc"],{"var":"1"}]}`, `["b"]`},
		{`{"map":[[[5,6]],{"var":"01"}]}`, `[null]`},
		{`{"map":[[{"a":{"b":1},"c":0}],{"var":{"cat":["a",".b"]}}]}`, `[1]`},
		{`{"map":[{"var":"list.items"},{"var":["constructor","own"]}]}`, `["own","own","own"]`},
		{`{"map":[{"var":"list.numbers"},{"var":["x",{"var":""}]}]}`, `[1,2,3]`},
		{`{"reduce":[[3],{"var":"other"},0]}`, `null`},
	}
	for _, tt := range tests {
		got, err := compileLogic(t, tt.rule).Eval(context.Background(), envOver(parse(t, sample)))
		if err != nil || show(got) != tt.want {
			t.Errorf("%s = %s, %v; want %s", tt.rule, show(got), err, tt.want)
		}
	}
	for _, whole := range []string{`{"var":""}`, `{"var":null}`, `{"var":[]}`, `{"var":[null,1]}`, `{"var":{"if":[false,1]}}`} {
		got, err := compileLogic(t, whole).Eval(context.Background(), envOver(parse(t, sample)))
		if err != nil || !value.Equal(got, parse(t, sample)) {
			t.Errorf("%s = %s, %v; want the whole document", whole, show(got), err)
		}
	}
}

func TestAReferenceThatYieldsNothing(t *testing.T) {
	nothing := `{"var":"absent.value"}`
	for rule, want := range map[string]string{
		`{"<":[X,1]}`:            "false",
		`{"<=":[X,0]}`:           "false",
		`{">":[1,X]}`:            "false",
		`{">=":[0,X]}`:           "false",
		`{"<":[-1,X,1]}`:         "false",
		`{"<":[0,1,X]}`:          "false",
		`{"==":[X,0]}`:           "false",
		`{"==":[X,null]}`:        "true",
		`{"==":[X,""]}`:          "false",
		`{"==":[X,false]}`:       "false",
		`{"===":[X,null]}`:       "false",
		`{"!=":[X,null]}`:        "false",
		`{"!==":[X,null]}`:       "true",
		`{"!":X}`:                "true",
		`{"!!":X}`:               "false",
		`{"+":[X,1]}`:            "NaN",
		`{"-":[1,X]}`:            "NaN",
		`{"-":X}`:                "NaN",
		`{"*":[2,X]}`:            "NaN",
		`{"/":[2,X]}`:            "NaN",
		`{"%":[2,X]}`:            "NaN",
		`{"max":[2,X]}`:          "NaN",
		`{"if":[X,1,2]}`:         "2",
		`{"and":[X,1]}`:          "undefined",
		`{"or":[X,1]}`:           "1",
		`{"in":[X,[null]]}`:      "true",
		`{"in":[1,X]}`:           "false",
		`{"cat":["a",X,"b"]}`:    `"ab"`,
		`{"map":[X,1]}`:          "[]",
		`{"all":[X,true]}`:       "false",
		`{"none":[X,true]}`:      "true",
		`{"reduce":[X,1,"s"]}`:   `"s"`,
		`{"merge":[X]}`:          "[undefined]",
		`{"substr":["abc",X,2]}`: `"ab"`,
	} {
		rule = strings.ReplaceAll(rule, "X", nothing)
		got, err := compileLogic(t, rule).Eval(context.Background(), envOver(parse(t, sample)))
		if err != nil || show(got) != want {
			t.Errorf("%s = %s, %v; want %s", rule, show(got), err, want)
		}
	}
}

func TestTruthIsJSONLogics(t *testing.T) {
	for rule, want := range map[string]bool{
		`0`: false, `""`: false, `[]`: false, `null`: false, `false`: false, `{"var":"absent"}`: false, `{"-":["x"]}`: false,
		`1`: true, `"0"`: true, `[0]`: true, `{}`: true, `true`: true, `"false"`: true,
	} {
		if got, err := compileLogic(t, rule).Test(context.Background(), nil); err != nil || got != want {
			t.Errorf("the truth of %s is %v, %v; want %v", rule, got, err, want)
		}
	}
	prog, err := CompileJSONata(`[]`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := prog.Test(context.Background(), nil); got || err != nil {
		t.Errorf("the truth of an empty JSONata array is %v, %v; want false", got, err)
	}
}

func TestLogWritesToTheEnvironment(t *testing.T) {
	var logged []string
	env := envOver(parse(t, sample))
	env.Log = func(v value.Value) { logged = append(logged, show(v)) }
	prog := compileLogic(t, `{"if":[{"log":{"var":"entry.value"}},{"log":"yes"},{"log":"no"}]}`)
	if _, err := prog.Eval(context.Background(), env); err != nil {
		t.Fatal(err)
	}
	if want := []string{"7", `"yes"`}; !slices.Equal(logged, want) {
		t.Errorf("logged %v, want %v", logged, want)
	}
}

func TestEveryMistakeInARuleIsReportedAtItsPlace(t *testing.T) {
	_, errs := CompileLogic(parse(t, `{"if":[{"equals":[1,1]},{"fliter":"a"},{"map":[{"var":"a["},{"nosuch":{"var":"b"}}]}]}`))
	wants := []struct {
		path    []any
		message string
		hint    string
	}{
		{[]any{"if", 0}, `unknown JSON Logic operator "equals"`, `write {"==": `},
		{[]any{"if", 1}, `unknown JSON Logic operator "fliter"`, `did you mean "filter"?`},
		{[]any{"if", 2, "map", 0, "var"}, ``, ``},
		{[]any{"if", 2, "map", 1}, `unknown JSON Logic operator "nosuch"`, `expected`},
	}
	if len(errs) != len(wants) {
		t.Fatalf("%d errors %v, want %d", len(errs), errs, len(wants))
	}
	for i, w := range wants {
		if !slices.Equal(errs[i].Path, w.path) || !strings.Contains(errs[i].Message, w.message) || !strings.HasPrefix(errs[i].Hint, w.hint) {
			t.Errorf("error %d is %v %q (%s), want %v %q (%s)", i, errs[i].Path, errs[i].Message, errs[i].Hint, w.path, w.message, w.hint)
		}
	}
	if e := errs[2]; e.Code == "" || e.Offset < 0 {
		t.Errorf("the error of the JSONata in a var has code %q and offset %d", e.Code, e.Offset)
	}
}

func TestErrorsOfAnEvaluationHaveTheirPlace(t *testing.T) {
	tests := []struct {
		rule string
		path []any
		want string
	}{
		{`{"*":[]}`, []any{}, `"*" needs at least one argument`},
		{`[1,{"==":[{"*":[]},1]}]`, []any{1, "==", 0}, `"*" needs`},
		{`{"map":[[1],{"missing_some":[1,null]}]}`, []any{"map", 1}, `"missing_some" needs`},
		{`{"!":[{"var":["'a' + 1",5]}]}`, []any{"!", 0, "var", 0}, ``},
	}
	for _, tt := range tests {
		_, err := compileLogic(t, tt.rule).Eval(context.Background(), envOver(parse(t, sample)))
		var e *Error
		if !errors.As(err, &e) || !slices.Equal(e.Path, tt.path) || e.Path == nil || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s fails with %v at %v, want %q at %v", tt.rule, err, e.Path, tt.want, tt.path)
		}
	}
}

func TestRefsOfARule(t *testing.T) {
	prog := compileLogic(t, `{"and":[
		{">":[{"var":"entry.value"},{"var":"$executionCount('loop') + count.n"}]},
		{"==":[{"var":["items.0.x",{"var":"other"}]},1]},
		{"missing":["need.a","more"]},
		{"missing_some":[1,["some.b"]]},
		{"filter":[{"var":"$.source.list"},{"var":"element.of.it"}]},
		{"var":""}]}`)
	wants := []Ref{
		{Node: "entry", Path: []any{"and", 0, ">", 0, "var"}, Offset: 0, End: 11},
		{Node: "loop", Func: "executionCount", Path: []any{"and", 0, ">", 1, "var"}, Offset: 0, End: 23},
		{Node: "count", Path: []any{"and", 0, ">", 1, "var"}, Offset: 26, End: 33},
		{Node: "items", Path: []any{"and", 1, "==", 0, "var", 0}, Offset: 0, End: 9},
		{Node: "other", Path: []any{"and", 1, "==", 0, "var", 1, "var"}, Offset: 0, End: 5},
		{Node: "need", Path: []any{"and", 2, "missing", 0}, Offset: 0, End: 6},
		{Node: "more", Path: []any{"and", 2, "missing", 1}, Offset: 0, End: 4},
		{Node: "some", Path: []any{"and", 3, "missing_some", 1, 0}, Offset: 0, End: 6},
		{Node: "source", Path: []any{"and", 4, "filter", 0, "var"}, Offset: 0, End: 13},
	}
	sameRefs(t, prog.Refs(), wants)
}

func sameRefs(t *testing.T, got, want []Ref) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Errorf("%d references %+v, want %d", len(got), got, len(want))
			return
		}
		g, w := got[i], want[i]
		if g.Node != w.Node || g.Func != w.Func || g.Offset != w.Offset || g.End != w.End || !slices.Equal(g.Path, w.Path) {
			t.Errorf("reference %d is %+v, want %+v", i, g, w)
		}
	}
}

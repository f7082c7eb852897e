package expr

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// FuzzLogic feeds rules and documents of any kind: whatever compiles must end
// with a value or an *Error soon after its deadline.
func FuzzLogic(f *testing.F) {
	for _, rule := range []string{
		`{"if":[{"<":[{"var":"entry.value"},5,{"var":["a",1]}]},{"cat":[1,"x",null]},[{"max":[1,"2"]}]]}`,
		`{"reduce":[{"var":"list.numbers"},{"merge":[{"var":"accumulator"},{"var":"accumulator"},[{"var":"current"}]]},[]]}`,
		`{"filter":[{"var":"list.items"},{"in":[{"substr":[{"var":"name"},-1]},"abc"]}]}`,
		`{"missing_some":[1,["a",{"var":"$previousNode()"}]]}`,
		`{"all":[{"map":[[1,[2],"\ud83d"],{"%":[{"var":"0"},{"-":"0x1"}]}]},{"none":[[{}],{"!":{"var":""}}]}]}`,
		`{"reduce":[{"var":"list.numbers"},[{"var":"accumulator"},{"var":""}]]}`,
	} {
		f.Add(rule, sample)
	}
	f.Fuzz(func(t *testing.T, rule, document string) {
		r, err := value.Parse(rule)
		if err != nil {
			return
		}
		d, err := value.Parse(document)
		if err != nil {
			return
		}
		prog, errs := CompileLogic(r)
		if (prog == nil) != (len(errs) > 0) {
			t.Fatalf("a program: %v, and %d errors", prog != nil, len(errs))
		}
		for _, e := range errs {
			if e.Path == nil || e.Message == "" {
				t.Errorf("an error without place or message: %+v", e)
			}
		}
		if prog == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		v, err := prog.Eval(ctx, envOver(d))
		if late := time.Since(start); late > 5*time.Second {
			t.Errorf("the rule ran for %v", late)
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Message == "") {
			t.Errorf("%T is no error of this package: %v", err, err)
		}
		if err == nil {
			truthy(v)
		}
	})
}

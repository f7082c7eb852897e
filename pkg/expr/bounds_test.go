package expr

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestNoRuleOutlastsItsContext(t *testing.T) {
	big := make([]value.Value, 3000)
	for i := range big {
		big[i] = value.FromInt(int64(i))
	}
	env := envOver(value.FromEntries([]value.Entry{{Key: "big", Value: value.FromArray(big)}}))
	each := func(body string) string { return `{"map":[{"var":"big"},` + body + `]}` }
	for _, rule := range []string{
		`{"reduce":[{"var":"big"},{"reduce":[` + each(each(each(`1`))) + `,1,0]},0]}`,
		`{"some":[{"var":"big"},{"==":[{"var":""},-1]}]}`,
	} {
		cause := errors.New("time is up")
		ctx, cancel := context.WithTimeoutCause(context.Background(), 20*time.Millisecond, cause)
		<-ctx.Done()
		_, err := compileLogic(t, rule).Eval(ctx, env)
		var e *Error
		if !errors.As(err, &e) || e.Code != codeBound || !errors.Is(err, cause) {
			t.Errorf("%.60s… gives %v, want %s because of %v", rule, err, codeBound, cause)
		}
		cancel()
	}
}

func TestNoRuleBuildsWithoutBound(t *testing.T) {
	hundred := "[" + strings.TrimSuffix(strings.Repeat("0,", 100), ",") + "]"
	acc := `{"var":"accumulator"}`
	for name, rule := range map[string]string{
		"doubling texts":      `{"reduce":[` + hundred + `,{"cat":[` + acc + `,` + acc + `]},"x"]}`,
		"doubling lists":      `{"reduce":[` + hundred + `,{"merge":[` + acc + `,` + acc + `]},[1]]}`,
		"text of shared list": `{"cat":[{"reduce":[` + hundred + `,[` + acc + `,` + acc + `],"x"]}]}`,
		"many long texts":     `{"map":[` + hundred + `,{"reduce":[[` + strings.Repeat("0,", 21) + `0],{"cat":[` + acc + `,` + acc + `]},"x"]}]}`,
	} {
		_, err := compileLogic(t, rule).Eval(context.Background(), nil)
		var e *Error
		if !errors.As(err, &e) || e.Code != codeBound {
			t.Errorf("%s give %v, want %s", name, err, codeBound)
		}
	}
	long := make([]value.Value, 20_000)
	env := envOver(value.FromEntries([]value.Entry{{Key: "long", Value: value.FromArray(long)}}))
	for name, body := range map[string]string{"lists": `[{"var":"accumulator"}]`, "shared lists": `[{"var":"accumulator"},{"var":"accumulator"}]`, "scopes": `{"var":""}`} {
		_, err := compileLogic(t, `{"reduce":[{"var":"long"},`+body+`]}`).Eval(context.Background(), env)
		var e *Error
		if !errors.As(err, &e) || e.Code != codeBound {
			t.Errorf("%s nested 20000 deep give %v, want %s", name, err, codeBound)
		}
	}
	deep := strings.Repeat(`{"!":`, 5000) + "1" + strings.Repeat("}", 5000)
	if _, errs := CompileLogic(parse(t, deep)); len(errs) != 1 || !strings.Contains(errs[0].Message, "nested more than 1000") {
		t.Errorf("a rule nested 5000 deep gives %d errors", len(errs))
	}
	nested := value.FromInt(1)
	for range 100_000 {
		nested = value.FromArray([]value.Value{nested})
	}
	if _, err := compileLogic(t, `{"cat":{"var":"x"}}`).Eval(context.Background(), envOver(value.FromEntries([]value.Entry{{Key: "x", Value: nested}}))); err == nil {
		t.Error("the text of a list nested 100000 deep is no error")
	}
}

func TestLongLoopsThatKeepLittleAreNotStopped(t *testing.T) {
	list := make([]value.Value, 20_000)
	for i := range list {
		list[i] = value.FromString("some words in a line")
	}
	env := envOver(value.FromEntries([]value.Entry{{Key: "lines", Value: value.FromArray(list)}}))
	for rule, want := range map[string]float64{
		`{"reduce":[{"var":"lines"},{"cat":[{"var":"accumulator"},"x"]},""]}`:                                            20_000,
		`{"reduce":[{"var":"lines"},{"+":[{"var":"accumulator"},{"if":[{"cat":[{"var":"current"},"y"]},1]}]},0]}`:        math.NaN(),
		`{"filter":[{"var":"lines"},{"in":["words",{"cat":[{"var":""},{"var":""},{"var":""},{"var":""},{"var":""}]}]}]}`: 20_000,
	} {
		got, err := compileLogic(t, rule).Eval(context.Background(), env)
		n := float64(max(got.Len(), len(got.Str())))
		if math.IsNaN(want) {
			want, n = 20_000, got.Float()
		}
		if err != nil || n != want {
			t.Errorf("%.60s… gives %v, %v; want %v", rule, n, err, want)
		}
	}
}

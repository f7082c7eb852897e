package jsonata

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var hostFunctions = WithFunctions(
	Function{Name: "twice", Signature: "<n-:n>", Call: func(_ *Call, args []value.Value) (value.Value, error) {
		return value.FromFloat(2 * args[0].Float()), nil
	}},
	Function{Name: "data", Call: func(c *Call, _ []value.Value) (value.Value, error) {
		return value.FromAny(c.Data())
	}},
	Function{Name: "here", Call: func(c *Call, _ []value.Value) (value.Value, error) {
		return c.Context(), nil
	}},
	Function{Name: "count", Call: func(_ *Call, args []value.Value) (value.Value, error) {
		return value.FromInt(int64(len(args))), nil
	}},
	Function{Name: "call", Signature: "<fx:x>", Call: func(c *Call, args []value.Value) (value.Value, error) {
		return c.Apply(args[0], args[1])
	}},
	Function{Name: "panics", Call: func(*Call, []value.Value) (value.Value, error) {
		panic("of the host")
	}},
	Function{Name: "refuses", Call: func(*Call, []value.Value) (value.Value, error) {
		return value.Undef, &Error{Code: "X1", Offset: -1, Message: "own error"}
	}},
)

func TestHostFunctionsDoWhatFunctionsCan(t *testing.T) {
	input := mustValue(t, `{"n": 4, "list": [1, 2, 3]}`)
	for src, want := range map[string]string{
		`$twice(5)`:                                `10`,
		`n.$twice()`:                               `8`,
		`list.$twice()`:                            `[2,4,6]`,
		`list ~> $map($twice)`:                     `[2,4,6]`,
		`n ~> $twice ~> $twice`:                    `16`,
		`($f := $twice; $f(1) + $f(2))`:            `6`,
		`($g := $twice ~> $string; $g(3))`:         `"6"`,
		`$map(list, function($x){$twice($x) + 1})`: `[3,5,7]`,
		`$data()`:                                  `"mine"`,
		`n.$here()`:                                `4`,
		`$count(1, 2, 3)`:                          `3`,
		`$call($uppercase, "a")`:                   `"A"`,
		`$call(function($x){$x+1}, 1)`:             `2`,
		`$call($twice, 21)`:                        `42`,
		`$type($twice)`:                            `"function"`,
		`($t := $twice(?); $t(4))`:                 `8`,
		`$twice`:                                   `null`,
	} {
		e, err := Compile(src, hostFunctions)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		v, err := e.Eval(context.Background(), input, &Options{Data: "mine"})
		if err != nil || v.JSON() != want {
			t.Errorf("%s gives %s, %v; want %s", src, v.JSON(), err, want)
		}
	}
}

func TestFailuresOfHostFunctionsAreErrors(t *testing.T) {
	for src, want := range map[string]string{
		`$twice("x")`:                              "T0410",
		`1 + $panics()`:                            "U1002",
		`$map([1,2], $panics)`:                     "U1002",
		`$refuses()`:                               "X1",
		`$call(function($x){$x + "a"}, 1)`:         "T2002",
		`$call(5, 1)`:                              "T0410",
		`$sort([2,1], function($a,$b){$panics()})`: "U1002",
	} {
		e, err := Compile(src, hostFunctions)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		_, err = e.Eval(context.Background(), value.Undef, nil)
		var own *Error
		if !errors.As(err, &own) || own.Code != want {
			t.Errorf("%s fails with %v, want %s", src, err, want)
		} else if strings.Contains(own.Message, "goroutine") {
			t.Errorf("%s shows a stack: %s", src, own.Message)
		}
	}
}

func TestOneExpressionInManyGoroutinesGivesEachItsOwn(t *testing.T) {
	e, err := Compile(`(
		$total := $sum(items.(price * n));
		$f := function($k) { $k <= 0 ? $who : $f($k - 1) };
		{"who": $f(20), "total": $total, "names": $join(items^(>price).name, "+"), "data": $data(),
		 "at": $match(items[0].name, /([a-z]+)/).groups[0]}
	)`, hostFunctions)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 200 {
				id := fmt.Sprintf("%c%d", 'a'+g, i)
				in := value.FromEntries([]value.Entry{{Key: "items", Value: value.FromArray([]value.Value{
					value.FromEntries([]value.Entry{{Key: "name", Value: value.FromString(id)}, {Key: "price", Value: value.FromInt(int64(i))}, {Key: "n", Value: value.FromInt(2)}}),
					value.FromEntries([]value.Entry{{Key: "name", Value: value.FromString("z")}, {Key: "price", Value: value.FromInt(-1)}, {Key: "n", Value: value.FromInt(int64(g))}}),
				})}})
				v, err := e.Eval(context.Background(), in, &Options{Data: id, Vars: []value.Entry{{Key: "who", Value: value.FromString(id)}}})
				want := fmt.Sprintf(`{"who":%q,"total":%d,"names":"%s+z","data":%q,"at":"%c"}`, id, 2*i-g, id, id, 'a'+g)
				if err != nil || v.JSON() != want {
					t.Errorf("got %s, %v; want %s", v.JSON(), err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestAFunctionThatGoesOnAfterAnErrorFindsTheEvaluationAsItWas(t *testing.T) {
	e, err := Compile(`(
		$bad := function($x){ $sort([$x, 1, 2], function($l, $r){ $map([1], function($y){ $filter([$l, $r], function($z){ $error("no") }) }) }) };
		$f := function($x, $i){ $try($bad, $i) };
		{
			"direct": $filter([1..5], $try(?, ?)),
			"kept": $filter([5, 6, 7], function($x){ $not($exists($try($bad, $x))) }),
			"sorted": [3, 1, 2]^($try($bad, $) = 1 ? 0 : $),
			"grouped": [1, 2, 1]{$string($) & $string($try($bad, $)): $count($)},
			"deep": $count($map([1..30000], function($x){ $try($bad, $x) = 1 ? $x : 1 }))
		}
	)`, WithFunctions(Function{Name: "try", Call: func(c *Call, args []value.Value) (value.Value, error) {
		if v, err := c.Apply(args[0], args[1:]...); err == nil {
			return v, nil
		}
		return value.Undef, nil
	}}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Eval(context.Background(), value.Undef, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"kept":[5,6,7],"sorted":[1,2,3],"grouped":{"1":2,"2":1},"deep":30000}`; got.JSON() != want {
		t.Errorf("got %s, want %s", got.JSON(), want)
	}
}

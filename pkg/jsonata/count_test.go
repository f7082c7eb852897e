package jsonata

import (
	"context"
	"errors"
	"strconv"
	"testing"
)

func TestFieldsAreCountedAsTheyAreSplit(t *testing.T) {
	for _, tt := range []struct{ expr, want string }{
		{`$count($split("a,b,,c", ","))`, `4`},
		{`$count($split("", ","))`, `1`},
		{`$count($split("a--b--c-", "--"))`, `3`},
		{`$count($split("añ😀", ""))`, `4`},
		{`$count($split("a1b22c", /\d+/))`, `3`},
		{`$count($split(nothing, ","))`, `0`},
		{`$count($split("a,b", nothing))`, `1`},
		{`("a,b").$count($split($, ","))`, `2`},
		{`$count($split("a,b,c", ",", 2))`, `2`},
		{`($count := function($x){"hidden"}; $count($split("a,b", ",")))`, `"hidden"`},
		{`($split := function($a, $b){[1, 2, 3, 4, 5]}; $count($split("a,b", ",")))`, `5`},
		{`($f := function($s){$count($split($s, ","))}; $map(["a", "b,c"], $f))`, `[1,2]`},
		{`$count($split(1, ","))`, `T0410 at 7`},
		{`$count($split("a", ",", -1))`, `D3020 at 7`},
	} {
		e, err := Compile(tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Eval(context.Background(), mustValue(t, `{}`), nil)
		got := v.JSON()
		var own *Error
		if errors.As(err, &own) {
			got = own.Code + " at " + strconv.Itoa(own.Offset)
		}
		if got != tt.want {
			t.Errorf("%s: got %s (%v), want %s", tt.expr, got, err, tt.want)
		}
	}
}

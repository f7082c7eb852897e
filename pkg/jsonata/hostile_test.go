package jsonata

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// tooLong is far beyond what a case takes, on a busy machine and under the race
// detector too; what is not bounded takes longer.
const tooLong = time.Minute

// hostile are expressions and data that try to take all time or all memory.
// Each must end with one of the codes, soon after the deadline at the latest.
var hostile = []struct {
	name  string
	expr  string
	data  string
	codes string
}{
	{"endless recursion", `($f := function($n){1 + $f($n + 1)}; $f(0))`, "", "U1001"},
	{"endless tail recursion", `($f := function(){$f()}; $f())`, "", "U1001"},
	{"endless mutual tail recursion", `($f := function($n){$g($n + 1)}; $g := function($n){$f($n - 1)}; $f(0))`, "", "U1001"},
	{"endless mutual recursion", `($f := function($n){[$g($n)]}; $g := function($n){{"a": $f($n)}}; $f(0))`, "", "U1001"},
	{"tail recursion that gathers closures", `($f := function($g){$f(function(){$g})}; $f(1))`, "", "U1001"},
	{"tail recursion that nests arrays", `($f := function($x){$f([[$x]])}; $f(1))`, "", "U1001"},
	{"tail recursion that nests objects", `($f := function($x, $n){$n = 0 ? $x : $f({"a": $x}, $n - 1)}; $f(1, 100000))`, "", "U1001"},
	{"a deep value made a string", `($f := function($x, $n){$n = 0 ? $string($x) : $f({"a": $x}, $n - 1)}; $f(1, 100000))`, "", "U1001"},
	{"deep values compared", `($f := function($x, $y, $n){$n = 0 ? $x = $y : $f([[$x]], [[$y]], $n - 1)}; $f(1, 1, 100000))`, "", "U1001"},
	{"deep values in distinct", `($f := function($x, $n){$n = 0 ? $distinct([[$x], [$x]]) : $f([[$x]], $n - 1)}; $f(1, 100000))`, "", "U1001"},
	{"deep value changed", `($f := function($x, $n){$n = 0 ? ($x ~> |**|{"b": 1}|) : $f({"a": $x}, $n - 1)}; $f(1, 100000))`, "", "U1001"},
	{"descendants of a deep value", `($f := function($x, $n){$n = 0 ? $count($x.**) : $f({"a": $x}, $n - 1)}; $f(1, 100000))`, "", "U1001"},
	{"a deep array is true", `($f := function($x, $n){$n = 0 ? $boolean($x) : $f([[$x]], $n - 1)}; $f(1, 100000))`, "", "U1001"},
	{"name in a deep array", `($f := function($x, $n){$n = 0 ? $lookup($x, "a") : $f([[$x]], $n - 1)}; $f({"a": 1}, 100000))`, "", "U1001"},
	{"partial applications in a chain", `($f := function($g){$f($g(?))}; $f(function($x){$x}))`, "", "U1001"},
	{"calls through partial applications", `($f := function($n){($h := $f(?); $h($n))}; $f(1))`, "", "U1001"},
	{"compositions in a chain", `($f := function($g){$f($g ~> $g)}; $f($string))`, "", "U1001"},
	{"a doubled composition called", `($d := function($g, $n){$n = 0 ? $g : $d($g ~> $g, $n - 1)}; $h := $d(function($x){$x + 1}, 60); $h(1))`, "", "U1001"},
	{"cyclic lambdas", `($f := function($g){$g($g)}; $f($f))`, "", "U1001"},
	{"fixed point without end", `(function($x){$x($x) + 1})(function($x){$x($x) + 1})`, "", "U1001"},
	{"recursion through eval", `($f := function(){$eval("$f() + 1")}; $f())`, "", "U1001 D3121"},
	{"eval of itself", `($s := "$eval($s)"; $eval($s))`, "", "U1001 D3121"},
	{"recursion through map", `($f := function($x){$map([$x], $f)}; $f(1))`, "", "U1001"},
	{"recursion through sort", `($f := function($l, $r){$count($sort([$l, $r], $f))}; $f(1, 2))`, "", "U1001"},
	{"eval of a long nested text", `$eval($pad("", 4000000, "["))`, "", "U1001 D3120"},
	{"eval of a long text", `$eval($pad("1", 4000000, "+1"))`, "", "U1001 D3120"},
	{"a range too long", `[0..10000000]`, "", "D2014"},
	{"ranges of ranges", `[1..10000].([1..10000])`, "", "D2015 U1001"},
	{"ranges kept", `[1..1000].{"a": [1..10000000]}`, "", "U1001"},
	{"a large array looked up and kept", `[1..100000].{"a": $$.a.b}`, bigArray("a", 100000), "U1001"},
	{"a large array filtered and kept", `[1..100000].{"a": $$.a[true]}`, bigArray("a", 100000), "U1001"},
	{"keys of a large array kept", `[1..100000].{"a": $$.a.$keys()}`, bigArray("a", 100000), "U1001"},
	{"cross product", `[1..100000].([1..100000].($))`, "", "D2015 U1001"},
	{"joins of ranges", `(a@$x.$$.a@$y.$$.a@$z){"k": $x}`, bigArray("a", 3000), "D2015 U1001"},
	{"doubling strings", `($f := function($s){$f($s & $s)}; $f("ab"))`, "", "D2016"},
	{"doubling strings by join", `($f := function($s){$f($join([$s, $s]))}; $f("ab"))`, "", "D2016"},
	{"doubling strings by replace", `($f := function($s){$f($replace($s, "a", "aa"))}; $f("ab"))`, "", "D2016 U1001"},
	{"doubling strings by a regular expression", `($f := function($s){$f($replace($s, /a/, "$0$0"))}; $f("ab"))`, "", "D2016 U1001"},
	{"doubling strings by JSON", `($f := function($s){$f($string([$s, $s]))}; $f("\""))`, "", "D2016 U1001"},
	{"doubling strings by encoding", `($f := function($s){$f($encodeUrlComponent($s))}; $f("%%%%"))`, "", "D2016 U1001"},
	{"a replacement that multiplies", `$replace($pad("", 1000000, "a"), /a+/, $pad("", 2000000, "$0"))`, "", "D2016 U1001"},
	{"growing strings kept", `$count([1..100000].$pad("", 1000000 + $))`, "", "U1001"},
	{"doubling arrays", `($f := function($a){$f($append($a, $a))}; $f([1]))`, "", "D2015 U1001"},
	{"doubling arrays by a constructor", `($f := function($a){$f([$a, $a])}; $f([1]))`, "", "D2015 U1001"},
	{"doubling arrays by nesting", `($f := function($a, $n){$n = 0 ? $string($a) : $f([[$a], [$a]], $n - 1)}; $f([1], 100))`, "", "D2016 U1001"},
	{"doubling objects by a transform", `($f := function($a){$f($a ~> |$|{"b": $}|)}; $f({"a": 1}))`, "", "U1001"},
	{"doubling objects from the inside", `$reverse([1..40]) ~> $reduce(function($a, $n){{"a": $a}}, {}) ~> |$reverse(**)|{"b": $, "c": $}|`, "", "U1001"},
	{"a bomb of padding", `$pad("x", 10000000000)`, "", "D2016"},
	{"a bomb of padding by many", `$join([1..100000].$pad("x", 1000000))`, "", "U1001 D2016"},
	{"a bomb of joining", `$join([1..1000000].("0123456789"), $pad("", 1000000, "-"))`, "", "D2016 U1001"},
	{"a picture without end", `$formatInteger(1, $pad("0", 100000000, "0"))`, "", "U1001"},
	{"a year of many digits", `$fromMillis(0, "[Y1000000000]")`, "", "ok"},
	{"a regular expression that backtracks", `$match($pad("", 40, "a") & "!", /^(a+)+$/)`, "", "ok U1001"},
	{"backtracking with a lookahead", `$match($pad("", 40, "a") & "!", /^(?=(a+)+$)/)`, "", "U1001 ok"},
	{"backtracking with a backreference", `$match($pad("", 40, "a") & "!", /^((a+)\2?)+$/)`, "", "U1001 ok"},
	{"a regular expression of many groups", `$match($pad("", 100000, "a"), /((a*)*)*b/)`, "", "U1001 ok"},
	{"matches of a long text", `$match($pad("", 50000000, "a"), /a/)`, "", "U1001 D2015"},
	{"a matcher that never ends", `($m := function($s){{"match": "a", "start": 0, "end": 1, "groups": [], "next": function(){$m($s)}}}; $replace("aaa", $m, "b"))`, "", "U1001 D2016"},
	{"a matcher that never ends, split", `($m := function($s){{"match": "a", "start": 0, "end": 1, "groups": [], "next": function(){$m($s)}}}; $split("aaa", $m))`, "", "U1001 D2015"},
	{"a matcher that goes back, split", `($m := function($s){{"match": "a", "start": 10000000, "end": 0, "groups": [], "next": function(){$m($s)}}}; $split($pad("", 10000000, "a"), $m))`, "", "U1001 D2015"},
	{"sorting by a comparison without end", `$sort([1..5000000], function($l, $r){true})`, "", "U1001"},
	{"calls of many arguments", `($f := function($a){1 + $f(` + strings.Repeat("1,", 30000) + `1)}; $f(1))`, "", "U1001"},
	{"functions of many parameters", `($f := function(` + manyNames(30000) + `){1 + $f(1)}; $f(1))`, "", "U1001"},
	{"a long concatenation inside itself", `($f := function($a){` + strings.Repeat("1 & ", 30000) + `$f(1)}; $f(1))`, "", "U1001"},
	{"sorting inside sorting", `($f := function(){[1..16000]^($f())}; $f())`, "", "U1001"},
	{"grouping inside grouping", `($f := function(){[1..16000]{$f(): $}}; $f())`, "", "U1001"},
	{"sorting by keys without end", `[1..5000000]^(>$string($))`, "", "U1001"},
	{"grouping without end", `[1..5000000]{$string($): $}`, "", "U1001"},
	{"distinct objects", `$distinct([1..5000000].{"a": $})`, "", "ok U1001"},
	{"in of a long list", `[1..1000000][$ in [1..1000000]]`, "", "U1001"},
	{"a predicate that repeats", `[1..3000][[1..3000]]`, "", "ok U1001 D2015"},
	{"a predicate that multiplies", `($f := function($a){$f($a[[0, 0, 1, 1]])}; $f([1, 2]))`, "", "U1001 D2015"},
	{"a signature that backtracks", `(function($a)<n+n+n+n+n+n+n+n+s>{$a})(` + strings.Repeat("1,", 200) + `1)`, "", "T0410"},
	{"zip of ranges", `$zip([1..3000000], [1..3000000], [1..3000000], [1..3000000])`, "", "ok U1001"},
	{"merging without end", `$merge([1..5000000].{$string($): $})`, "", "U1001"},
	{"spreading without end", `[1..5000000].{"a": $} ~> $spread`, "", "U1001"},
	{"reduce that keeps everything", `$reduce([1..5000000], function($a, $x){[[$a], $x]})`, "", "U1001"},
	{"a host function that panics", `$panics(1)`, "", "U1002"},
	{"a host function that panics in map", `$map([1..10], $panics)`, "", "U1002"},
	{"a host function that calls back without end", `($f := function($x){$calls($f)}; $f(1))`, "", "U1001"},
}

func manyNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("$a", i)
	}
	return strings.Join(names, ",")
}

func bigArray(name string, n int) string {
	return `{"` + name + `":[` + strings.TrimSuffix(strings.Repeat(`{"b":1},`, n), ",") + `]}`
}

func hostileFunctions() Option {
	return WithFunctions(
		Function{Name: "panics", Call: func(*Call, []value.Value) (value.Value, error) {
			var elems []value.Value
			return elems[len(elems)], nil
		}},
		Function{Name: "calls", Signature: "<f:x>", Call: func(c *Call, args []value.Value) (value.Value, error) {
			return c.Apply(args[0], value.True)
		}},
	)
}

// heapLimit is what an evaluation may keep alive: 1 GiB that it is allowed,
// what it takes between two looks and what is about to be collected.
const heapLimit = 3 << 30

func TestHostileExpressionsEndWithACode(t *testing.T) {
	deadline := testscale.Of(5*time.Millisecond, 250*time.Millisecond)
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Compile(tt.expr, hostileFunctions())
			if err != nil {
				t.Fatal(err)
			}
			in := value.Undef
			if tt.data != "" {
				in = mustValue(t, tt.data)
			}
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			start := time.Now()
			_, err = e.Eval(ctx, in, nil)
			took := time.Since(start)
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			code := "ok"
			var own *Error
			if errors.As(err, &own) {
				code = own.Code
			} else if err != nil {
				t.Fatalf("an error without a code: %v", err)
			}
			// A slow machine may reach the deadline before another bound.
			if code != "U1001" && !strings.Contains(tt.codes, code) {
				t.Errorf("ended with %s (%v), want one of %s", code, err, tt.codes)
			}
			if took > tooLong {
				t.Errorf("took %v", took)
			}
			if stats.HeapAlloc > heapLimit {
				t.Errorf("the heap grew to %d MiB", stats.HeapAlloc>>20)
			}
			t.Logf("%s after %v, heap %d MiB of %d MiB", code, took.Round(time.Millisecond), stats.HeapAlloc>>20, stats.HeapSys>>20)
		})
	}
}

func TestHostileExpressionsEndWhenCancelled(t *testing.T) {
	gone := errors.New("the caller is gone")
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Compile(tt.expr, hostileFunctions())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(gone)
			_, err = e.Eval(ctx, value.Undef, nil)
			var own *Error
			if !errors.As(err, &own) || own.Code != "U1001" || !errors.Is(err, gone) {
				t.Errorf("got %v", err)
			}
			// And in the middle, for what does not end before.
			ctx, cancel = context.WithCancelCause(context.Background())
			timer := time.AfterFunc(testscale.Of(2*time.Millisecond, 20*time.Millisecond), func() { cancel(gone) })
			defer timer.Stop()
			start := time.Now()
			in := value.Undef
			if tt.data != "" {
				in = mustValue(t, tt.data)
			}
			e.Eval(ctx, in, nil)
			if took := time.Since(start); took > tooLong {
				t.Errorf("went on for %v after it was cancelled", took)
			}
		})
	}
}

func TestHostileSourcesCompileInLinearTimeOrFail(t *testing.T) {
	n := testscale.Of(40_000, 200_000)
	tests := []struct {
		name, src string
		code      string // empty where it compiles
	}{
		{"path steps", "a" + strings.Repeat(".a", n), ""},
		{"open brackets", strings.Repeat("[", n), "U1001"},
		{"open parentheses", strings.Repeat("(", n), "U1001"},
		{"open braces", strings.Repeat(`{"a":`, n), "U1001"},
		{"open functions", strings.Repeat("function(){", n), "U1001"},
		{"open calls", strings.Repeat("$f(", n), "U1001"},
		{"open predicates", strings.Repeat("a[", n), "U1001"},
		{"open order-bys", strings.Repeat("a^(", n), "U1001"},
		{"open transforms", strings.Repeat("|", n), "U1001"},
		{"minus signs", strings.Repeat("-", n) + "1", "U1001"},
		{"predicates in a row", "a" + strings.Repeat("[0]", n), ""},
		{"calls in a row", "$f" + strings.Repeat("()", n), "U1001"},
		{"a long sum", "1" + strings.Repeat("+1", n), "U1001"},
		{"a long concatenation", `"a"` + strings.Repeat(`&"a"`, n), ""},
		{"a long list", "[1" + strings.Repeat(",1", n) + "]", ""},
		{"a long block", "(1" + strings.Repeat(";1", n) + ")", ""},
		{"many variables", "(" + strings.Repeat("$a := 1;", n) + ")", ""},
		{"many parents", "a" + strings.Repeat(".%", n), "U1001"},
		{"many focuses", "a" + strings.Repeat(".a@$b", n/10), ""},
		{"conditions", strings.Repeat("a?b:", n) + "c", "U1001"},
		{"assignments", strings.Repeat("$a:=", n) + "1", "U1001"},
		{"choices", "a" + strings.Repeat("~>$f", n), "U1001"},
		{"order-bys in a row", "a" + strings.Repeat("^(b)", n), ""},
		{"a comment", "/*" + strings.Repeat("*", n) + "*/ 1", ""},
		{"a signature", "function($a)<" + strings.Repeat("n", n) + ":n>{1}", ""},
		{"open signature", "function($a)<" + strings.Repeat("a<", n), "S0203"},
		{"a string", `"` + strings.Repeat(`\n`, n) + `"`, ""},
		{"a regular expression", "/" + strings.Repeat("(", n) + strings.Repeat(")", n) + "/", "?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			e, err := Compile(tt.src)
			took := time.Since(start)
			code := ""
			var own *Error
			if errors.As(err, &own) {
				code = own.Code
			}
			if tt.code != "?" && code != tt.code {
				t.Errorf("got %v, want code %q", err, tt.code)
			}
			if took > tooLong {
				t.Errorf("compiling took %v", took)
			}
			t.Logf("%q in %v", code, took.Round(time.Millisecond))
			if e == nil {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second/4)
			defer cancel()
			start = time.Now()
			e.Eval(ctx, mustValue(t, `{"a":{"a":1}}`), nil)
			if took := time.Since(start); took > tooLong {
				t.Errorf("evaluating took %v", took)
			}
		})
	}
}

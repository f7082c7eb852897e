package jsonata

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestWhatAnEvaluationAllocatesIsAccounted holds what expressions allocate
// beside what they count of it: what is not counted is not bounded.
func TestWhatAnEvaluationAllocatesIsAccounted(t *testing.T) {
	data := mustValue(t, `{"o":[`+strings.Repeat(`{"a":{"b":1,"c":[1,2]},"s":"x y z","n":1},`, 5000)+`{"a":null}],`+
		`"n":[`+strings.Repeat(`3,1,2,`, 5000)+`0],"s":"`+strings.Repeat(`some words, `, 5000)+`"}`)
	for _, src := range []string{
		`o.a`, `o.a.b`, `o.(a.b)`, `o.a.c`, `o.{"x": a}`, `o.[a]`, `o[a]`, `o[n = 1]`, `o.*`, `**`, `o.a.%`, `o.a.%.%`, `o#$i.$i`, `o@$x.$x`, `o@$x#$i[$i > 5].{"a": $x}`,
		`o^(n)`, `o^(>n, s)`, `n^($)`, `o{s: $}`, `o{s: a.b}`, `o{$string(n): $count($)}`, `n{$string($): $}`, `n.{$string($): $}`, `o@$x{$x.s: $x}`, `o#$i{$string($i): $i}`,
		`[n, n]`, `[o.a, n]`, `[[n], [n]]`, `[1..100000]`, `[1..1000].([1..100])`, `n[[0..100]]`, `n[[-1..2]]`, `n.$string()`, `s & s & s`, `n & n`,
		`$append(n, n)`, `$reverse(n)`, `$shuffle(n)`, `$sort(n)`, `$sort(n, function($l, $r){$l > $r})`, `$distinct(n)`, `$distinct(o)`, `$distinct(o.{"a": $random()}[[0..200]])`, `$distinct([1..50000])`, `$zip(n, n, n)`,
		`$map(n, function($x){$x})`, `$map(n, function($x){$string($x)})`, `$map(n, function($x){function($y){$x}})`, `$map(n, function($x){[$x, $x]})`, `$filter(n, function($x){true})`, `$filter(o, function($x){$x.n = 1})`,
		`$reduce([1..1000], function($a, $x){$append($a, $x)}, [])`, `$reduce([1..1000], function($a, $x){$a & "word"}, "")`, `$count($reduce([1..5000], function($a, $x){{"a": $a}}, 0))`, `$each(o[0], function($v, $k){n})`,
		`$merge([1..20000].{$string($): $})`, `$each($merge([1..20000].{$string($): $}), function($v, $k){$k})`, `$sift($merge([1..20000].{$string($): $}), function($v){true})`, `$spread($merge([1..20000].{$string($): $}))`, `$keys($merge([1..20000].{$string($): $}))`, `$keys([1..20000].{$string($): $})`, `$spread(o)`, `$clone(o)`, `$lookup(o, "a")`, `o ~> |$|{"z": 1}|`, `o ~> |a|{"z": 1}, "b"|`,
		`$string(o)`, `$string(o, true)`, `$join(o.s)`, `$join(o.s, ", ")`, `$split(s, " ")`, `$split(s, "")`, `$split(s, /,/)`, `$match(s, /\w+/)`, `$match(s, /(\w)(\w)(\w)(\w)/)`, `$replace(s, "some", "other")`, `$replace(s, /s(o)me/, "$1$1$1$1$1$1$1$1$1")`, `$replace(s, /some/, function($m){$m.match & "!"})`,
		`$uppercase(s)`, `$lowercase(s)`, `$trim(s)`, `$pad(s, 1000000)`, `$pad(s, -1000000, "ab")`, `$substring(s, 5)`, `$substringBefore(s, "zz")`, `$base64encode(s)`, `$base64decode($base64encode(s))`, `$encodeUrl(s)`, `$encodeUrlComponent(s)`, `$decodeUrl(s)`, `$decodeUrlComponent($encodeUrlComponent(s))`,
		`o.$uppercase(s)`, `o.$substring(s, 1)`, `o.$split(s, " ")`, `o.$match(s, /(\w) (\w)/)`, `o.$replace(s, "x", "y")`, `o.$fromMillis(n)`, `o.$toMillis("2020-01-01")`, `o.$formatNumber(n, "0.00")`, `o.$formatInteger(n, "w")`, `o.$formatBase(n, 2)`, `o.$parseInteger("12", "00")`, `o.$number("12")`, `o.$eval("n+1")`, `o.$each($, function($v, $k){$k})`, `o.$sift($, function($v){true})`, `o.$keys()`, `o.$spread()`, `o.$merge([$, $])`, `o.$lookup($, "a")`, `o.$type(a)`, `o.$zip([1], [2])`, `o.$append(n, n)`, `o.$sort([n, 0])`, `o.$reverse([n, 0])`, `o.$distinct([n, 0, n])`, `o.$join([s, s])`, `o.$encodeUrlComponent(s)`, `o.$pad(s, 30)`, `o.$trim(s)`,
		`($f := function($x){$x}; o.$f(?))`, `o.($string ~> $length)`, `o.($x := n; function(){$x})`, `o.(function($x){$x})(n)`, `o.(n in [1, 2])`, `o.(n = 1 ? [n] : 0)`, `o.(s & "!")`, `o.($s := s; $s & $s)`, `o.($ ~> |a|{"z": 1}|)`,
		`$eval("[1..100000]")`, `$eval($string(o))`,
	} {
		t.Run(src, func(t *testing.T) {
			e, err := Compile(src)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			ev := newEvaluator(context.Background(), nil)
			ev.known = &e.unit.known
			runtime.ReadMemStats(&before)
			_, evErr := runUnit(ev, e.unit, data)
			runtime.ReadMemStats(&after)
			if evErr != nil {
				t.Fatal(evErr)
			}
			took, counted := int64(after.TotalAlloc-before.TotalAlloc), ev.made+ev.metered
			if took > 3*counted+1<<16 {
				t.Errorf("allocated %d KiB, counted %d KiB", took>>10, counted>>10)
			}
			if counted > 4*took+1<<20 {
				t.Errorf("allocated only %d KiB, counted %d KiB", took>>10, counted>>10)
			}
		})
	}
}

func TestMemoryIsThatOfTheEvaluation(t *testing.T) {
	var neighbour []byte
	grow := Function{Name: "neighbour", Call: func(*Call, []value.Value) (value.Value, error) {
		neighbour = make([]byte, testscale.Of(64<<20, 256<<20))
		return value.True, nil
	}}
	for _, tt := range []struct{ name, expr, code string }{
		{"what runs beside it", `($neighbour(); $count([1..1000000]) + $count([1..1000000]))`, ""},
		{"what was dropped", `$sum([1..200].$count([1..100000]))`, ""},
		{"what is held", `$count([1..200].{"a": [1..100000]})`, "U1001"},
		{"members looked up and held", `$count([1..2000].{"a": $$.o.a})`, "U1001"},
		{"items kept", `$count([1..2000].{"a": $$.o[true]})`, "U1001"},
		{"text held", `$count([1..200].$pad("", 1000000 + $))`, "U1001"},
		{"matches held", `$count([1..2000].{"a": $match($$.s, /a/)})`, "U1001"},
		{"texts between matches held", `($m := function($s){{"match": "a", "start": 1000, "end": 0, "groups": [], "next": function(){$m($s)}}}; $count($split($$.s, $m)))`, "U1001"},
		{"tuples held", `$count($map([1..2000], function($n){function(){$n}}).{"f": $$.o#$i.{"i": $i}})`, "U1001"},
		{"sources compiled and held", `$count([1..20000].$eval("function($x){[$x" & $pad("", 5000, ",1") & "]}"))`, "U1001"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			neighbour = nil
			runtime.GC()
			e, err := Compile(tt.expr, WithFunctions(grow))
			if err != nil {
				t.Fatal(err)
			}
			in := mustValue(t, `{"o":[`+strings.Repeat(`{"a":1},`, 9999)+`{"a":1}],"s":"`+strings.Repeat("a", 1000)+`"}`)
			_, err = e.Eval(context.Background(), in, &Options{Limits: Limits{Memory: testscale.Of[int64](32<<20, 64<<20)}})
			code := ""
			if own, ok := err.(*Error); ok {
				code = own.Code
			}
			if code != tt.code {
				t.Errorf("ended with %v, want %q", err, tt.code)
			}
		})
	}
	runtime.KeepAlive(neighbour)
}

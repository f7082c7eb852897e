package nodes

import "testing"

func TestExpressionsThatMayYieldFunctionsAreKnown(t *testing.T) {
	for source, want := range map[string]bool{
		`$.list.content`:                       false,
		`$count($split($.list.content, "\n"))`: false,
		`{"a": $sum(b) ? $max(c) : $min (d)}`:  false,
		`$`:                                    false,
		`$$.a`:                                 false,
		`$sum`:                                 true,
		`{"f": $sum}`:                          true,
		`[$sum, 1]`:                            true,
		`function($x) { $x }`:                  true,
		`λ($x) { $x }`:                         true,
		`$substring(?, 1)`:                     true,
		`$trim ~> $uppercase`:                  true,
		`$eval($.entry.code)`:                  true,
		`($f := $.entry.ok ? $sum : $max; {"f": $f})`: true,
	} {
		if got := mayYieldFunctions(source); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

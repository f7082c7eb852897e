package jsonata

import (
	"fmt"
	"strings"
	"testing"
)

// refsOf writes references as "path@offset-end" and "fn(args)@offset-end".
func refsOf(t *testing.T, src string) string {
	t.Helper()
	e, err := Compile(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	var out []string
	for _, r := range e.Refs() {
		name := strings.Join(r.Path, ".")
		if r.Kind == CallRef {
			var args []string
			for _, a := range r.Args {
				if a.IsUndefined() {
					args = append(args, "_")
					continue
				}
				args = append(args, a.JSON())
			}
			name = r.Func + "(" + strings.Join(args, ",") + ")"
		}
		out = append(out, fmt.Sprintf("%s@%d-%d", name, r.Offset, r.End))
	}
	return strings.Join(out, " ")
}

func TestRefsListWhatSurelyStartsAtTheInput(t *testing.T) {
	for src, want := range map[string]string{
		`$.a.b`:                         "a.b@0-5",
		`$$.a.b`:                        "a.b@0-6",
		`a.b`:                           "a.b@0-3",
		"`a b`.c":                       "a b.c@0-7",
		`a + $.b`:                       "a@0-1 b@4-7",
		`é & a`:                         "é@0-2 a@5-6",
		`a.b[c > 1].d`:                  "a.b.d@0-12",
		`a.(b + $$.c)`:                  "a@0-1 c@7-11",
		`a[$$.n = x]`:                   "a@0-1 n@2-6",
		`{"k": a, b: $.c}`:              "a@6-7 b@9-10 c@12-15",
		`[a, b][0]`:                     "a@1-2 b@4-5",
		`x ? y : z`:                     "x@0-1 y@4-5 z@8-9",
		`($v := a; $v.b)`:               "a@7-8",
		`function($x){$x.b}`:            "",
		`$map(a, function($x){ $x.b })`: "map(_,_)@0-29 a@5-6",
		`$nodeExecution("n", -1)`:       `nodeExecution("n",-1)@0-23`,
		`$executionCount("n") > $f(a)`:  `executionCount("n")@0-20 f(_)@23-28 a@26-27`,
		`a ~> $count`:                   "a@0-1 count(_)@5-11",
		`*.a`:                           "",
		`$`:                             "@0-1",
		`a^(b)`:                         "a@0-1",
		`a@$x.b`:                        "a@0-1",
		`"text"`:                        "",
	} {
		if got := refsOf(t, src); got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

package jsonata

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// findingsOf writes the findings of an expression over an object as
// "part: message".
func findingsOf(t *testing.T, src string, opts ...Option) string {
	t.Helper()
	e, err := Compile(src, append(opts, WithObjectInput())...)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	var out []string
	for _, f := range e.Findings() {
		out = append(out, src[f.Offset:f.End]+": "+f.Message)
	}
	return strings.Join(out, "; ")
}

func TestFindings(t *testing.T) {
	for src, want := range map[string]string{
		`$cuont($.a)`:                  "$cuont: there is no function $cuont",
		`a ~> $foo`:                    "$foo: there is no function $foo",
		`$foo(?, 1)`:                   "$foo: there is no function $foo",
		`count(a)`:                     "count: the name count reads a field here, which is not a function",
		`$line & "x"`:                  "$line: nothing gives the variable $line a value: it yields nothing",
		`$map([1], $uppercas)`:         "$uppercas: nothing gives the variable $uppercas a value: it yields nothing",
		`$entry.directory`:             "$entry: nothing gives the variable $entry a value: it yields nothing",
		`($x := 1; $x) + $x`:           "$x: the variable $x has no value here: it yields nothing",
		`$map(a, function($v){$v}).$v`: "$v: the variable $v has no value here: it yields nothing",
		`( $f := function($n){ $n > 0 ? $f($n - 1) : $m }; $f(3) )`: "$m: nothing gives the variable $m a value: it yields nothing",

		`$uppercase()`:                "$uppercase(): $uppercase takes 1 argument, found 0",
		`$uppercase("a", "b")`:        `$uppercase("a", "b"): $uppercase takes 1 argument, found 2`,
		`$substring(a)`:               "$substring(a): $substring takes 2 or 3 arguments, found 1",
		`a ~> $uppercase(1)`:          "$uppercase(1): $uppercase takes 1 argument, found 2",
		`a ~> $millis`:                "$millis: $millis takes no arguments, found 1",
		`$now("a", "b", "c")`:         `$now("a", "b", "c"): $now takes 0 to 2 arguments, found 3`,
		`$zip()`:                      "$zip(): $zip takes at least 1 argument, found 0",
		`$uppercase(5)`:               "5: argument 1 of $uppercase must be a string, found a number",
		`$uppercase(a + 1)`:           "a + 1: argument 1 of $uppercase must be a string, found a number",
		`$substring("a", "b")`:        `"b": argument 2 of $substring must be a number, found a string`,
		`$map(function($x){$x}, a)`:   "",
		`$map(function($x){$x}, [1])`: "[1]: argument 2 of $map must be a function, found an array",
		`$filter(a, "b")`:             `"b": argument 2 of $filter must be a function, found a string`,
		`$sum("a")`:                   `"a": argument 1 of $sum must be an array of numbers, found a string`,
		`$sum(["a", "b"])`:            `["a", "b"]: argument 1 of $sum must be an array of numbers, found an array with a string`,
		`$sum($split(a, ","))`:        `$split(a, ","): argument 1 of $sum must be an array of numbers, found an array with a string`,
		`$join(a.b, 5)`:               "5: argument 2 of $join must be a string, found a number",
		`$formatNumber(1, "0", 5)`:    "5: argument 3 of $formatNumber must be an object, found a number",
		`"a" + "b"`:                   `"a": the left side of + must be a number, found a string`,
		`a * (b ? "x" : "y")`:         `(b ? "x" : "y"): the right side of * must be a number, found a string`,
		"$sum(\u00a0a)":               "\u00a0: the name \"\\u00a0a\" has a no-break space (U+00A0) in it",
		`{"k": “v”}`:                  `“: the name "“v”" has a typographic quotation mark (U+201C) in it`,

		// What is right, or may be.
		`$`: "", `$$.a`: "", `$.a.b`: "", "`a\u00a0b`": "",
		`a@$x.b#$i.{"k": $x.y & $i}`:                 "",
		`a.$uppercase()`:                             "",
		`a.$substring(1)`:                            "",
		`a[$uppercase() = "B"]`:                      "",
		`$map(a, function($x){$uppercase()})`:        "",
		`a ~> $uppercase ~> $trim`:                   "",
		`a ~> $substring(0, 1)`:                      "",
		`($f := $uppercase ~> $trim; $f(a))`:         "",
		`($sum := function($x){$x}; $sum("a"))`:      "",
		`function($n){ $n ? $sum($n) : 0 }(a)`:       "",
		`($p := $substring(?, 0, 1); $p(a))`:         "",
		`$keys(a) ~> $join(",")`:                     "",
		`$append(a, "x") ~> $sum()`:                  "",
		`$sum(b ? 1 : "a")`:                          "",
		`$sum([])`:                                   "",
		`$sum([[1]])`:                                "[[1]]: argument 1 of $sum must be an array of numbers, found an array with an array",
		`$string(a) & 5`:                             "",
		`{"count": function($x){$x}}.count(1)`:       "",
		`a ~> |b|{"c": $uppercase("x")}|`:            "",
		`($x := a; $y := function(){ $x }; $y())`:    "",
		`$eval("$x := 1") + $x`:                      "",
		`a^(>$.b)`:                                   "",
		`%.a`:                                        "",
		`$random() * 5`:                              "",
		`$string()`:                                  "",
		`$sort(a, function($l, $r){ $l.n > $r.n })`:  "",
		`$reduce(a, function($i, $j){ $i + $j }, 0)`: "",
	} {
		if strings.HasPrefix(src, "%") {
			src = "a." + src
		}
		if got := findingsOf(t, src); got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

func TestFindingsNameTheSignatureAndWhatCouldBeMeant(t *testing.T) {
	e, err := Compile(`($total := 1; $substring($totl))`)
	if err != nil {
		t.Fatal(err)
	}
	fs := e.Findings()
	if len(fs) != 1 || !slices.Contains(fs[0].Visible, "total") || !slices.Contains(fs[0].Visible, "substring") {
		t.Errorf("%+v", fs)
	}
	e, err = Compile(`$replace("a")`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "it is used as $replace([string], string or function, string or function, [number])"; len(e.Findings()) != 1 || e.Findings()[0].Hint != want {
		t.Errorf("%+v", e.Findings())
	}
}

func TestFindingsKnowFunctionsOfTheProgram(t *testing.T) {
	call := func(*Call, []value.Value) (value.Value, error) { return value.Undef, nil }
	host := WithFunctions(Function{Name: "slug", Signature: "<s:s>", Call: call}, Function{Name: "any", Call: call})
	for src, want := range map[string]string{
		`$slug(a) & $any(1, 2, 3)`: "",
		`$slug(5)`:                 "5: argument 1 of $slug must be a string, found a number",
		`$sum($slug(a))`:           "$slug(a): argument 1 of $sum must be an array of numbers, found a string",
		`$slugg(a)`:                "$slugg: there is no function $slugg",
	} {
		if got := findingsOf(t, src, host); got != want {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}

// TestFindingsOfTheCorpora holds that no expression that gives a value is said
// to be wrong, but that it reads a variable that yields nothing.
func TestFindingsOfTheCorpora(t *testing.T) {
	dir := corpora(t)
	for _, name := range []string{"suite", "workflow"} {
		for _, c := range readCases(t, filepath.Join(dir, "jsonata", name+".jsonl")) {
			var opts []Option
			if strings.HasPrefix(string(c.Data), "{") {
				opts = append(opts, WithObjectInput())
			}
			e, err := Compile(c.Expr, opts...)
			if err != nil || c.Want.Kind == "error" {
				continue
			}
			for _, f := range e.Findings() {
				if _, bound := c.Bindings[f.Name]; bound || f.Kind == UnboundVariable && c.Want.Kind == "undefined" {
					continue
				}
				t.Errorf("%s %s: %s: %s", name, c.ID, c.Expr, f.Message)
			}
		}
	}
}

// shapeText writes a shape: "{a: {b}, c: a string}".
func shapeText(s *Shape) string {
	switch {
	case s == nil:
		return "?"
	case s.Scalar != "":
		return s.Scalar
	}
	parts := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		parts[i] = fmt.Sprintf("%s: %s", f.Name, shapeText(f.Shape))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func TestShapes(t *testing.T) {
	for src, want := range map[string]string{
		`{"a": b, "c": {"d": 1}}`:            "{a: ?, c: {d: a number}}",
		`{"a": 1, k: 2}`:                     "?",
		`a.{"b": $count(c)}`:                 "{b: a number}",
		`a[b > 1].{"b": c}[0]`:               "{b: ?}",
		`a.{"b": c}^(b)`:                     "{b: ?}",
		`a{"x": $sum(b)}`:                    "{x: a number}",
		`a{k: $sum(b)}`:                      "?",
		`[{"a": 1}, {"b": 2}]`:               "{a: a number, b: a number}",
		`[{"a": 1}, c]`:                      "?",
		`x ? {"a": 1} : {"a": "s", "b": 2}`:  "{a: a value without fields, b: a number}",
		`x ? {"a": 1}`:                       "{a: a number}",
		`x ? {"a": 1} : y`:                   "?",
		`( $r := 1; {"r": $r} )`:             "{r: a number}",
		`( $r := 1; $r := a; {"r": $r} )`:    "{r: ?}",
		`$map(a, function($v){ {"v": $v} })`: "{v: ?}",
		`$count(a)`:                          "a number",
		`a & b`:                              "a string",
		`$split(a, ",")`:                     "?",
		`a ~> |b|{"c": 1}|`:                  "?",
		`{"a": 1} ~> $f`:                     "?",
		`a.b`:                                "?",
		`[]`:                                 "?",
	} {
		e, err := Compile(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if got := shapeText(e.Shape()); got != want {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
}

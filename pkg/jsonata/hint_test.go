package jsonata

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestErrorsOfSyntaxSayWhatWasMeant(t *testing.T) {
	for _, c := range []struct {
		src, hint string
		at        string // what stands where the error is reported
	}{
		{"a == b", "x == y is written x = y", "= b"},
		{"a === b", "x == y is written x = y", "== b"},
		{"a !== b", "x !== y is written x != y", "= b"},
		{"a && b", "x && y is written x and y", "& b"},
		{"a || b", "x || y is written x ?: y for a default, x or y between conditions", "|| b"},
		{"(a || b)", "x || y is written x ?: y for a default, x or y between conditions", "|| b)"},
		{"a =< b", "x =< y is written x <= y", "< b"},
		{"x => x", "x => y is written function($x) { y }; at least is >=", "> x"},
		{"!a", "!x is written $not(x), or != between two values", "!a"},
		{"$i += 1", "x += y is written x + y: a variable is bound with := and never changed", "= 1"},
		{"a ?. b", "x?.y is written x.y: a path through nothing yields nothing", ". b"},
		{"a // comment\n+ b", "comments are written /* … */", "/ comment\n+ b"},
		{"// comment\na", "comments are written /* … */", "// comment\na"},
		{"a // see b/c\n", "comments are written /* … */", ""},
		{"# comment\na", "comments are written /* … */", "# comment\na"},
		{"a # comment", "comments are written /* … */", "comment"},
		{"a; b", "several expressions stand in parentheses: (…; …)", "; b"},
		{"function($x){ $x; 1 }", "several expressions stand in parentheses: (…; …)", "; 1 }"},
		{"{{ $.x }}", "an expression stands without {{ and }}", "}}"},
		{"${x}", "an expression stands without ${ and }", "}"},
		{"a b", "an operator or a comma is missing before it", "b"},
		{"“a b”", "found a typographic quotation mark (U+201C); write it in plain ASCII", "b”"},
		{"$sum(\u00a0a b)", "found a no-break space (U+00A0); write it in plain ASCII", "b)"},
		{"$sum(a", "nothing closes the ( of $sum(a", ""},
		{"{\"n\": $sum($.a]\n}", "nothing closes the ( of $sum($.a]…", "]\n}"},
		{"{\n \"a\": \"x,\n \"b\": 1\n}", "close it on its line", "\"x,\n \"b\": 1\n}"},
		{"{\"a\": 'x,\n\n\n 'b': 1}", "close it on its line; the next quotation mark is 3 lines below", "'x,\n\n\n 'b': 1}"},
		{`$join(x, ", ) & "abc"`, "a quotation mark is missing, or an operator behind the string that ends here", `abc"`},
		{`"abc`, "", `"abc`},
		{"\"a\nb\" & (c", "nothing closes the ( of (c", ""},
	} {
		_, err := Compile(c.src)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q compiles", c.src)
			continue
		}
		if at := c.src[e.Offset:]; e.Hint != c.hint || at != c.at && c.at != "" {
			t.Errorf("%q\n got at %q: %s\nwant at %q: %s", c.src, at, e.Hint, c.at, c.hint)
		}
	}
	e, err := Compile("a // see b/c")
	if err == nil && (len(e.Findings()) == 0 || e.Findings()[0].Hint != commentHint) {
		t.Errorf("findings are %v", e.Findings())
	}
}

// TestSentencesAreComplete breaks expressions everywhere and looks for parts of
// a sentence that were not filled in.
func TestSentencesAreComplete(t *testing.T) {
	leak := regexp.MustCompile(`\{(token|value|index|text)\}`)
	check := func(src string, err error) {
		var e *Error
		if errors.As(err, &e) && (leak.MatchString(e.Message) || leak.MatchString(e.Token)) && !leak.MatchString(src) {
			t.Fatalf("%q: %s, token %q", src, e.Message, e.Token)
		}
	}
	input := mustValue(t, `{"a": "x", "b": 1}`)
	sources := []string{`[1 ""`, `"" ""`, `{"": 1 ""}`, "a ``", `"a\`, `function($x)<<n>>{$x}`, `function($x)<(a<n>)>{$x}`, `$error("")`, `(1)(2)`, `""()`, `"" ~> 5`, `$map([1], 5)`, `function($x)<n>{$x}("a")`}
	for _, c := range readCases(t, "testdata/cases.jsonl") {
		sources = append(sources, c.Expr)
	}
	for _, src := range sources {
		_, err := evaluate(src, input, nil)
		check(src, err)
		for i := 0; i <= len(src) && i < 80; i++ {
			for _, broken := range []string{src[:i], src[:i] + `""` + src[i:], src[:i] + "\x00" + src[i:]} {
				_, err := Compile(broken)
				check(broken, err)
			}
		}
	}
	// What an expression says itself is left as it is.
	_, err := evaluate(`$error("no {token}, no {value}, ${token}")`, input, nil)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "no {token}, no {value}, ${token}") {
		t.Errorf("gives %v", err)
	}
}

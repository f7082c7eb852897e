package jsonata

import (
	"errors"
	"strings"
	"testing"
)

// TestForeignForms writes each form of another language, and looks whether what
// is said about it names the form of this language, which compiles.
func TestForeignForms(t *testing.T) {
	if n := len(ForeignForms()); n < 40 {
		t.Errorf("there are %d forms", n)
	}
	written := map[string]string{
		"`…${x}…`": "`a ${b}`", `f"…{x}…"`: `f"a {b}"`, "for (…) …": "for (const a of b) c", "x | f": "a | length",
		"x++": "a++", "return x": "return a",
	}
	in := func(form string) string {
		return placeholder.ReplaceAllStringFunc(form, func(s string) string { return string(s[0] - 'x' + 'a') })
	}
	for _, f := range ForeignForms() {
		src := written[f.Form]
		if src == "" {
			src = in(f.Form)
		}
		var hints []string
		e, err := Compile(src, WithObjectInput())
		var bad *Error
		if errors.As(err, &bad) {
			hints = append(hints, bad.Hint)
		} else {
			for _, found := range e.Findings() {
				hints = append(hints, found.Hint)
			}
		}
		want := f.Hint()
		if err == nil {
			want = in(want)
		}
		if len(hints) != 1 || hints[0] != want && hints[0] != f.Hint() {
			t.Errorf("%s: the hints are %q, want %q", src, hints, want)
		}
		for _, own := range []string{f.Write, f.OfText} {
			if own == "" {
				continue
			}
			own = strings.ReplaceAll(own, "$f(", "$string(")
			if e, err := Compile(own, WithObjectInput()); err != nil {
				t.Errorf("%s: %v", own, err)
			} else if len(e.Findings()) > 0 && !strings.Contains(own, "$x") {
				t.Errorf("%s: %v", own, e.Findings())
			}
		}
	}
}

func TestForeignFormsAreNotSeenWhereTheyAreNone(t *testing.T) {
	for _, src := range []string{
		"`None`", "a.None", `{"None": 1}.None`, "a.`length`", "length", `{"length": 1}.length`, "`a $b`",
		`{"len": function($x){$x}}.len(1)`, "`undefined` = 1", "$count(undefined)", "a.length.b", "a[length > 1]",
	} {
		e, err := Compile(src, WithObjectInput())
		if err != nil || len(e.Findings()) > 0 {
			t.Errorf("%s: %v, findings %+v", src, err, e.Findings())
		}
	}
}

func TestHintsShowTheValuesOfTheSource(t *testing.T) {
	for src, want := range map[string]string{
		`$.a.b[0].includes("x")`:                    `write "x" in $.a.b[0]; for a text, $contains($.a.b[0], "x")`,
		`JSON.parse($.a.text).b`:                    `write $eval($.a.text)`,
		`$.a.map(function($v){$v.n})`:               `write $map($.a, function($v){$v.n})`,
		`len(a & b)`:                                `write $count(x); for a text, $length(x)`,
		`$x.` + strings.Repeat("b", 60) + `.length`: `write $count(x); for a text, $length(x)`,
		`undefined != $.a`:                          `write $not($exists($.a))`,
	} {
		e, err := Compile(src, WithVariables("x"))
		if err != nil || len(e.Findings()) != 1 || e.Findings()[0].Hint != want {
			t.Errorf("%s: %v, findings %+v", src, err, e.Findings())
		}
	}
}

package jsonata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

// root names what a path begins at.
func root(r jsonata.Read) string {
	switch {
	case r.Func != "":
		return "$" + r.Func + "()"
	case r.Variable != "":
		return "$" + r.Variable
	}
	return "$"
}

func TestReadsOfVariablesAndFunctions(t *testing.T) {
	for src, want := range map[string]string{
		`$item.a.b`:                "$item.a.b",
		`$item`:                    "",
		`$item[0].a`:               "$item.a",
		`x[a = $item.b]`:           "$item.b",
		`$previousNode().a`:        "$previousNode().a",
		`$previousNode(2).a`:       "",
		`($item := 1; $item.a)`:    "",
		`function($item){$item.a}`: "",
		`$map(list, function($x){$x.a + $item.b})`: "$item.b",
		`a.b`:                            "",
		`$.a.b`:                          "",
		`$$.a.b`:                         "",
		`$item.a.$count(b)`:              "$item.a",
		`{"a": $item.b, "c": [$item.d]}`: "$item.b $item.d",
	} {
		e, err := jsonata.Compile(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		var got []string
		for _, r := range e.Reads() {
			got = append(got, root(r)+"."+strings.Join(r.Path, "."))
			for i, at := range r.Places {
				if text := src[at[0]:at[1]]; text != r.Path[i] {
					t.Errorf("%s: the place of %s is %q", src, r.Path[i], text)
				}
			}
		}
		if line := strings.Join(got, " "); line != want {
			t.Errorf("%s: got %q, want %q", src, line, want)
		}
	}
}

func TestWholePaths(t *testing.T) {
	for src, want := range map[string]string{
		`$.a.b`:                "$ [a b]",
		`a.b`:                  "$ [a b]",
		`a`:                    "$ [a]",
		`$$.a`:                 "$ [a]",
		`$`:                    "$ []",
		`$item`:                "$item []",
		`$item.a[x > 1].b^(c)`: "$item [a b]",
		`$previousNode().a`:    "$previousNode() [a]",
		`a[]`:                  "$ [a]",
		`a.*`:                  "",
		`a.{"x": b}`:           "",
		`a{b: c}`:              "",
		`a + b`:                "",
		`$count(a)`:            "",
		`($x := a; $x.b)`:      "",
		`a#$i.b`:               "",
		`a@$v.b`:               "",
		`a.%.b`:                "",
		`"a".b`:                "$ [a b]",
	} {
		e, err := jsonata.Compile(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		got := ""
		if r, ok := e.Whole(); ok {
			got = fmt.Sprintf("%s %v", root(r), r.Path)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
}

package jsonata_test

import (
	"fmt"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
)

func ExampleTokens() {
	tokens, err := jsonata.Tokens("$sum(items.price) /* all */ & 'x'")
	fmt.Println(err)
	for _, t := range tokens {
		fmt.Print(t.Off, ":", t.Text, " ")
	}
	// Output:
	// <nil>
	// 0:sum 4:( 5:items 10:. 11:price 16:) 28:& 30:x
}

func TestTokensTellLiteralsApart(t *testing.T) {
	same := func(a, b string) bool {
		x, errX := jsonata.Tokens(a)
		y, errY := jsonata.Tokens(b)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !x[i].Same(y[i]) {
				return false
			}
		}
		return true
	}
	if !same("a . b\n+ 1", "a.b+1") {
		t.Error("white space makes a difference")
	}
	if !same("function($x)<n:n>{ $x / 2 }(4)", "function($x) <n:n> {$x/2}(4)") {
		t.Error("white space around a signature makes a difference")
	}
	for _, pair := range [][2]string{
		{`"a b"`, `"a  b"`}, {"'a\n b'", "'a\n  b'"}, {"/a b/", "/a  b/"}, {"/a/", "/a/i"}, {"`a b`", "`a  b`"},
		{"a", "'a'"}, {"$a", "a"}, {"`a`", "a"}, {"1", "2"}, {"a", "a.b"}, {"a<b", "a>b"}, {"true", "'true'"},
	} {
		if same(pair[0], pair[1]) {
			t.Errorf("%q and %q have the same tokens", pair[0], pair[1])
		}
	}
	if _, err := jsonata.Tokens("1 +"); err == nil {
		t.Error("no error")
	}
}

package diag

import (
	"fmt"
	"strings"
	"testing"
)

func TestHintsListFiveNames(t *testing.T) {
	many := NewNames(strings.Fields("kiwi fig date lemon lime apple banana cherry mango apple"))
	for _, test := range []struct {
		names *Names
		name  string
		want  string
	}{
		{NewNames(nil), "x", ""},
		{nil, "x", ""},
		{NewNames([]string{"b", "a", "b"}), "zzz", `there are "a" or "b"`},
		{NewNames(strings.Fields("a b c d e")), "zzz", `there are "a", "b", "c", "d" or "e"`},
		{many, "lemno", `did you mean "lemon"?`},
		{many, "nothing-like-it", `there are "apple", "banana", "cherry", "date", "fig" and 4 more`},
		{many, "limousines", `there are "lime", "apple", "banana", "cherry", "date" and 4 more`},
	} {
		if got := test.names.Expected(test.name, "there are "); got != test.want {
			t.Errorf("%q: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSearchesForNearNamesAreBounded makes more mistakes than are searched for.
func TestSearchesForNearNamesAreBounded(t *testing.T) {
	var names []string
	for i := range 10 * smallSet {
		names = append(names, fmt.Sprintf("tool_%d_of_many", i))
	}
	large, small := NewNames(names), NewNames(names[:smallSet])
	for i := range 2 * maxSearches {
		_, ok := large.Nearest("tool_1_of_mnay")
		if want := i < maxSearches; ok != want {
			t.Fatalf("search %d of the large set: got %t", i, ok)
		}
		if near, ok := small.Nearest("tool_100_of_mnay"); !ok || near != "tool_100_of_many" {
			t.Fatalf("search %d of the small set: got %q", i, near)
		}
	}
	if !large.Has("tool_7_of_many") || large.Has("tool_7") {
		t.Error("Has is wrong")
	}
}

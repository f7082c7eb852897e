package config

import (
	"fmt"
	"testing"
)

// A name that no glob of a long list can match costs no match.
func TestLongListsOfGlobsAreCheap(t *testing.T) {
	var f ToolFilter
	f.Allow = []string{}
	for i := range 1000 {
		f.Allow = append(f.Allow, fmt.Sprintf("list/%d_*", i), fmt.Sprintf("get/%d", i), fmt.Sprintf("[a-c]/%d", i), fmt.Sprintf(`\*/%d`, i))
	}
	// Two thousand begin with no literal character: each is matched, with two copies.
	if n := testing.AllocsPerRun(10, func() { f.Deny = f.Allow[:0]; f.Allows("delete/1") }); n > 2*2000 {
		t.Errorf("%v allocations", n)
	}
	for name, want := range map[string]bool{
		"list/7_x": true, "list/7": false, "get/7": true, "get/7x": false, "a/7": true, "d/7": false, "*/7": true, "list/7_a/b": true,
	} {
		if f.Allows(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

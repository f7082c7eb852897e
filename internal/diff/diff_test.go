package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/diff"
)

func ExampleUnified() {
	fmt.Print(diff.Unified("a.yaml", "b.yaml", "one\ntwo\nthree\n", "one\n2\nthree\n", false))
	// Output:
	// --- a.yaml
	// +++ b.yaml
	// @@ -1,3 +1,3 @@
	//  one
	// -two
	// +2
	//  three
}

func TestEqualTextsHaveNoDiff(t *testing.T) {
	for _, color := range []bool{false, true} {
		if got := diff.Unified("a", "b", "same\n", "same\n", color); got != "" {
			t.Errorf("got %q", got)
		}
	}
}

func TestColorsMarkTheLines(t *testing.T) {
	got := diff.Unified("a", "b", "-- x\nsame\n", "++ y\nsame\n", true)
	want := "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n" +
		"\x1b[31m--- x\x1b[0m\n\x1b[32m+++ y\x1b[0m\n same\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAMissingLineBreakAtTheEndIsShown(t *testing.T) {
	got := diff.Unified("a", "b", "x", "x\n", false)
	if !strings.Contains(got, "-x\n\\ No newline at end of file\n+x\n") {
		t.Errorf("got %q", got)
	}
}

func TestLargeTextsAreCompared(t *testing.T) {
	before := strings.Repeat("the same line\n", 50_000)
	got := diff.Unified("a", "b", before+"old\n", before+"new\n", false)
	if !strings.HasSuffix(got, "-old\n+new\n") {
		t.Errorf("got %d bytes", len(got))
	}
}

package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// A text that takes more than the page may have gets a problem, and the page goes on.
func TestTextsThatDoNotFitHaveAProblem(t *testing.T) {
	t.Parallel()
	s := serve(t, tools, func(o *Options) { o.Memory = memory.New(memory.MinLimit) })
	var b strings.Builder
	b.WriteString(tools + "x-merged:\n  - &a0 {k0: 0}\n")
	for i := range 620 {
		fmt.Fprintf(&b, "  - &a%d {<<: *a%d, k%d: 1}\n", i+1, i, i+1)
	}
	text := func(text string) string { return fmt.Sprintf("%q", text) }
	problems := s.post("/api/file/check", `{"text":`+text(b.String())+`}`).Get("problems")
	if problems.Len() != 1 || !strings.Contains(problems.JSON(), "the file is not checked: ") {
		t.Errorf("a text of 19 kB that takes 40 MB: %s", problems.JSON())
	}
	if problems := s.post("/api/file/check", `{"text":`+text(tools)+`}`).Get("problems"); strings.Contains(problems.JSON(), "memory") {
		t.Errorf("another text: %s", problems.JSON())
	}
}

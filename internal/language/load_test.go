package language

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// copying returns a file of 19 kB whose merge keys copy 190,000 keys.
func copying(head string) string {
	var b strings.Builder
	b.WriteString(head + "x-merged:\n  - &a0 {k0: 0}\n")
	for i := range 620 {
		fmt.Fprintf(&b, "  - &a%d {<<: *a%d, k%d: 1}\n", i+1, i, i+1)
	}
	return b.String()
}

const loadHead = "version: \"1.0\"\nserver: {name: s, version: \"1\"}\ntools: []\n"

func TestTextsThatDoNotFitHaveAProblem(t *testing.T) {
	for path, text := range map[string]string{"t.yaml": copying(loadHead), "t.test.yaml": copying("tests: []\n")} {
		before := New(path, loadHead, Options{}, nil)
		d, err := NewContext(context.Background(), path, text, Options{Memory: memory.New(memory.MinLimit)}, before)
		var short *memory.Error
		if !errors.As(err, &short) || len(d.Diagnostics) != 1 {
			t.Fatalf("%s: %v, %v", path, err, d.Diagnostics)
		}
		got := d.Diagnostics[0]
		if got.Severity != diag.Error || !strings.HasPrefix(got.Message, "the file is not checked: ") || got.File != path {
			t.Errorf("%s: %+v", path, got)
		}
		if d.current() != before.model {
			t.Errorf("%s: what was known is lost", path)
		}
		// What the place of the cursor needs does not fit either.
		_, _ = Complete(d, len(text))
		if d, err := NewContext(context.Background(), path, text, Options{Memory: memory.New(1 << 30)}, before); err != nil || diag.HasErrors(d.Diagnostics) {
			t.Errorf("%s with more memory: %v, %v", path, err, d.Diagnostics)
		}
	}
}

func TestChecksEndWithTheirContext(t *testing.T) {
	before := New("t.yaml", loadHead, Options{}, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	replaced := errors.New("there is a later text")
	cancel(replaced)
	d, err := NewContext(ctx, "t.yaml", loadHead+"bad: 1\n", Options{}, before)
	if !errors.Is(err, replaced) || len(d.Diagnostics) > 0 || d.current() != before.model {
		t.Errorf("%v, %v", err, d.Diagnostics)
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// manyTools returns a file with n tools whose next steps are made by step.
func manyTools(n int, step string) []byte {
	var b strings.Builder
	b.WriteString("version: \"1.0\"\nserver: {name: t, version: \"1\"}\ntools:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: t%d\n    description: d\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: x}\n      - {id: x, %s, next: exit}\n      - {id: exit, type: exit}\n", i, step)
	}
	return []byte(b.String())
}

const valid = `type: transform, transform: {expr: "1 + 1"}`

// TestLoadsCountOnAnAccount loads files within a budget of 64 MiB.
func TestLoadsCountOnAnAccount(t *testing.T) {
	budget := memory.New(memory.MinLimit)
	text := manyTools(2, valid)
	e, err := New(context.Background(), "t.yaml", Options{
		Getenv: os.LookupEnv, Log: slog.New(slog.DiscardHandler), Runs: runs.New(runs.Limits{}), Memory: budget,
		Lock: LockOptions{Mode: lock.Off}, Read: func(string) ([]byte, error) { return text, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := e.Current()
	for name, large := range map[string][]byte{
		"tools":         manyTools(8000, valid),
		"unknown tools": manyTools(8000, "type: call, tool: nope"),
		"one list":      []byte("x-list: [" + strings.Repeat("a, ", 1_000_000) + "a]\n"),
		"lines":         []byte("x-list:\n" + strings.Repeat("  - bad: I\n", 200_000)),
	} {
		t.Run(name, func(t *testing.T) {
			text = large
			p, err := e.Compile(context.Background())
			var short *MemoryError
			if p != nil || !errors.As(err, &short) || !strings.Contains(err.Error(), "t.yaml") || !strings.Contains(err.Error(), "--memory") {
				t.Fatalf("a file of %d bytes: %v", len(large), err)
			}
			if held := budget.Held(); held != 0 {
				t.Errorf("%d bytes are held after the load", held)
			}
			if e.Current() != before {
				t.Error("another program is served")
			}
		})
	}
	text = manyTools(3, valid)
	next, err := e.Compile(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if held := budget.Held(); held != 0 {
		t.Errorf("%d bytes are held after a load", held)
	}
	next.Release()
}

// stopsAfter is a context that ends when it was asked n times.
type stopsAfter struct {
	context.Context
	left int
}

func (c *stopsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestLoadsEndWithTheirContext ends a load at every place where it looks, and counts how
// often it looks.
func TestLoadsEndWithTheirContext(t *testing.T) {
	e := &Engine{path: "t.yaml"}
	opts := Options{
		Log: slog.New(slog.DiscardHandler), Lock: LockOptions{Mode: lock.Off},
		Read: func(string) ([]byte, error) { return manyTools(20, valid), nil },
	}
	looked := 0
	for n := 0; ; n++ {
		ctx := &stopsAfter{context.Background(), n}
		var p *Program
		if s, err := Read(ctx, e.path, opts); err == nil {
			p, _ = e.compiled(s, opts)
		}
		if ctx.left >= 0 {
			if p == nil {
				t.Fatal("a load that was not ended made no program")
			}
			break
		}
		looked++
	}
	if looked < 120 {
		t.Errorf("a load of 20 tools with 3 nodes each looked %d times", looked)
	}
}

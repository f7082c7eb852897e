package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

// looked is a context that counts how often it is asked whether it has ended, and ends
// after some times.
type looked struct {
	context.Context
	times, ends int
}

func (l *looked) Err() error {
	if l.times++; l.ends > 0 && l.times > l.ends {
		return context.Canceled
	}
	return nil
}

// TestOneLargeGraphIsLeftSoon ends the context at many places of a build: also inside
// the checks of its only graph, the build stops within a few looks at each node.
func TestOneLargeGraphIsLeftSoon(t *testing.T) {
	const n = 40
	var b strings.Builder
	b.WriteString("version: \"1.0\"\nserver: {name: s, version: \"1\"}\ntools:\n  - name: t\n    description: d\n    inputSchema: {type: object}\n    nodes:\n      - {id: entry, type: entry, next: n0}\n")
	for i := range n {
		fmt.Fprintf(&b, "      - id: n%d\n        type: switch\n        conditions:\n", i)
		for j := range n {
			fmt.Fprintf(&b, "          - {rule: {\"==\": [{var: n%d.x}, 1]}, next: n%d}\n", j, j)
		}
		b.WriteString("          - {next: exit}\n")
	}
	b.WriteString("      - {id: exit, type: exit}\n")
	file, ds := config.Parse("t.yaml", []byte(b.String()), config.Options{})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	build := func(ends int) int {
		ctx := &looked{Context: context.Background(), ends: ends}
		graph.BuildContext(ctx, file, nodes.All)
		return ctx.times
	}
	all := build(0)
	if least := 3 * n * n; all < least { // rules, edges and references
		t.Errorf("it looked %d times, expected %d", all, least)
	}
	for ends := 1; ends < all; ends += 97 {
		if more := build(ends) - ends; more > 8*n {
			t.Errorf("after %d of %d looks it went on for %d", ends, all, more)
		}
	}
}

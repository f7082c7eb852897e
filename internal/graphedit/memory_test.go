package graphedit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestRenamesCountTheirMemory renames a node of a file for which there is no room.
func TestRenamesCountTheirMemory(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("version: \"1.0\"\nserver: {name: x, version: \"1\"}\nx-merged:\n  - &a0 {k0: 0}\n")
	for i := range 620 { // merge keys that copy 190,000 keys
		fmt.Fprintf(&text, "  - &a%d {<<: *a%d, k%d: 1}\n", i+1, i, i+1)
	}
	text.WriteString("tools:\n  - name: t7\n    description: d\n    inputSchema: {type: object}\n    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]\n")
	ops := []graphedit.Operation{graphedit.NewOperation("renameNode", value.Entry{Key: "node", Value: value.FromString("exit")}, value.Entry{Key: "to", Value: value.FromString("end")})}
	if _, err := graphedit.Apply("x.yaml", []byte(text.String()), ops, graphedit.Options{Tool: "t7"}); err != nil {
		t.Fatal(err)
	}
	_, err := graphedit.Apply("x.yaml", []byte(text.String()), ops, graphedit.Options{Tool: "t7", Memory: memory.New(memory.MinLimit)})
	var short *memory.Error
	if !errors.As(err, &short) {
		t.Errorf("without room: %v", err)
	}
}

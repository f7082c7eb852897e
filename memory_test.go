package mcpgraph_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestACallThatNeedsTooMuchMemoryIsInterrupted holds every way in which a run
// takes memory to the budget.
func TestACallThatNeedsTooMuchMemoryIsInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(path, []byte(`
version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: expression
    description: Makes a long list
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: long}
      - {id: long, type: transform, transform: {expr: "[1..3000000]"}, next: exit}
      - {id: exit, type: exit}
  - name: arguments
    description: Reads a long list
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: count}
      - {id: count, type: transform, transform: {expr: "$count($.entry.list)"}, next: exit}
      - {id: exit, type: exit}
  - name: schema
    description: Checks a long list
    inputSchema: {type: object, properties: {list: {items: {minLength: 1}}}}
    nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
  - name: short
    description: Adds
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: add}
      - {id: add, type: transform, transform: {expr: "1 + 1"}, next: exit}
      - {id: exit, type: exit}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	budget := memory.New(memory.MinLimit) // of which 28 MiB can be held by long calls
	e, err := mcpgraph.Load(path, mcpgraph.WithMemory(budget))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	list, err := value.ParseLazy(`{"list":[` + strings.Repeat("1,", 2_000_000) + `1]}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"expression", "arguments", "schema"} {
		args := value.FromEntries(nil)
		if tool != "expression" {
			args = list
		}
		_, err := e.Call(t.Context(), tool, args)
		var ended *executor.InterruptedError
		var short *memory.Error
		var node *executor.NodeError
		if !errors.As(err, &ended) || !errors.As(err, &short) || errors.As(err, &node) || short.Failure() != "interrupted" {
			t.Errorf("%s: %v", tool, err)
		}
		result, err := e.Call(t.Context(), "short", nil)
		if err != nil || result.Value.Float() != 2 {
			t.Errorf("after %s a short call fails: %v", tool, err)
		}
	}
	if held := budget.Held(); held > 64<<10 {
		t.Errorf("when all calls are over %d bytes are held", held)
	}
}

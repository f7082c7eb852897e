package graphedit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestNumbersAsIDs edits a node whose id is the index of another one.
func TestNumbersAsIDs(t *testing.T) {
	source := strings.NewReplacer("next: sum", `next: "1"`, "id: sum", `id: "1"`).Replace(flat)
	r, err := apply(t, source, `[{"op":"updateTool","name":"size","tool":{"name":"size","description":"Sizes","inputSchema":{"type":"object"},"nodes":[
		{"id":"size_in","type":"entry","next":"1"},{"id":"1","type":"transform","transform":{"expr":"2"},"next":"size_out"},{"id":"size_out","type":"exit"}]}}]`, graphedit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(source, `{expr: "1"}`, `{expr: "2"}`, 1); string(r.Text) != want {
		t.Errorf("the difference is\n%s", r.Diff)
	}
}

func TestRenameByPath(t *testing.T) {
	r, err := apply(t, nested, `[{"op":"set","path":"/name","value":"total"},{"op":"set","path":"/nodes/give/message","value":"no"}]`, graphedit.Options{Tool: "count", Relative: true})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("name: count", "name: total", "tool: count", "tool: total", "message: none", "message: 'no'").Replace(nested)
	if string(r.Text) != want || r.Tool != "total" {
		t.Errorf("the tool is %q, the difference\n%s", r.Tool, r.Diff)
	}
	if _, err = apply(t, nested, `[{"op":"set","path":"/name","value":"report"}]`, graphedit.Options{Tool: "count", Relative: true}); err == nil {
		t.Error("the name of another tool was taken")
	}
}

// TestEndsWithItsContext turns round the order of so many nodes that it takes minutes.
func TestEndsWithItsContext(t *testing.T) {
	var source, nodes strings.Builder
	source.WriteString("version: '1.0'\nserver: {name: t, version: '1'}\ntools:\n  - name: t\n    description: d\n    inputSchema: {type: object}\n    nodes:\n")
	const n = 2000
	for i := range n {
		fmt.Fprintf(&source, "      - {id: n%d, type: wait, ms: 1}\n", i)
		fmt.Fprintf(&nodes, `{"id":"n%d","type":"wait","ms":1},`, n-i-1)
	}
	v, err := value.Parse(`[{"op":"updateTool","name":"t","tool":{"name":"t","description":"d","inputSchema":{"type":"object"},"nodes":[` + strings.TrimSuffix(nodes.String(), ",") + `]}}]`)
	if err != nil {
		t.Fatal(err)
	}
	ops, err := graphedit.ParseOperations(v)
	if err != nil {
		t.Fatal(err)
	}
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
	defer cancel()
	began := time.Now()
	if _, err := graphedit.ApplyContext(ctx, "t.yaml", []byte(source.String()), ops, graphedit.Options{}); !errors.Is(err, late) {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

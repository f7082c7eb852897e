package executor_test

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// Hooks observe every node of a run.
func ExampleHooks() {
	engine, err := mcpgraph.LoadBytes("tools.yaml", []byte(`
version: "1.0"
server: {name: demo, version: "1"}
tools:
  - name: double
    description: Doubles n
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: work}
      - {id: work, type: transform, transform: {expr: $.entry.n * 2}, next: exit}
      - {id: exit, type: exit}
`), mcpgraph.WithHooks(executor.Hooks{
		NodeStart: func(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
			fmt.Println("start", t.Node().ID)
			return ctx, nil
		},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	if _, err := engine.Call(context.Background(), "double", map[string]any{"n": 2}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// start entry
	// start work
	// start exit
}

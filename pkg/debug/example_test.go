package debug_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// A session pauses at a breakpoint, looks at the document, changes an output, and goes
// on.
func Example() {
	engine, err := mcpgraph.LoadBytes("tools.yaml", []byte(`
version: "1.0"
server: {name: example, version: 1.0.0}
tools:
  - name: squares
    description: Adds the squares of numbers
    inputSchema: {type: object, properties: {numbers: {type: array, items: {type: number}}}}
    nodes:
      - {id: entry, type: entry, next: each}
      - id: each
        type: map
        items: {expr: $.entry.numbers}
        nodes: [{id: square, type: transform, transform: {expr: $item * $item}}]
        next: sum
      - {id: sum, type: transform, transform: {expr: $sum($.each)}, next: exit}
      - {id: exit, type: exit}
`))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // stops the run, if it is not over
	session, err := engine.Debug(ctx, "squares", map[string]any{"numbers": []int{1, 2, 3}}, mcpgraph.WithDebug(debug.Options{
		Breakpoints: []debug.Breakpoint{{Node: "each[].square", When: "$item = 2"}, {Node: "sum"}},
	}))
	if err != nil {
		log.Fatal(err)
	}
	for event := range session.Events(ctx, 0) {
		if event.Type != debug.Paused {
			continue
		}
		fmt.Println("paused at", event.Path)
		if event.Node == "sum" {
			squares, err := session.Eval(ctx, session.Here(), "$.each")
			fmt.Println("squares:", squares.JSON(), err)
			if err := session.SetOutput("each", value.FromArray([]value.Value{value.FromInt(100)})); err != nil {
				log.Fatal(err)
			}
		}
		if err := session.Resume(); err != nil {
			log.Fatal(err)
		}
	}
	result, err := session.Wait(ctx)
	fmt.Println("result:", result.JSON(), err)
	// Output:
	// paused at each[1].square
	// paused at sum
	// squares: [1,4,9] <nil>
	// result: 100 <nil>
}

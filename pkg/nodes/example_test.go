package nodes_test

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

func Example() {
	for _, kind := range nodes.All[:3] {
		fmt.Println(kind.Name)
	}
	// Output:
	// entry
	// mcp
	// transform
}

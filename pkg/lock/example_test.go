package lock_test

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Example locks a tool of a server, and compares it with what the server lists
// later.
func Example() {
	listed, _ := value.Parse(`[{"name": "read", "inputSchema": {"properties": {"path": {"type": "string"}}}}]`)
	f := (*lock.File)(nil).With(lock.NewServer("files", "", listed.Elems(), []string{"read"}))

	later, _ := value.Parse(`{"name": "read", "inputSchema": {"properties": {"path": {"type": "array"}}}}`)
	for _, d := range f.Tool("files", "read").Diff(lock.NewTool("read", later)) {
		fmt.Println(d)
	}
	// Output:
	// inputSchema/properties/path/type: was "string", is "array"
}

package suite

import (
	"context"
	"errors"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// LockedCalls compares the arguments that runs send to upstream tools with a lock file.
// A schema is compiled when the first call needs it. It is safe for concurrent use.
type LockedCalls struct {
	locked  *lock.File
	mu      sync.Mutex
	schemas map[*lock.Tool]*graph.Schema // nil: it does not compile
}

// NewLockedCalls returns the comparison with a lock file. An inputSchema that does not
// compile, which `mcpgraph validate` reports, is not compared. Without a lock file
// nothing is.
func NewLockedCalls(locked *lock.File) *LockedCalls {
	return &LockedCalls{locked: locked, schemas: map[*lock.Tool]*graph.Schema{}}
}

// schema returns the inputSchema of a tool, or nil if it has none that compiles.
func (c *LockedCalls) schema(t *lock.Tool) *graph.Schema {
	if t == nil || t.InputSchema.Kind() != value.Object {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	schema, ok := c.schemas[t]
	if !ok {
		schema, _ = graph.NewSchema(t.InputSchema)
		c.schemas[t] = schema
	}
	return schema
}

// Misfit returns why the arguments of a call do not fit the inputSchema of the tool; nil
// if they do, if the tool is not locked, or if ctx is done.
func (c *LockedCalls) Misfit(ctx context.Context, server, tool string, arguments value.Value) *graph.SchemaError {
	schema := c.schema(c.locked.Tool(server, tool))
	if schema == nil {
		return nil
	}
	var wrong *graph.SchemaError
	errors.As(schema.ValidateContext(ctx, arguments), &wrong)
	return wrong
}

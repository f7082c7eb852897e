package suite

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// LockedCalls compares the arguments that runs send to upstream tools with a lock file.
// It is safe for concurrent use.
type LockedCalls struct{ schemas map[lockedTool]*graph.Schema }

type lockedTool struct{ server, tool string }

// NewLockedCalls compiles the inputSchemas of a lock file. One that does not compile,
// which `mcpgraph validate` reports, is not compared. Without a lock file nothing is.
func NewLockedCalls(locked *lock.File) *LockedCalls {
	c := &LockedCalls{map[lockedTool]*graph.Schema{}}
	if locked == nil {
		return c
	}
	for _, s := range locked.Servers {
		for _, t := range s.Tools {
			if t.InputSchema.Kind() != value.Object {
				continue
			}
			if schema, err := graph.NewSchema(t.InputSchema); err == nil {
				c.schemas[lockedTool{s.Name, t.Name}] = schema
			}
		}
	}
	return c
}

// Misfit returns why the arguments of a call do not fit the inputSchema of the tool; nil
// if they do, if the tool is not locked, or if ctx is done.
func (c *LockedCalls) Misfit(ctx context.Context, server, tool string, arguments value.Value) *graph.SchemaError {
	schema := c.schemas[lockedTool{server, tool}]
	if schema == nil {
		return nil
	}
	var wrong *graph.SchemaError
	errors.As(schema.ValidateContext(ctx, arguments), &wrong)
	return wrong
}

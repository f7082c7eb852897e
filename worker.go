package mcpgraph

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What follows is for programs that drive runs themselves, such as workers of durable
// runs.

// Digest returns what tells this version of the file, and of the files that it was
// read with, from others: 64 hexadecimal digits, the same on every machine.
func (e *Engine) Digest() string { return e.engine.Current().Digest() }

// CallTool calls an upstream tool as a node of the file does: with the settings of its
// server, telemetry included. It sets the fields of info that are the engine's.
func (e *Engine) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	p := e.engine.Use()
	defer p.Release()
	return p.CallTool(ctx, info, server, tool, args)
}

// MayRepeat reports whether a call of an upstream tool may be made again that may have
// happened: the tool is read-only or idempotent, or its server has retryUnsafe. It asks
// the server if that is not known.
func (e *Engine) MayRepeat(ctx context.Context, info *callinfo.Info, server, tool string) bool {
	p := e.engine.Use()
	defer p.Release()
	return p.MayRepeat(ctx, info, server, tool)
}

package mcpgraph

import (
	"context"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// WithPlace lets a place run all calls, such as a durable engine, instead of this
// process. Sessions of [Engine.Debug] are run here nevertheless. If watched is true, runs
// under way are known in [Engine.Runs] as they go on, else when they have ended. Calls of
// tools can be tasks then, unless the file says otherwise.
func WithPlace(place runs.Place, watched bool) Option {
	return func(o *options) { o.engine.Place, o.engine.WatchPlace = place, watched }
}

// Place returns where the runs of calls are: that of [WithPlace], or this process.
func (e *Engine) Place() runs.Place { return e.engine.Place() }

// Program returns the version of the file that calls run on now, for those who start runs
// of a place themselves. It stays usable until release is called.
func (e *Engine) Program() (p runs.Program, release func()) {
	own := e.engine.Use()
	return own, own.Release
}

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

// ObserveRun begins to observe a run that something else drives, of which info has the id
// and the trace that it is part of. It is nil without telemetry.
func (e *Engine) ObserveRun(info *callinfo.Info, run *executor.Run, began time.Time) *telemetry.DurableRun {
	p := e.engine.Use()
	defer p.Release()
	return p.ObserveRun(info, run, began)
}

// MayRepeat reports whether a call of an upstream tool may be made again that may have
// happened: the tool is read-only or idempotent, or its server has retryUnsafe. It asks
// the server if that is not known.
func (e *Engine) MayRepeat(ctx context.Context, info *callinfo.Info, server, tool string) bool {
	p := e.engine.Use()
	defer p.Release()
	return p.MayRepeat(ctx, info, server, tool)
}

// SecretArguments returns the values among arguments that are secrets: of a tool of the
// file if server is empty, else those that the schema of an upstream tool declares, if it
// is known. info may be nil.
func (e *Engine) SecretArguments(info *callinfo.Info, server, tool string, args value.Value) []string {
	p := e.engine.Use()
	defer p.Release()
	return p.SecretArguments(info, server, tool, args)
}

// CheckLocked returns why a call of an upstream tool would send nothing, as far as the file
// and its lock file say: the same in every process that has loaded them.
func (e *Engine) CheckLocked(ctx context.Context, server, tool string, args value.Value) error {
	p := e.engine.Use()
	defer p.Release()
	return p.CheckLocked(ctx, server, tool, args)
}

// MaskArguments returns arguments without the secrets among them, whatever their length:
// those of a tool of the file if server is empty, else of an upstream tool.
func (e *Engine) MaskArguments(server, tool string, args value.Value) value.Value {
	p := e.engine.Use()
	defer p.Release()
	return p.MaskArguments(server, tool, args)
}

// ServerQueue reports whether only workers that name a server call it, and how long a
// call waits for one (engine.servers and engine.serverWaitMs of the file).
func (e *Engine) ServerQueue(server string) (wait time.Duration, own bool) {
	file := e.File()
	if file.Engine == nil || !slices.Contains(file.Engine.Servers, server) {
		return 0, false
	}
	return file.Engine.ServerWait, true
}

package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// published is what a Server shows at one time. It is immutable: a request is
// answered by the one that it found, whatever takes its place meanwhile.
type published struct {
	mcp       *mcpserver.MCPServer
	tools     []listedTool
	names     []string        // sorted
	blocks    map[string]bool // whose results are lists of content blocks
	scopes    scopes
	hides     bool // tools from callers who lack scopes for them
	access    Access
	resources []Resource
	call      CallFunc
	hold      func() (release func())
	log       *slog.Logger
	observe   ObserveFunc
	over      chan struct{} // closed when something else has taken its place
}

// newPublished lays out what opts say. The error is that of [Tool.Check].
func newPublished(opts Options, log *slog.Logger) (*published, error) {
	p := &published{
		scopes: scopesOf(opts.Tools), hides: opts.Info.HideUnscopedTools, access: opts.Access, resources: slices.Clone(opts.Resources),
		call: opts.Call, hold: opts.Hold, log: log, observe: opts.Observe, blocks: map[string]bool{},
		over: make(chan struct{}),
	}
	options := []mcpserver.ServerOption{
		mcpserver.WithToolCapabilities(true),
		mcpserver.WithLogging(),
		mcpserver.WithTitle(opts.Info.Title),
		mcpserver.WithInstructions(opts.Info.Instructions),
	}
	if len(opts.Resources) > 0 {
		options = append(options, mcpserver.WithResourceCapabilities(false, true))
	}
	p.mcp = mcpserver.NewMCPServer(opts.Info.Name, opts.Info.Version, options...)
	registered := make([]mcpserver.ServerTool, 0, len(opts.Tools))
	for _, t := range opts.Tools {
		if err := t.Check(); err != nil {
			return nil, err
		}
		p.tools = append(p.tools, newListedTool(t))
		p.names = append(p.names, t.Name)
		p.blocks[t.Name] = t.Blocks
		registered = append(registered, mcpserver.ServerTool{Tool: t.literal(), Handler: p.handle})
	}
	slices.Sort(p.names)
	p.mcp.AddTools(registered...)
	for _, r := range opts.Resources {
		p.publish(r)
	}
	return p, nil
}

// handle runs one call for the library. Its arguments come beside the message,
// which the library would decode several times over, losing key order on the
// way. A failure is a result, never an error: an error would reach the client
// as JSON-RPC's, which a model does not see.
func (p *published) handle(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
	name := req.Params.Name
	defer func() {
		if x := recover(); x != nil {
			p.log.ErrorContext(ctx, "a tool call panicked", "tool", name, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			result = mcp.NewToolResultError(fmt.Sprintf("tool %q: internal error: %v", name, x))
		}
	}()
	r := RequestOf(ctx)
	if err := r.turn.wait(ctx); err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	reporter := ReporterOf(ctx)
	reporter.begin(ctx)
	defer reporter.end()
	v, err := p.call(ctx, name, r.Args)
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	r.result = v
	return newResult(v, mcpserver.IsModernRequest(ctx), p.blocks[name]), nil
}

// sameTools reports whether clients are shown the same list of tools.
func (p *published) sameTools(q *published) bool {
	return slices.EqualFunc(p.tools, q.tools, func(a, b listedTool) bool {
		return a.name == b.name && bytes.Equal(a.legacy, b.legacy) && bytes.Equal(a.modern, b.modern)
	})
}

// sameResources reports whether clients are shown the same list of resources.
func (p *published) sameResources(q *published) bool {
	return slices.EqualFunc(p.resources, q.resources, func(a, b Resource) bool {
		return a.URI == b.URI && a.Template == b.Template && a.Name == b.Name &&
			a.Description == b.Description && a.MIMEType == b.MIMEType
	})
}

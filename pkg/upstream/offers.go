package upstream

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Prompts returns the prompts of a server as it describes them: objects with a name.
// It reads all pages. A server without prompts has none. info may be nil. Errors are
// *[Error].
func (p *Pool) Prompts(ctx context.Context, info *callinfo.Info, server string) ([]value.Value, error) {
	return p.list(ctx, info, server, listOfPrompts)
}

// Resources returns the resources of a server as it describes them: objects with a
// uri. It reads all pages. A server without resources has none. info may be nil.
// Errors are *[Error].
func (p *Pool) Resources(ctx context.Context, info *callinfo.Info, server string) ([]value.Value, error) {
	return p.list(ctx, info, server, listOfResources)
}

// ResourceTemplates returns the resource templates of a server as it describes them:
// objects with a uriTemplate (RFC 6570). It reads all pages. A server without them has
// none. info may be nil. Errors are *[Error].
func (p *Pool) ResourceTemplates(ctx context.Context, info *callinfo.Info, server string) ([]value.Value, error) {
	return p.list(ctx, info, server, listOfTemplates)
}

// GetPrompt returns a prompt of a server: the whole result of prompts/get, with a list
// "messages". Arguments that are not an object are sent as an empty one. info may be
// nil. Errors are *[Error]; if the server answered an error, an *[RPCError] is in it.
func (p *Pool) GetPrompt(ctx context.Context, info *callinfo.Info, server, name string, args value.Value) (value.Value, error) {
	return p.ask(ctx, &Call{Info: info, Server: server, Method: string(mcp.MethodPromptsGet), Name: name, Args: args})
}

// ReadResource returns the contents of a resource: the whole result of resources/read,
// with a list "contents". info may be nil. Errors are *[Error]; if the server answered
// an error, an *[RPCError] is in it.
func (p *Pool) ReadResource(ctx context.Context, info *callinfo.Info, server, uri string) (value.Value, error) {
	return p.ask(ctx, &Call{Info: info, Server: server, Method: string(mcp.MethodResourcesRead), Name: uri})
}

// Complete asks a server to complete an argument of a prompt or a variable of a
// resource template: params are those of completion/complete (ref, argument, context).
// It returns the whole result, with an object "completion"; from a server that
// completes nothing one without values. info may be nil. Errors are *[Error].
func (p *Pool) Complete(ctx context.Context, info *callinfo.Info, server string, params value.Value) (value.Value, error) {
	return p.ask(ctx, &Call{Info: info, Server: server, Method: string(mcp.MethodCompletionComplete), Args: params})
}

// list returns the list of a server.
func (p *Pool) list(ctx context.Context, info *callinfo.Info, server string, l listing) ([]value.Value, error) {
	all, err := p.ask(ctx, &Call{Info: info, Server: server, Method: string(l.method)})
	return all.Elems(), err
}

// ask makes a request that changes nothing, and tells Options.Request of it.
func (p *Pool) ask(ctx context.Context, c *Call) (value.Value, error) {
	s, err := p.server(opOf(c), c.Server, "")
	if err != nil {
		return value.Undef, err
	}
	return s.ask(ctx, c, p.callers[c.Server])
}

package mcpgraph

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// received returns the context of a request with what the client sent along, for
// the servers whose entries name it.
func received(ctx context.Context) context.Context {
	r := server.RequestOf(ctx)
	if r == nil || r.Transport != server.TCP && r.Meta.IsUndefined() {
		return ctx
	}
	c := upstream.CredentialsOf(ctx)
	c.Meta = r.Meta
	if r.Transport == server.TCP {
		c.Caller, c.Headers = r.Caller, r.Header
	}
	return upstream.WithCredentials(ctx, c)
}

// inbound gives the context of a call that came from an MCP client: with what
// the client sent along, and with a way back for what servers say before there is
// a result.
func inbound(ctx context.Context) context.Context {
	reporter := server.ReporterOf(ctx)
	ctx = received(ctx)
	if !reporter.WantsProgress() && reporter.LogLevel() == "" {
		return ctx
	}
	return upstream.WithListener(ctx, upstream.Listener{
		LogLevel: reporter.LogLevel(),
		Notify: func(n upstream.Notification) {
			switch n.Method {
			case upstream.MethodProgress:
				// The token tells the calls of a tool apart.
				source := n.Server + " " + n.Params.Get("progressToken").JSON()
				reporter.Progress(source, n.Params.Get("progress").Float(), n.Params.Get("total").Float(), n.Params.Get("message").Str())
			case upstream.MethodMessage:
				reporter.Log(named(n))
			}
		},
	})
}

// named gives the parameters of a log message with the server's name as the
// logger, where it has no other.
func named(n upstream.Notification) value.Value {
	if n.Params.Has("logger") {
		return n.Params
	}
	b := value.NewBuilder(n.Params.Len() + 1)
	for _, e := range n.Params.Entries() {
		b.Set(e.Key, e.Value)
		if e.Key == "level" {
			b.Set("logger", value.FromString(n.Server))
		}
	}
	return b.Value()
}

package mcpgraph

import (
	"context"
	"io"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// ServeStdio serves the tools to one MCP client, which writes to in and reads
// from out, until in ends or ctx is done; see [server.Server.ServeStdio]. Only
// MCP messages are written to out. Servers marked eager are started first, in
// the background. The Engine stays open.
func (e *Engine) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	opts := server.Options{Info: e.set.File.Server, Log: e.opts.log}
	for _, t := range e.Tools() {
		opts.Tools = append(opts.Tools, server.Tool(t))
	}
	opts.Call = func(ctx context.Context, name string, args value.Value) (value.Value, error) {
		result, err := e.Call(inbound(ctx), name, args)
		if err != nil {
			return value.Undef, err
		}
		return result.Value, nil
	}
	s, err := server.New(opts)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	wait := e.upstreams.start(ctx, e.opts.log)
	defer wait()
	defer cancel()
	return s.ServeStdio(ctx, in, out)
}

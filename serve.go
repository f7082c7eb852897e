package mcpgraph

import (
	"context"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// ServeStdio serves the tools to one MCP client, which writes to in and reads
// from out, until in ends or ctx is done; see [server.Server.ServeStdio]. Only
// MCP messages are written to out. Servers marked eager are started first, in
// the background. The Engine stays open.
func (e *Engine) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	s, err := e.server(server.Access{})
	if err != nil {
		return err
	}
	if e.recorder != nil {
		done := e.recorder.Session(ctx, server.Pipe)
		defer func() { done(err) }()
	}
	ctx, cancel := context.WithCancel(ctx)
	wait := e.upstreams.start(ctx, e.opts.log)
	defer wait()
	defer cancel()
	return s.ServeStdio(ctx, in, out)
}

// ServeHTTP serves the tools to any number of MCP clients over streamable HTTP
// until ctx is done; see [server.Server.ServeHTTP]. Servers marked eager are
// started first, in the background. Calls carry the caller's name and headers
// for the servers whose entries forward them, and callers never share what was
// got with credentials. Who may come in the file says (server.auth, allowedHosts
// and allowedOrigins), unless opts do. The Engine stays open.
func (e *Engine) ServeHTTP(ctx context.Context, listener net.Listener, opts server.HTTPOptions) error {
	access, err := e.access(opts)
	var s *server.Server
	if err == nil {
		s, err = e.server(access)
	}
	if err != nil {
		listener.Close()
		return err
	}
	if e.recorder != nil {
		opts.Session = func(ctx context.Context) func(error) { return e.recorder.Session(ctx, server.TCP) }
	}
	started, cancel := context.WithCancel(ctx)
	wait := e.upstreams.start(started, e.opts.log)
	defer wait()
	defer cancel()
	return s.ServeHTTP(ctx, listener, opts)
}

// Guard returns who may come in over HTTP by what the file says (server.auth); nil
// where it says nothing. It reads the file of tokens, once; the error is that of
// [auth.New].
func (e *Engine) Guard() (auth.Guard, error) { return e.guard() }

// access gives what the file says about who may come in, as far as opts do not.
func (e *Engine) access(opts server.HTTPOptions) (server.Access, error) {
	s := e.set.File.Server
	a := server.Access{AllowedHosts: s.AllowedHosts, AllowedOrigins: s.AllowedOrigins}
	var err error
	if opts.Guard == nil {
		a.Guard, err = e.Guard()
	}
	return a, err
}

// server publishes the tools, and the runs where that is allowed.
func (e *Engine) server(access server.Access) (*server.Server, error) {
	opts := server.Options{
		Info: e.set.File.Server, Log: e.opts.log, Call: e.answer, Resources: e.resources(),
		Access: access, Limits: e.limits(),
	}
	for _, t := range e.Tools() {
		opts.Tools = append(opts.Tools, server.Tool(t))
	}
	if e.recorder != nil {
		opts.Observe = func(ctx context.Context, r *server.Request) (context.Context, func(server.Outcome)) {
			return e.recorder.Observe(e.noting(ctx), r)
		}
	}
	return server.New(opts)
}

// limits gives those of the file or of the options.
func (e *Engine) limits() server.Limits {
	of := e.set.File.Server
	limits := server.Limits{Calls: of.MaxConcurrentCalls, PerCaller: of.MaxConcurrentCallsPerCaller, Wait: of.MaxCallWait}
	if e.opts.calls != nil {
		limits.Calls = *e.opts.calls
	}
	if e.opts.callerCalls != nil {
		limits.PerCaller = *e.opts.callerCalls
	}
	return limits
}

// answer is the server's way to call a tool.
func (e *Engine) answer(ctx context.Context, name string, args value.Value) (value.Value, error) {
	began := time.Now()
	result, err := e.Call(forward(inbound(ctx)), name, args, e.tell(server.ReporterOf(ctx))...)
	if e.opts.log.Enabled(ctx, slog.LevelDebug) {
		log := e.opts.log.With("tool", name, "duration", time.Since(began))
		if err != nil {
			log = log.With("error", err)
		}
		log.DebugContext(ctx, "a tool was called")
	}
	if err != nil {
		return value.Undef, err
	}
	return result.Value, nil
}

package mcpgraph

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync"
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
	return e.serve(ctx, nil, func(ctx context.Context, s *server.Server) (err error) {
		if r := e.current.Load().recorder; r != nil {
			done := r.Session(ctx, server.Pipe)
			defer func() { done(err) }()
		}
		return s.ServeStdio(ctx, in, out)
	})
}

// ServeHTTP serves the tools to any number of MCP clients over streamable HTTP
// until ctx is done; see [server.Server.ServeHTTP]. Servers marked eager are
// started first, in the background. Calls carry the caller's name and headers
// for the servers whose entries forward them, and callers never share what was
// got with credentials. Who may come in the file says (server.auth, allowedHosts
// and allowedOrigins), unless opts do. The Engine stays open.
func (e *Engine) ServeHTTP(ctx context.Context, listener net.Listener, opts server.HTTPOptions) error {
	defer listener.Close() // where it does not come to serving
	e.measure(&opts)
	return e.serve(ctx, &opts, func(ctx context.Context, s *server.Server) error {
		return s.ServeHTTP(ctx, listener, opts)
	})
}

// serving is a server while it is served.
type serving struct {
	server  *server.Server
	http    *server.HTTPOptions // nil over pipes
	ctx     context.Context     // of the starting of servers
	started sync.WaitGroup
}

// start starts the servers that are marked as eager, in the background. One that
// does not start is only reported: the first call that needs it tries again.
func (s *serving) start(p *program) {
	if p.upstreams.pool == nil {
		return
	}
	s.started.Go(func() {
		if err := p.upstreams.pool.Start(s.ctx); err != nil && s.ctx.Err() == nil {
			p.opts.log.Warn("an eager server did not start", "error", err)
		}
	})
}

// serve runs f with a server that Reload finds, until f returns.
func (e *Engine) serve(ctx context.Context, http *server.HTTPOptions, f func(context.Context, *server.Server) error) error {
	started, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &serving{http: http, ctx: started}
	if err := e.join(s); err != nil {
		return err
	}
	defer s.started.Wait()
	defer cancel()
	defer e.leave(s)
	return f(ctx, s.server)
}

// join makes the server of s, and lets Reload find it.
func (e *Engine) join(s *serving) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.current.Load()
	opts, err := p.published(s.http)
	if err == nil {
		s.server, err = server.New(opts)
	}
	if err != nil {
		return err
	}
	e.serving = append(e.serving, s)
	s.start(p)
	return nil
}

// Guard returns who may come in over HTTP by what the file says (server.auth); nil
// where it says nothing. It reads the file of tokens, once; the error is that of
// [auth.New].
func (e *Engine) Guard() (auth.Guard, error) { return e.current.Load().guard() }

// access gives what the file says about who may come in, as far as opts do not.
func (p *program) access(opts *server.HTTPOptions) (server.Access, error) {
	if opts == nil {
		return server.Access{}, nil
	}
	s := p.set.File.Server
	a := server.Access{AllowedHosts: s.AllowedHosts, AllowedOrigins: s.AllowedOrigins}
	var err error
	if opts.Guard == nil {
		a.Guard, err = p.guard()
	}
	return a, err
}

// published gives what a server publishes: the tools, and the runs where that is
// allowed. opts are nil over pipes.
func (p *program) published(http *server.HTTPOptions) (server.Options, error) {
	access, err := p.access(http)
	opts := server.Options{
		Info: p.set.File.Server, Log: p.opts.log, Call: p.answer, Hold: p.hold, Resources: p.resources(),
		Access: access, Limits: p.limits(), Memory: p.opts.memory,
	}
	for _, t := range p.tools() {
		opts.Tools = append(opts.Tools, server.Tool(t))
	}
	opts.Observe, opts.Exchanged = p.observer(), p.exchanged()
	return opts, err
}

// limits gives those of the file or of the options.
func (p *program) limits() server.Limits {
	of := p.set.File.Server
	limits := server.Limits{Calls: of.MaxConcurrentCalls, PerCaller: of.MaxConcurrentCallsPerCaller, Wait: of.MaxCallWait}
	if p.opts.calls != nil {
		limits.Calls = *p.opts.calls
	}
	if p.opts.callerCalls != nil {
		limits.PerCaller = *p.opts.callerCalls
	}
	return limits
}

// answer is the server's way to call a tool.
func (p *program) answer(ctx context.Context, name string, args value.Value) (value.Value, error) {
	began := time.Now()
	result, err := p.call(forward(inbound(ctx)), name, args, p.tell(server.ReporterOf(ctx))...)
	if p.opts.log.Enabled(ctx, slog.LevelDebug) {
		log := p.opts.log.With("tool", name, "duration", time.Since(began))
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

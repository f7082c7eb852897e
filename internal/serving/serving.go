// Package serving lets MCP clients call the tools of an engine: over stdio, over
// HTTP and in a handler of the program's own.
package serving

import (
	"context"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/audit"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// Options are the settings of Servers that the file does not have.
type Options struct {
	ExposeRuns bool // clients can read the runs that they caused
	// ErrorDetails lets callers over HTTP see the whole error of a failed call, as those
	// over pipes do.
	ErrorDetails bool
	Audit        *audit.Log // gets a record of each request; nil: none
	// Calls and CallsPerCaller override server.maxConcurrentCalls and
	// server.maxConcurrentCallsPerCaller; nil uses the file.
	Calls, CallsPerCaller *int
}

// Servers are the servers that serve one engine. They are safe for concurrent
// use.
type Servers struct {
	engine *engine.Engine
	opts   Options

	claims *claims // runs that callers come back to

	reloading sync.Mutex
	mu        sync.Mutex // guards the rest
	served    []*served
	unwatch   func() // ends the watching of lists that pass; nil if there are none
}

// New returns the servers of an engine, of which there are none yet.
func New(e *engine.Engine, opts Options) *Servers {
	s := &Servers{engine: e, opts: opts}
	s.claims = &claims{servers: s, place: e.Place(), requests: map[string]int{}}
	return s
}

// served is a server while it is served.
type served struct {
	server  *server.Server
	http    *server.HTTPOptions // nil over pipes
	ctx     context.Context     // of the starting of upstream servers
	started sync.WaitGroup
	log     *slog.Logger
}

// start starts the upstream servers that are marked as eager, in the background.
// One that does not start is only reported: the first call that needs it tries
// again.
func (s *served) start(p *engine.Program) {
	pool := p.Pool()
	if pool == nil {
		return
	}
	s.started.Go(func() {
		if err := pool.Start(s.ctx); err != nil && s.ctx.Err() == nil {
			s.log.Warn("eager server failed to start", "error", err)
		}
	})
}

// Stdio serves one client, which writes to in and reads from out, until in ends
// or ctx is done.
func (s *Servers) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.serve(ctx, nil, func(ctx context.Context, srv *server.Server) (err error) {
		if r := s.engine.Current().Recorder(); r != nil {
			done := r.Session(ctx, server.Pipe)
			defer func() { done(err) }()
		}
		return srv.ServeStdio(ctx, in, out)
	})
}

// HTTP serves any number of clients until ctx is done. It closes the listener.
func (s *Servers) HTTP(ctx context.Context, listener net.Listener, opts server.HTTPOptions) error {
	defer listener.Close() // where it does not come to serving
	s.measure(&opts)
	return s.serve(ctx, &opts, func(ctx context.Context, srv *server.Server) error {
		return srv.ServeHTTP(ctx, listener, opts)
	})
}

// serve runs f with a server that Reload finds, until f returns.
func (s *Servers) serve(ctx context.Context, http *server.HTTPOptions, f func(context.Context, *server.Server) error) error {
	one, leave, err := s.join(ctx, http)
	if err != nil {
		return err
	}
	defer leave()
	return f(ctx, one)
}

// join makes a server that Reload finds until leave is called. Upstream servers
// that are marked as eager are started in the background.
func (s *Servers) join(ctx context.Context, http *server.HTTPOptions) (srv *server.Server, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.engine.Current()
	opts, err := s.published(p, http)
	if err == nil {
		srv, err = server.New(opts)
	}
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	one := &served{server: srv, http: http, ctx: ctx, log: s.engine.Log()}
	s.served = append(s.served, one)
	if s.unwatch == nil {
		s.watchLists(p.Pool(), p.Set().File.Passthrough)
	}
	one.start(p)
	return srv, func() {
		s.mu.Lock()
		s.served = slices.DeleteFunc(s.served, func(other *served) bool { return other == one })
		s.mu.Unlock()
		cancel()
		one.started.Wait()
	}, nil
}

// Reload reads the file again and, if it has no errors, replaces what is
// served. The error is an *engine.LoadError, an *engine.MemoryError, the cause of ctx,
// or explains why what is served cannot be replaced; nothing has changed then.
func (s *Servers) Reload(ctx context.Context) (*engine.Changes, error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	next, err := s.engine.Compile(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.served {
		opts, err := s.published(next, one.http)
		if err == nil {
			err = one.server.Check(opts)
		}
		if err != nil {
			return nil, err
		}
	}
	before, err := s.engine.Replace(next)
	if err != nil {
		return nil, err
	}
	for _, one := range s.served {
		opts, _ := s.published(next, one.http) // Check found no error
		if err := one.server.Replace(opts); err != nil {
			s.engine.Log().Error("cannot replace the tools of a running server", "error", err)
		}
		one.start(next)
	}
	s.watchLists(next.Pool(), next.Set().File.Passthrough)
	changes := next.Changes(before)
	before.Release()
	return changes, nil
}

// Close ends what watches the lists of upstream servers.
func (s *Servers) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchLists(nil, nil)
}

package serving

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// published returns what a server publishes of a program: its tools, prompts and
// resources, what passes from upstream servers, and the runs if that is allowed. http is
// nil over pipes.
func (s *Servers) published(p *engine.Program, http *server.HTTPOptions) (server.Options, error) {
	if p.Options().ServersOnly {
		return server.Options{}, errServersOnly
	}
	var access server.Access
	var err error
	if http != nil {
		access, err = p.Access(http)
	}
	call := s.caller(p)
	prompts, resources := s.offers(p, call)
	return server.Options{
		Info: p.Set().File.Server, Tools: p.Published(), Log: s.engine.Log(), Call: call, Hold: p.Retain,
		Prompts: prompts, Resources: append(resources, s.resources()...), Dynamic: s.passthrough(p), Access: access, Limits: s.limits(p), Memory: s.engine.Memory(),
		Tasks: s.claims, Observe: s.observer(p), Exchanged: s.exchanged(p),
	}, err
}

// errServersOnly is returned instead of a server without tools, whose file was not read for
// who may use it.
var errServersOnly = errors.New("the file was read for its servers only (WithServersOnly); load it without this option to serve it")

// limits returns those of the options, or else of the file.
func (s *Servers) limits(p *engine.Program) server.Limits {
	limits := p.Limits()
	if s.opts.Calls != nil {
		limits.Calls = *s.opts.Calls
	}
	if s.opts.CallsPerCaller != nil {
		limits.PerCaller = *s.opts.CallsPerCaller
	}
	return limits
}

// caller returns what a server calls the tools, prompts and resources of a program
// with.
func (s *Servers) caller(p *engine.Program) server.CallFunc {
	return s.logged(func(ctx context.Context, r *server.Request) (value.Value, error) { return s.call(ctx, p, r) })
}

// logged returns a call that is logged and that hands on what its client asked to hear.
func (s *Servers) logged(call server.CallFunc) server.CallFunc {
	return func(ctx context.Context, r *server.Request) (value.Value, error) {
		began := time.Now()
		r.Listener, r.Trace = listener(r.Reporter()), traceOf(r)
		v, err := call(ctx, r)
		log := r.Log
		if log == nil { // it did not come to a call
			log = s.engine.Log()
		}
		if log.Enabled(ctx, slog.LevelDebug) {
			log = log.With("tool", r.Tool, "duration", time.Since(began))
			if err != nil {
				log = log.With("error", err)
			}
			log.DebugContext(ctx, "a tool was called")
		}
		return v, err
	}
}

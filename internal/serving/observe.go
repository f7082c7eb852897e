package serving

import (
	"context"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// observer returns what observes the requests of clients; nil if nothing does.
func (s *Servers) observer(p *engine.Program) server.ObserveFunc {
	recorder, audit := p.Recorder(), s.opts.Audit
	if recorder == nil && audit == nil {
		return nil
	}
	return func(ctx context.Context, r *server.Request) (context.Context, func(server.Outcome)) {
		record := func(server.Outcome) {}
		if audit != nil {
			record = audit.Observe(r)
		}
		if recorder == nil {
			return ctx, record
		}
		p.NoteSecrets(&r.Info)
		ctx, done := recorder.Observe(ctx, r)
		return ctx, func(o server.Outcome) {
			record(o)
			done(o)
		}
	}
}

// exchanged returns what observes HTTP requests; nil if nothing does.
func (s *Servers) exchanged(p *engine.Program) server.ExchangeFunc {
	recorder, audit := p.Recorder(), s.opts.Audit
	if recorder == nil && audit == nil {
		return nil
	}
	return func(ctx context.Context, e server.Exchange) {
		if audit != nil {
			audit.Exchanged(ctx, e)
		}
		if recorder != nil {
			recorder.Exchanged(ctx, e)
		}
	}
}

// resources publishes the runs if that is allowed.
func (s *Servers) resources() []server.Resource {
	if !s.opts.ExposeRuns {
		return nil
	}
	return []server.Resource{
		{
			URI: runs.URI, Name: "runs", MIMEType: "application/json", Instant: true,
			Description: "The runs of tools that you called: those under way, then the last ones, the newest first",
			Read: server.ReadText("application/json", func(_ context.Context, r *server.Request) (string, bool) {
				return s.engine.Runs().Index(r.Caller), true
			}),
		},
		{
			URI: runs.URI + "/{id}", Template: true, Name: "run", MIMEType: "application/json", Instant: true,
			Description: "One run of a tool that you called: its arguments, and what each node gave",
			Read: server.ReadText("application/json", func(ctx context.Context, r *server.Request) (string, bool) {
				run, ok := s.engine.Runs().Get(r.Caller, r.Args.Get("id").Str())
				if !ok {
					return "", false
				}
				text, err := run.JSON(memory.AccountOf(ctx))
				if err != nil && memory.AccountOf(ctx).Err() == nil {
					s.engine.Log().ErrorContext(ctx, "a run cannot be shown", "run", run.ID, "error", err)
				}
				return text, err == nil
			}),
		},
	}
}

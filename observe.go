package mcpgraph

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Runs returns the runs of the recent past, of every caller.
func (e *Engine) Runs() *runs.Store { return e.opts.runs }

// keep puts a run that is over among those of its caller.
func (p *program) keep(ctx context.Context, id string, run *executor.Run, began time.Time, err error) {
	p.opts.runs.Add(runs.Finished{
		ID: id, Run: run, Caller: callerOf(ctx), Began: began, Ended: time.Now(), Err: err, Redact: p.redactor(ctx),
	})
}

// callerOf says who asked for what is done in ctx; it is empty for the one
// caller there is over pipes and in a Go program.
func callerOf(ctx context.Context) string {
	if r := server.RequestOf(ctx); r != nil {
		return r.Caller
	}
	return ""
}

// observer returns what is told of the requests of clients; nil if there is nobody
// to tell.
func (p *program) observer() server.ObserveFunc {
	if p.recorder == nil && p.opts.audit == nil {
		return nil
	}
	return func(ctx context.Context, r *server.Request) (context.Context, func(server.Outcome)) {
		record := func(server.Outcome) {}
		if p.opts.audit != nil {
			record = p.opts.audit.Observe(r)
		}
		if p.recorder == nil {
			return ctx, record
		}
		ctx, done := p.recorder.Observe(p.noting(received(ctx)), r)
		return ctx, func(o server.Outcome) {
			record(o)
			done(o)
		}
	}
}

// exchanged returns what is told of HTTP requests; nil if there is nobody to tell.
func (p *program) exchanged() server.ExchangeFunc {
	if p.recorder == nil && p.opts.audit == nil {
		return nil
	}
	return func(ctx context.Context, e server.Exchange) {
		if p.opts.audit != nil {
			p.opts.audit.Exchanged(ctx, e)
		}
		if p.recorder != nil {
			p.recorder.Exchanged(ctx, e)
		}
	}
}

// resources publishes the runs where that is allowed.
func (p *program) resources() []server.Resource {
	if !p.opts.exposeRuns {
		return nil
	}
	return []server.Resource{
		{
			URI: runs.URI, Name: "runs", MIMEType: "application/json",
			Description: "The last runs of tools that you called, the newest first",
			Read: func(ctx context.Context, _ string) (string, bool) {
				return p.opts.runs.Index(callerOf(ctx)), true
			},
		},
		{
			URI: runs.URI + "/{id}", Template: true, Name: "run", MIMEType: "application/json",
			Description: "One run of a tool that you called: its arguments, and what each node gave",
			Read: func(ctx context.Context, uri string) (string, bool) {
				run, ok := p.opts.runs.Get(callerOf(ctx), strings.TrimPrefix(uri, runs.URI+"/"))
				if !ok {
					return "", false
				}
				text, err := run.JSON()
				if err != nil {
					p.opts.log.ErrorContext(ctx, "a run cannot be shown", "run", run.ID, "error", err)
				}
				return text, err == nil
			},
		},
	}
}

// describe says what observers need to know of the file.
func (p *program) describe(file *config.File) telemetry.Subject {
	servers := map[string]telemetry.Endpoint{}
	for _, u := range file.Upstreams {
		servers[u.Name] = endpoint(u)
	}
	return telemetry.Subject{
		Tool:   func(name string) bool { return p.byName[name] != nil },
		Server: func(name string) telemetry.Endpoint { return servers[name] },
		Redact: p.clean,
	}
}

func endpoint(u *config.Upstream) telemetry.Endpoint {
	if u.Transport == config.Stdio {
		return telemetry.Endpoint{Transport: server.Pipe}
	}
	at := telemetry.Endpoint{Transport: server.TCP}
	if where, err := url.Parse(u.URL); err == nil {
		at.Address = where.Hostname()
		at.Port, _ = strconv.Atoi(where.Port()) // 0 where the scheme's own is meant
	}
	return at
}

// traceMembers are the members of _meta that carry a trace (MCP, "Trace
// context").
var traceMembers = []string{"traceparent", "tracestate", "baggage"}

// forward passes the trace that a request belongs to on to the servers that are
// called for it. Telemetry puts its own spans in between.
func forward(ctx context.Context) context.Context {
	r := server.RequestOf(ctx)
	if r == nil {
		return ctx
	}
	var members []value.Entry
	for _, key := range traceMembers {
		if v := r.Meta.Get(key); v.Kind() == value.String {
			members = append(members, value.Entry{Key: key, Value: v})
		} else if text := r.Header.Get(key); text != "" {
			members = append(members, value.Entry{Key: key, Value: value.FromString(text)})
		}
	}
	if members == nil {
		return ctx
	}
	return upstream.WithMeta(ctx, members...)
}

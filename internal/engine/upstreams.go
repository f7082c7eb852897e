package engine

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/scheduler"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// upstreams reaches the servers that mcp nodes call: a pool of sessions, or
// whatever Options.Caller put in its place.
type upstreams struct {
	pool   *upstream.Pool // nil where the caller was replaced
	caller graph.Caller
	// unwatch stops measuring the pool; it is nil without telemetry.
	unwatch func()
}

// tokenFileVariable names the variable with the file of tokens from logins and
// refreshes (upstream.Options.TokenFile).
const tokenFileVariable = "MCPGRAPH_TOKEN_STORE"

// newUpstreams takes the servers over from before that have not changed.
func newUpstreams(p *Program, before *upstream.Pool) upstreams {
	file, opts, log, recorder, e := p.set.File, p.opts, p.engine.log, p.recorder, p.engine
	if opts.Caller != nil {
		return upstreams{caller: opts.Caller}
	}
	tokens, _ := opts.Getenv(tokenFileVariable)
	o := upstream.Options{
		Log: log, ClientName: "mcpgraph", ClientVersion: Version(),
		Credentials: opts.Credentials, TokenFile: tokens, SessionStore: opts.Sessions,
		Secrets: file.Server.Secrets, Memory: opts.Memory, Intercept: opts.Intercept, Repeatable: opts.Repeatable,
	}
	o.Lock, o.LockMode = p.lock, opts.Lock.Mode
	o.Input = e.inputs.of
	o.LockedInput = func(server, tool string) upstream.Input {
		return e.Current().lockedInputs.of(server, tool) // that of a server that was taken over, too
	}
	if len(opts.Servers) > 0 {
		o.Dial = inProcessServers{opts.Servers, log}.dial
	}
	if recorder != nil {
		o.Session, o.Request = recorder.UpstreamSession, recorder.UpstreamRequest
	}
	var pool *upstream.Pool
	if before != nil {
		pool = before.Next(file.Upstreams, o)
	} else {
		pool = upstream.New(file.Upstreams, o)
	}
	u := upstreams{pool: pool, caller: poolCaller{pool}}
	if recorder != nil {
		u.unwatch = recorder.Watch(pool.Stats)
	}
	return u
}

func (u upstreams) close() error {
	if u.pool == nil {
		return nil
	}
	err := u.pool.Close(context.Background()) // bounds its waits itself
	if u.unwatch != nil {
		u.unwatch()
	}
	return err
}

// poolCaller lets nodes call through a pool.
type poolCaller struct{ pool *upstream.Pool }

var _ graph.Caller = poolCaller{}

func (c poolCaller) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	r, err := c.pool.CallTool(ctx, info, server, tool, args)
	result := graph.ToolResult{Reply: r.Value, Attempts: r.Sent, FromCache: r.Cached}
	for _, one := range r.Attempts {
		result.AttemptTimes = append(result.AttemptTimes, graph.Attempt(one))
	}
	return result, err
}

// port is what a run in this process reaches the world through.
type port struct {
	graph.Caller
	owner string // the caller that the run is for
}

// processors are shared by all Engines of this process.
var processors = scheduler.New()

var _ executor.Port = port{}

func (port) Now() time.Time { return time.Now() }

func (port) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

func (p port) Processor() expr.Processor {
	return processors.Task(p.owner)
}

// ownProcessor is a port with processor time of its own.
type ownProcessor struct {
	executor.Port
	processor func() expr.Processor
}

// Processor implements [executor.Port].
func (p ownProcessor) Processor() expr.Processor { return p.processor() }

package mcpgraph

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// program is a file as it was read once, and what its tools need to run. It is
// immutable but for the count of its users.
type program struct {
	opts        options
	hooks       []executor.Hooks
	set         *graph.Set
	byName      map[string]*graph.Graph
	diagnostics []diag.Diagnostic
	sources     diag.Sources
	upstreams   upstreams
	recorder    *telemetry.Recorder // nil without telemetry
	guard       func() (auth.Guard, error)
	redact      func(string) string // takes the secrets of the file out; nil where there are none

	users   atomic.Int64 // calls that run on it, and the Engine until it has another one
	over    func(*program)
	unusing func() // release, made once
}

// compile reads the file and compiles it. The error is a *LoadError.
func (e *Engine) compile() (*program, error) {
	file, sources, ds := config.Load(e.path, e.opts.mcpFiles, e.opts.read, config.Options{Getenv: e.opts.getenv, Inputs: e.opts.inputs})
	p := &program{opts: e.opts, hooks: e.opts.hooks, byName: map[string]*graph.Graph{}, sources: sources, over: e.retire}
	p.unusing = p.release
	p.users.Store(1)
	if file != nil {
		var more []diag.Diagnostic
		e.opts.withServers(file)
		p.set, more = graph.Build(file, nodes.All, e.opts.functions...)
		ds = append(ds, more...)
		if !diag.HasErrors(ds) {
			ds = append(ds, p.unpublishable()...)
		}
		diag.Sort(ds)
	}
	p.diagnostics = ds
	if file == nil || diag.HasErrors(ds) {
		return nil, &LoadError{Path: e.path, Diagnostics: ds, Sources: sources}
	}
	for _, g := range p.set.Graphs {
		p.byName[g.Name] = g
	}
	p.guard = sync.OnceValues(func() (auth.Guard, error) { return auth.New(file.Server.Auth) })
	p.redact = upstream.Redactor(secretsOf(file))
	return p, nil
}

// connect readies the servers that the tools call, which it takes over from
// before where they have not changed.
func (p *program) connect(before *program) {
	file := p.set.File
	if t := p.opts.telemetry; t != nil {
		p.recorder = t.Recorder(p.describe(file))
	}
	var pool *upstream.Pool
	if before != nil {
		pool = before.upstreams.pool
	}
	p.upstreams = newUpstreams(file, p.opts, p.recorder, pool)
	if p.recorder != nil {
		p.upstreams.caller = p.recorder.Caller(p.upstreams.caller)
		p.hooks = append([]executor.Hooks{p.recorder.Hooks()}, p.hooks...)
	}
}

// unpublishable finds tools that could be run and not be served.
func (p *program) unpublishable() []diag.Diagnostic {
	var ds []diag.Diagnostic
	for i, t := range p.tools() {
		if err := server.Tool(t).Check(); err != nil {
			g := p.set.Graphs[i]
			ds = append(ds, diag.Diagnostic{
				File: g.File, Pos: g.Pos, Severity: diag.SeverityOf(diag.CodeSchema), Code: diag.CodeSchema,
				Message: err.Error(),
			})
		}
	}
	return ds
}

func (p *program) graph(tool string) (*graph.Graph, error) {
	if g := p.byName[tool]; g != nil {
		return g, nil
	}
	return nil, &server.UnknownToolError{Name: tool, Tools: slices.Sorted(maps.Keys(p.byName))}
}

func (p *program) tools() []Tool {
	tools := make([]Tool, 0, len(p.set.Graphs))
	for _, g := range p.set.Graphs {
		t := Tool{
			Name: g.Name, Title: g.Title, Description: g.Description,
			InputSchema: schemaValue(g.Input), Annotations: g.Annotations, Icons: g.Icons, RequiredScopes: g.RequiredScopes,
			Blocks: nodes.GivesBlocks(g.Exit.Step),
		}
		if g.Output != nil {
			t.OutputSchema = schemaValue(g.Output)
		}
		tools = append(tools, t)
	}
	return tools
}

// use returns the current program, which is kept in being until its release.
func (e *Engine) use() *program {
	for {
		if p := e.current.Load(); p.retain() {
			return p
		}
	}
}

// alive returns the programs that are in use. They must not be changed.
func (e *Engine) alive() []*program {
	if all := e.live.Load(); all != nil {
		return *all
	}
	return nil
}

// retain counts a user, unless there are none any more.
func (p *program) retain() bool {
	for {
		n := p.users.Load()
		if n == 0 {
			return false
		}
		if p.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (p *program) release() {
	if p.users.Add(-1) == 0 {
		p.over(p)
	}
}

// hold is retain for a server.
func (p *program) hold() (release func()) {
	if !p.retain() {
		return nil
	}
	return p.unusing
}

// retire ends what a program had and no other has taken over.
func (e *Engine) retire(p *program) {
	go func() {
		if err := p.upstreams.close(); err != nil {
			e.opts.log.Warn("servers that are not needed any more did not end", "error", err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.keepAlive(slices.DeleteFunc(slices.Clone(e.alive()), func(one *program) bool { return one == p }))
	}()
}

func (e *Engine) keepAlive(all []*program) { e.live.Store(&all) }

package engine

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Program is a file as it was read once, and what its tools need to run. It is
// immutable but for the count of its users, and safe for concurrent use.
type Program struct {
	engine      *Engine
	opts        Options
	set         *graph.Set
	byName      map[string]*graph.Graph
	lock        *lock.File // nil: nothing is locked
	diagnostics []diag.Diagnostic
	sources     diag.Sources
	upstreams   upstreams
	recorder    *telemetry.Recorder // nil without telemetry
	guard       func() (auth.Guard, error)
	redact      func(string) string // takes the secrets of the file out; nil where there are none
	// secretSchemas are those of tools that declare arguments as secrets.
	secretSchemas map[*graph.Graph]value.Value
	lockedInputs  *lockedInputs // nil: nothing is locked
	digestOnce    sync.Once
	digest        string        // see Digest
	version       func() string // Digest, made once

	users   atomic.Int64 // calls that run on it, and the Engine until it has another one
	over    func(*Program)
	release func() // Release, made once
}

// lockShare is what a lock file takes in memory, with the schemas that are compiled, in
// bytes for each of its text.
const lockShare = 8

// compile reads the file and compiles it. The error is a *LoadError, a *MemoryError, or
// the cause of ctx.
func (e *Engine) compile(ctx context.Context, opts Options) (*Program, error) {
	s, err := Read(ctx, e.path, opts)
	if err != nil {
		return nil, err
	}
	return e.compileSource(s, opts)
}

// compileSource is compile for a file that was read.
func (e *Engine) compileSource(s *Source, opts Options) (*Program, error) {
	defer s.close()
	p, err := e.compiled(s, opts)
	if gone := s.err(); gone != nil { // p is incomplete
		return nil, gone
	}
	return p, err
}

func (e *Engine) compiled(s *Source, opts Options) (*Program, error) {
	ctx, file, sources, ds := s.ctx, s.File, s.sources, s.diagnostics
	p := &Program{engine: e, opts: opts, byName: map[string]*graph.Graph{}, sources: sources, over: e.retire}
	p.release = p.Release
	p.users.Store(1)
	if file != nil {
		var more []diag.Diagnostic
		opts.addServers(file)
		if p.set = (&graph.Set{File: file}); !opts.ServersOnly {
			p.set, more = graph.BuildContext(ctx, file, nodes.All, opts.Functions...)
		}
		ds = append(ds, more...)
		ds = append(ds, p.readLock(ctx, e.path)...)
		if ctx.Err() != nil {
			return nil, nil
		}
		if !diag.HasErrors(ds) {
			ds = append(ds, p.unpublishable()...)
		}
		diag.Sort(ds)
	}
	p.diagnostics = ds
	if file == nil || diag.HasErrors(ds) {
		return nil, &LoadError{Path: e.path, Diagnostics: ds, Sources: sources}
	}
	if p.lock != nil {
		p.lockedInputs = &lockedInputs{lock: p.lock, log: e.log}
		p.diagnostics = append(p.diagnostics, p.set.CheckLock(p.lock)...)
		diag.Sort(p.diagnostics)
	}
	for _, g := range p.set.Graphs {
		p.byName[g.Name] = g
	}
	p.guard = sync.OnceValues(func() (auth.Guard, error) { return auth.New(file.Server.Auth) })
	p.redact = upstream.Redactor(secretsOf(file))
	p.secretSchemas = secretSchemas(p.set.Graphs)
	return p, nil
}

// connect readies the servers that the tools call, which it takes over from
// before where they have not changed.
func (p *Program) connect(before *Program) {
	p.version = p.Digest
	if t := p.opts.Telemetry; t != nil {
		p.recorder = t.Recorder(p.subject())
	}
	var pool *upstream.Pool
	if before != nil {
		pool = before.upstreams.pool
	}
	p.upstreams = newUpstreams(p, pool)
	if p.recorder != nil {
		p.upstreams.caller = p.recorder.Caller(p.upstreams.caller)
	}
}

// unpublishable finds tools that could be run and not be served.
func (p *Program) unpublishable() []diag.Diagnostic {
	var ds []diag.Diagnostic
	for i, t := range p.Tools() {
		if err := t.Check(); err != nil && !p.set.Graphs[i].Private {
			g := p.set.Graphs[i]
			ds = append(ds, diag.Diagnostic{
				File: g.File, Pos: g.Pos, Severity: diag.SeverityOf(diag.CodeSchema), Code: diag.CodeSchema,
				Message: err.Error(),
			})
		}
	}
	return ds
}

// keepGuard takes over the guard of the program before that takes the tokens of
// the same issuer: another one would know nothing of its keys, and reject every
// token if the issuer cannot be asked just now.
func (p *Program) keepGuard(before *Program) {
	was, now := before.set.File.Server.Auth, p.set.File.Server.Auth
	if now != nil && now.Type == config.AuthOAuth && reflect.DeepEqual(was, now) {
		p.guard = before.guard
	}
}

// Options returns what the program was read with.
func (p *Program) Options() Options { return p.opts }

// Set returns the compiled tools and the file that they are from.
func (p *Program) Set() *graph.Set { return p.set }

// Diagnostics returns what was found in the file, warnings at worst, and in
// comparison with the lock file, where an error says that a call fails. With it come
// the texts to show.
func (p *Program) Diagnostics() ([]diag.Diagnostic, diag.Sources) { return p.diagnostics, p.sources }

// Lock returns what is locked of the servers; nil without a lock file.
func (p *Program) Lock() *lock.File { return p.lock }

// Pool returns the sessions with the servers of the file; nil if Options.Caller
// takes their place.
func (p *Program) Pool() *upstream.Pool { return p.upstreams.pool }

// Recorder returns what records requests for telemetry; nil without telemetry.
func (p *Program) Recorder() *telemetry.Recorder { return p.recorder }

// Guard returns what authenticates HTTP requests as the file configures, or nil
// without such a setting. It reads the file of tokens, once; the error is that
// of [auth.New].
func (p *Program) Guard() (auth.Guard, error) { return p.guard() }

// Access returns the file's settings for access over HTTP. The guard is left out if
// opts have one.
func (p *Program) Access(opts *server.HTTPOptions) (server.Access, error) {
	of := p.set.File.Server
	a := server.Access{AllowedHosts: of.AllowedHosts, AllowedOrigins: of.AllowedOrigins}
	var err error
	if opts.Guard == nil {
		a.Guard, err = p.Guard()
	}
	return a, err
}

// Limits returns the file's limits of concurrent calls.
func (p *Program) Limits() server.Limits {
	of := p.set.File.Server
	return server.Limits{Calls: of.MaxConcurrentCalls, PerCaller: of.MaxConcurrentCallsPerCaller, Wait: of.MaxCallWait}
}

// Has reports whether the file has a tool, prompt or resource with this name.
func (p *Program) Has(tool string) bool { return p.byName[tool] != nil }

// Asks reports whether the tool, prompt or resource with this name may ask its client.
func (p *Program) Asks(tool string) bool {
	g := p.byName[tool]
	return g != nil && g.Asks()
}

// Graph returns the tool, prompt or resource with this name. The error is a *server.UnknownToolError.
func (p *Program) Graph(tool string) (*graph.Graph, error) {
	if g := p.byName[tool]; g != nil {
		return g, nil
	}
	return nil, &server.UnknownToolError{Name: tool, Tools: slices.Sorted(maps.Keys(p.byName))}
}

// Published returns the tools that clients see, in the order of the file.
func (p *Program) Published() []server.Tool {
	return slices.DeleteFunc(p.Tools(), func(t server.Tool) bool { return p.byName[t.Name].Private })
}

// Tools returns all tools in the order of the file, as a server publishes them.
func (p *Program) Tools() []server.Tool {
	tools := make([]server.Tool, 0, len(p.set.Graphs))
	for _, g := range p.set.Graphs {
		if g.Offer != nil {
			break // they follow the tools
		}
		t := server.Tool{
			Name: g.Name, Title: g.Title, Description: g.Description,
			InputSchema: schemaValue(g.Input), Annotations: g.Annotations, Icons: g.Icons, RequiredScopes: g.RequiredScopes,
			Blocks: nodes.GivesBlocks(g.Exit.Step), Task: server.TaskSupport(g.Task),
		}
		if t.Task == "" && p.opts.Place != nil {
			t.Task = server.TaskOptional
		}
		if p.lock != nil && !p.opts.Lock.StatedAnnotations {
			t.Annotations = g.ComputeAnnotations(p.lock)
		}
		if g.Output != nil {
			t.OutputSchema = schemaValue(g.Output)
		}
		tools = append(tools, t)
	}
	return tools
}

// Offers returns the prompts and resources in the order of the file.
func (p *Program) Offers() []*graph.Graph {
	i := slices.IndexFunc(p.set.Graphs, func(g *graph.Graph) bool { return g.Offer != nil })
	if i < 0 {
		return nil
	}
	return slices.Clip(p.set.Graphs[i:])
}

// schemaValue returns a schema as it is written. Its text is JSON.
func schemaValue(s *graph.Schema) value.Value {
	v, _ := value.ParseLazy(s.Raw())
	return v
}

// retain counts a user and reports true, unless there are none any more.
func (p *Program) retain() bool {
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

// Release ends a use of the program. After the last one, its servers that no
// other program took over are closed.
func (p *Program) Release() {
	if p.users.Add(-1) == 0 {
		p.over(p)
	}
}

// Retain makes the program stay usable until release is called. Release is nil
// if the program is not used any more.
func (p *Program) Retain() (release func()) {
	if !p.retain() {
		return nil
	}
	return p.release
}

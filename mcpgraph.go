// Package mcpgraph runs the tools of a configuration file: each is a graph
// whose nodes call the tools of other MCP servers, compute, and decide.
//
//	engine, err := mcpgraph.Load("tools.yaml")
//	if err != nil { … }
//	defer engine.Close()
//	result, err := engine.Call(ctx, "count_files", map[string]any{"directory": "."})
//
// The same engine serves MCP clients: see [Engine.ServeStdio].
package mcpgraph

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Engine holds the compiled tools of one file and the sessions with the servers
// they call. It is safe for any number of goroutines.
type Engine struct {
	set         *graph.Set
	byName      map[string]*graph.Graph
	diagnostics []diag.Diagnostic
	sources     diag.Sources
	opts        options
	upstreams   upstreams
	recorder    *telemetry.Recorder // nil without telemetry
	guard       func() (auth.Guard, error)
	redact      func(string) string // takes the secrets of the file out; nil where there are none
}

// LoadError says that a file has errors, and all that was found in it.
type LoadError struct {
	Path        string
	Diagnostics []diag.Diagnostic // sorted by place, warnings among them
	Sources     diag.Sources      // the text of the files, to show with them
}

// Error returns the errors, one a line, without colour or source lines.
func (e *LoadError) Error() string {
	text := e.Path + " has errors"
	for _, d := range e.Diagnostics {
		if d.Severity == diag.Error {
			text += "\n" + d.Error()
		}
	}
	return text
}

// Load reads and compiles the file at path. No server is started and nothing is
// called before the first tool needs it. The error is a *LoadError; a file that
// cannot be read is a diagnostic with [diag.CodeFile].
func Load(path string, opts ...Option) (*Engine, error) {
	o := newOptions(opts)
	file, sources, ds := config.Load(path, o.mcpFiles, o.getenv)
	e := &Engine{opts: o, byName: map[string]*graph.Graph{}, sources: sources}
	if file != nil {
		var more []diag.Diagnostic
		e.set, more = graph.Build(file, nodes.All)
		ds = append(ds, more...)
		if !diag.HasErrors(ds) {
			ds = append(ds, e.unpublishable()...)
		}
		diag.Sort(ds)
	}
	e.diagnostics = ds
	if file == nil || diag.HasErrors(ds) {
		return nil, &LoadError{Path: path, Diagnostics: ds, Sources: sources}
	}
	for _, g := range e.set.Graphs {
		e.byName[g.Name] = g
	}
	e.guard = sync.OnceValues(func() (auth.Guard, error) { return auth.New(file.Server.Auth) })
	e.redact = upstream.Redactor(secretsOf(file))
	e.opts.log = slog.New(telemetry.RewriteLog(o.log.Handler(), e.Redact))
	if o.telemetry != nil {
		e.recorder = o.telemetry.Recorder(e.describe(file))
	}
	e.upstreams = newUpstreams(file, e.opts, e.recorder)
	if e.recorder != nil {
		e.upstreams.caller = e.recorder.Caller(e.upstreams.caller)
		e.opts.hooks = append([]executor.Hooks{e.recorder.Hooks()}, e.opts.hooks...)
	}
	return e, nil
}

// unpublishable finds tools that could be run and not be served.
func (e *Engine) unpublishable() []diag.Diagnostic {
	var ds []diag.Diagnostic
	for i, t := range e.Tools() {
		if err := server.Tool(t).Check(); err != nil {
			g := e.set.Graphs[i]
			ds = append(ds, diag.Diagnostic{
				File: g.File, Pos: g.Pos, Severity: diag.SeverityOf(diag.CodeSchema), Code: diag.CodeSchema,
				Message: err.Error(),
			})
		}
	}
	return ds
}

// Close ends the sessions with all servers and the processes behind them. Calls
// under way fail. The Engine cannot be used afterwards.
func (e *Engine) Close() error { return e.upstreams.close() }

// Diagnostics returns what was found in the file, which is nothing worse than
// warnings, and the texts to show with them.
func (e *Engine) Diagnostics() ([]diag.Diagnostic, diag.Sources) { return e.diagnostics, e.sources }

// Graphs returns the compiled tools in the order of the file. They are
// immutable.
func (e *Engine) Graphs() []*graph.Graph { return e.set.Graphs }

// Graph returns the compiled tool with this name. The error is a
// *server.UnknownToolError.
func (e *Engine) Graph(tool string) (*graph.Graph, error) {
	if g := e.byName[tool]; g != nil {
		return g, nil
	}
	return nil, &server.UnknownToolError{Name: tool, Tools: slices.Sorted(maps.Keys(e.byName))}
}

// File returns the file as it was read. It is immutable.
func (e *Engine) File() *config.File { return e.set.File }

// Tool is one tool of a file.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  value.Value // a JSON Schema
	OutputSchema value.Value // a JSON Schema; undefined where there is none
	Annotations  value.Value // undefined where there are none
	Icons        value.Value // undefined where there are none
	// RequiredScopes are what a caller over HTTP has to have been granted.
	RequiredScopes []string
}

// Tools returns the tools in the order of the file.
func (e *Engine) Tools() []Tool {
	tools := make([]Tool, 0, len(e.set.Graphs))
	for _, g := range e.set.Graphs {
		t := Tool{
			Name: g.Name, Title: g.Title, Description: g.Description,
			InputSchema: schemaValue(g.Input), Annotations: g.Annotations, Icons: g.Icons, RequiredScopes: g.RequiredScopes,
		}
		if g.Output != nil {
			t.OutputSchema = schemaValue(g.Output)
		}
		tools = append(tools, t)
	}
	return tools
}

// schemaValue gives a schema as it is written. Its text is JSON.
func schemaValue(s *graph.Schema) value.Value {
	v, _ := value.ParseLazy(s.Raw())
	return v
}

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
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Engine holds the compiled tools of one file and the sessions with the servers
// they call. It is safe for any number of goroutines. What its methods return of
// the file is that of one moment: Reload replaces it as a whole.
type Engine struct {
	path string
	opts options

	current atomic.Pointer[program]
	live    atomic.Pointer[[]*program] // current, and those before it that calls still use

	reloading sync.Mutex
	mu        sync.Mutex // guards what follows, and the replacing of the above
	serving   []*serving
	closed    bool
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
// called before the first tool needs it. The error is a *LoadError, or about
// [WithFunctions]; a file that cannot be read is a diagnostic with [diag.CodeFile].
func Load(path string, opts ...Option) (*Engine, error) { return load(path, newOptions(opts)) }

// LoadBytes is [Load] for a file that is in memory. Diagnostics call it name, and
// paths in it are relative to the folder of name. Files of [WithMCPFiles] are
// read from disk. Text is copied; Reload reads the copy again.
func LoadBytes(name string, text []byte, opts ...Option) (*Engine, error) {
	text = append([]byte{}, text...)
	o := newOptions(opts)
	o.read = func(path string) ([]byte, error) {
		if path == name {
			return bytes.Clone(text), nil
		}
		return os.ReadFile(path)
	}
	return load(name, o)
}

// LoadFS is [Load] for a file of fsys, such as an [embed.FS]. Files of
// [WithMCPFiles] are read from fsys too. What the file itself names, such as
// tokensFile, is read from disk.
func LoadFS(fsys fs.FS, path string, opts ...Option) (*Engine, error) {
	o := newOptions(opts)
	o.read = func(path string) ([]byte, error) { return fs.ReadFile(fsys, path) }
	return load(path, o)
}

func load(path string, opts options) (*Engine, error) {
	if err := expr.CheckFunctions(opts.functions); err != nil {
		return nil, fmt.Errorf("WithFunctions: %w", err)
	}
	e := &Engine{path: path, opts: opts}
	e.opts.log = slog.New(telemetry.RewriteLog(callerLog{e.opts.log.Handler()}, e.Redact))
	p, err := e.compile()
	if err != nil {
		return nil, err
	}
	p.connect(nil)
	e.current.Store(p)
	e.live.Store(&[]*program{p})
	return e, nil
}

// Close ends the sessions with all servers and the processes behind them. Calls
// under way fail. The Engine cannot be used afterwards.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	all := e.alive()
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, p := range all {
		wait.Go(func() { errs[i] = p.upstreams.close() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// Diagnostics returns what was found in the file, which is nothing worse than
// warnings, and the texts to show with them.
func (e *Engine) Diagnostics() ([]diag.Diagnostic, diag.Sources) {
	p := e.current.Load()
	return p.diagnostics, p.sources
}

// Graphs returns the compiled tools in the order of the file. They are
// immutable.
func (e *Engine) Graphs() []*graph.Graph { return e.current.Load().set.Graphs }

// Graph returns the compiled tool with this name. The error is a
// *server.UnknownToolError.
func (e *Engine) Graph(tool string) (*graph.Graph, error) { return e.current.Load().graph(tool) }

// File returns the file as it was read. It is immutable.
func (e *Engine) File() *config.File { return e.current.Load().set.File }

// Tool is one tool of a file.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  value.Value // a JSON Schema
	OutputSchema value.Value // a JSON Schema; undefined where there is none
	Annotations  value.Value // undefined where there are none
	Icons        value.Value // undefined where there are none
	// Blocks says that results are lists of content blocks, as MCP has them.
	Blocks bool
	// RequiredScopes are what a caller over HTTP has to have been granted.
	RequiredScopes []string
}

// Tools returns the tools in the order of the file.
func (e *Engine) Tools() []Tool { return e.current.Load().tools() }

// schemaValue gives a schema as it is written. Its text is JSON.
func schemaValue(s *graph.Schema) value.Value {
	v, _ := value.ParseLazy(s.Raw())
	return v
}

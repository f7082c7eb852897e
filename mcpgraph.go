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
	"context"
	"errors"
	"io/fs"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Engine holds the compiled tools of one file and the sessions with the servers
// they call. It is safe for concurrent use. What its methods return of the file
// is that of one moment: Reload replaces it as a whole.
type Engine struct {
	engine  *engine.Engine
	servers *serving.Servers
}

// LoadError is returned for a file with errors. It holds all diagnostics of the
// file.
type LoadError struct {
	Path        string
	Diagnostics []diag.Diagnostic // sorted by place, warnings among them
	Sources     diag.Sources      // the text of the files, to show with them
}

// Error returns the errors, one a line, without colour or source lines.
func (e *LoadError) Error() string { return (*engine.LoadError)(e).Error() }

// Load reads and compiles the file at path. No server is started and nothing is
// called before the first tool needs it. The error is a *LoadError, about
// [WithFunctions], or a *[memory.Error] if the file takes more than [WithMemory] has
// left; a file that cannot be read is a diagnostic with [diag.CodeFile].
func Load(path string, opts ...Option) (*Engine, error) {
	return LoadContext(context.Background(), path, opts...)
}

// LoadContext is [Load], and stops with the cause of ctx when ctx ends.
func LoadContext(ctx context.Context, path string, opts ...Option) (*Engine, error) {
	s, err := Read(ctx, path, opts...)
	if err != nil {
		return nil, err
	}
	return s.Load()
}

// LoadBytes is [Load] for a file that is in memory. Diagnostics call it name, and
// paths in it are relative to the folder of name. Files of [WithMCPFiles] are
// read from disk. Text is copied; Reload reads the copy again.
func LoadBytes(name string, text []byte, opts ...Option) (*Engine, error) {
	text = append([]byte{}, text...)
	o := newOptions(opts)
	o.engine.Read = func(path string) ([]byte, error) {
		if path == name {
			return bytes.Clone(text), nil
		}
		return boundedfile.Read(path)
	}
	s, err := read(context.Background(), name, o)
	if err != nil {
		return nil, err
	}
	return s.Load()
}

// LoadFS is [Load] for a file of fsys, such as an [embed.FS]. Files of
// [WithMCPFiles] are read from fsys too. What the file itself names, such as
// tokensFile, is read from disk.
func LoadFS(fsys fs.FS, path string, opts ...Option) (*Engine, error) {
	s, err := ReadFS(context.Background(), fsys, path, opts...)
	if err != nil {
		return nil, err
	}
	return s.Load()
}

// loadError returns err with the type of this package if it is about the file.
func loadError(err error) error {
	var found *engine.LoadError
	if errors.As(err, &found) {
		return (*LoadError)(found)
	}
	return err
}

// Changes are what a Reload changed, by name, in the order of the file.
type Changes struct {
	ToolsAdded, ToolsChanged, ToolsRemoved []string
	// Offers are the prompts and resources, such as prompts/review.
	OffersAdded, OffersChanged, OffersRemoved []string
	// ServersKept keep their connections; ServersChanged get new ones
	// when they are next needed.
	ServersKept, ServersAdded, ServersChanged, ServersRemoved []string
}

// Reload reads the file again, with the files of WithMCPFiles, and replaces
// tools, HTTP authentication, limits and servers. Servers with unchanged
// entries keep their connections, caches and circuit breakers. Connected
// clients are notified if their list of tools has changed. Calls under way run
// to their ends on the graphs that they began with; servers that are not in the
// file any more end after the last of them.
//
// The error is a *LoadError, a *[memory.Error] if the file takes more than [WithMemory]
// has left, or explains why what is served cannot be replaced; nothing has changed then.
func (e *Engine) Reload() (*Changes, error) { return e.ReloadContext(context.Background()) }

// ReloadContext is [Engine.Reload], and stops with the cause of ctx when ctx ends
// before the file is read.
func (e *Engine) ReloadContext(ctx context.Context) (*Changes, error) {
	changes, err := e.servers.Reload(ctx)
	return (*Changes)(changes), loadError(err)
}

// Close ends the sessions with all servers and the processes behind them. Calls
// under way fail. The Engine cannot be used afterwards.
func (e *Engine) Close() error {
	e.servers.Close()
	return e.engine.Close()
}

// Version returns the version of this module as the Go toolchain recorded it
// in the program, such as "v1.2.0"; "devel" where it recorded none.
func Version() string { return engine.Version() }

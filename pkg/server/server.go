// Package server publishes tools to MCP clients. It speaks the Model Context
// Protocol (https://modelcontextprotocol.io/specification) in the revisions
// 2024-11-05 to 2025-11-25 and 2026-07-28, over standard input and output with
// one client, and over streamable HTTP with any number of them.
//
// What a tool does is the caller's affair: the package gets a list of tools and
// one function that calls them.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// DefaultMaxLine is the length in bytes, 64 MiB, beyond which a message on
// standard input is refused where Options.MaxLine is 0.
const DefaultMaxLine = 64 << 20

// Tool is one tool as clients see it. Schemas, annotations and icons are sent
// as they are, in the order of their keys.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  value.Value // required; sent with "type": "object" where it does not say so
	OutputSchema value.Value // undefined where there is none
	Annotations  value.Value // undefined where there are none
	Icons        value.Value // undefined where there are none
	// RequiredScopes are what a caller over HTTP has to have been granted.
	RequiredScopes []string
}

// CallFunc runs one tool. Its error becomes a tool result with isError and the
// error's text. It is called from any number of goroutines at once, and must
// return soon after ctx is done; context.Cause(ctx) says why it is. RequestOf(ctx)
// is the request that it answers, and ReporterOf(ctx) the way to its client until
// it returns.
type CallFunc func(ctx context.Context, name string, args value.Value) (value.Value, error)

// Options say what a Server publishes. Info, Tools and Call are required.
type Options struct {
	Info    config.Server
	Tools   []Tool
	Call    CallFunc
	Log     *slog.Logger // nil discards
	MaxLine int          // longest message in bytes; 0 means DefaultMaxLine

	Resources []Resource  // may be empty
	Observe   ObserveFunc // nil observes nothing
}

// Server publishes tools. It is immutable and safe for concurrent use.
type Server struct {
	mcp     *mcpserver.MCPServer
	tools   []listedTool
	names   []string // sorted
	scopes  scopes
	call    CallFunc
	log     *slog.Logger
	maxLine int
	observe ObserveFunc
}

// New returns a Server. The error is that of [Tool.Check].
func New(opts Options) (*Server, error) {
	s := &Server{
		call:    opts.Call,
		log:     opts.Log,
		maxLine: opts.MaxLine,
		observe: opts.Observe,
		scopes:  scopesOf(opts.Tools),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.maxLine <= 0 {
		s.maxLine = DefaultMaxLine
	}
	s.mcp = mcpserver.NewMCPServer(opts.Info.Name, opts.Info.Version,
		mcpserver.WithToolCapabilities(false),
		mcpserver.WithLogging(),
		mcpserver.WithTitle(opts.Info.Title),
		mcpserver.WithInstructions(opts.Info.Instructions),
	)
	registered := make([]mcpserver.ServerTool, 0, len(opts.Tools))
	for _, t := range opts.Tools {
		if err := t.Check(); err != nil {
			return nil, err
		}
		s.tools = append(s.tools, newListedTool(t))
		s.names = append(s.names, t.Name)
		registered = append(registered, mcpserver.ServerTool{Tool: t.literal(), Handler: s.handle})
	}
	slices.Sort(s.names)
	s.mcp.AddTools(registered...)
	for _, r := range opts.Resources {
		s.publish(r)
	}
	return s, nil
}

// handle runs one call for the library. Its arguments come beside the message,
// which the library would decode several times over, losing key order on the
// way. A failure is a result, never an error: an error would reach the client
// as JSON-RPC's, which a model does not see.
func (s *Server) handle(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
	name := req.Params.Name
	defer func() {
		if p := recover(); p != nil {
			s.log.ErrorContext(ctx, "a tool call panicked", "tool", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result = mcp.NewToolResultError(fmt.Sprintf("tool %q: internal error: %v", name, p))
		}
	}()
	r := RequestOf(ctx)
	reporter := ReporterOf(ctx)
	reporter.begin(ctx)
	defer reporter.end()
	v, err := s.call(ctx, name, r.Args)
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	r.result = v
	return newResult(v, mcpserver.IsModernRequest(ctx)), nil
}

// newResult wraps a tool's value. Before revision 2026-07-28 only an object may
// be structured content.
func newResult(v value.Value, anyStructured bool) *mcp.CallToolResult {
	if v.Kind() == value.Undefined || v.Kind() == value.Func {
		v = value.NullValue
	}
	result := mcp.NewToolResultText(v.JSON())
	if v.Kind() == value.Object || anyStructured {
		result.StructuredContent = v
	}
	return result
}

// UnknownToolError says that a tool was asked for which is not there.
type UnknownToolError struct {
	Name  string
	Tools []string // the tools that are, sorted
}

// Error names the nearest tool, or all of them.
func (e *UnknownToolError) Error() string {
	text := fmt.Sprintf("unknown tool %q", e.Name)
	if near, ok := diag.Nearest(e.Name, e.Tools); ok {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	if len(e.Tools) == 0 {
		return text + "; this server has none"
	}
	return text + "; expected " + diag.List(e.Tools)
}

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
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/auth"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
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
	// Blocks says that results are lists of content blocks (MCP 2025-11-25, Tools,
	// Tool Result), which are sent as they are; there is no OutputSchema then.
	Blocks bool
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
	// Exchanged is told of HTTP requests; nil is told nothing.
	Exchanged ExchangeFunc
	Access    Access // over HTTP, for what HTTPOptions leave open
	// Hold, which may be nil, keeps what Call needs in being until the call is
	// over, and release is called. It may give nil where that is gone, which it
	// must not be before Replace has put something else in its place.
	Hold   func() (release func())
	Limits Limits
	// Memory bounds what requests and answers hold; nil bounds nothing. Calls
	// count on the account of their request, memory.AccountOf.
	Memory *memory.Budget
}

// Access says who may come in over HTTP, and whose pages; see [HTTPOptions].
type Access struct {
	Guard                        auth.Guard
	AllowedHosts, AllowedOrigins []string
}

// errUnguarded says that a Server that let only some in would let in everybody.
var errUnguarded = errors.New("it no longer says who may come in over HTTP, as it has to while it is served; start anew where that is meant")

// Server publishes tools. It is safe for concurrent use.
type Server struct {
	log      *slog.Logger
	maxLine  int
	memory   *memory.Budget
	patience patience
	audience audience
	listened listeners
	web      atomic.Pointer[HTTPOptions] // how it is served over HTTP; nil where it is not
	limiter  atomic.Pointer[limiter]     // nil until there are limits

	replacing sync.Mutex
	current   atomic.Pointer[published]
}

// New returns a Server. The error is that of [Tool.Check].
func New(opts Options) (*Server, error) {
	s := &Server{log: opts.Log, maxLine: opts.MaxLine, memory: opts.Memory, patience: patient}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.limit(opts.Limits)
	if s.maxLine <= 0 {
		s.maxLine = DefaultMaxLine
	}
	p, err := newPublished(opts, s.log, &s.audience)
	if err != nil {
		return nil, err
	}
	s.current.Store(p)
	return s, nil
}

// hold gives what answers a request of this method, and what is called when that
// is done.
func (s *Server) hold(method string) (_ *published, release func()) {
	for {
		p := s.current.Load()
		if p.hold == nil || method != string(mcp.MethodToolsCall) {
			return p, func() {}
		}
		if release = p.hold(); release != nil {
			return p, release
		}
		if s.current.Load() == p {
			return p, func() {} // it says itself that it is over
		}
	}
}

// Replace publishes what opts say in the place of what was; Log, MaxLine and
// Memory stay as they were. Requests under way are answered by what they found as they came;
// Limits hold at once for what waits, and count them, where there were limits
// before.
// Clients are told (notifications/tools/list_changed and
// notifications/resources/list_changed) where they would now get another list.
// Who may come in over HTTP changes as well, and the streams end of those who no
// longer may. The error is that of Check; nothing
// has changed then.
func (s *Server) Replace(opts Options) error {
	if err := s.Check(opts); err != nil {
		return err
	}
	p, err := newPublished(opts, s.log, &s.audience)
	if err != nil {
		return err
	}
	s.replacing.Lock()
	defer s.replacing.Unlock()
	s.limit(opts.Limits)
	was := s.current.Swap(p)
	if !was.sameTools(p) {
		s.audience.tell(mcp.MethodNotificationToolsListChanged, value.Undef)
	}
	if !was.resources.same(&p.resources) {
		s.audience.tell(mcp.MethodNotificationResourcesListChanged, value.Undef)
	}
	close(was.over)
	return nil
}

// Check gives the error that Replace would give: that of [Tool.Check], or while
// HTTP is served, that everybody could come in where a Guard of Options.Access is
// in the way, or that nobody could call a tool, since it needs scopes.
func (s *Server) Check(opts Options) error {
	if web := s.web.Load(); web != nil && web.Guard == nil && opts.Access.Guard == nil {
		if s.current.Load().access.Guard != nil {
			return errUnguarded
		}
		for _, t := range opts.Tools {
			if len(t.RequiredScopes) > 0 {
				return fmt.Errorf("tool %q needs scopes, which nobody has where everybody may come in over HTTP", t.Name)
			}
		}
	}
	for _, t := range opts.Tools {
		if err := t.Check(); err != nil {
			return err
		}
	}
	return nil
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

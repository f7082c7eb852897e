// Package server publishes tools, prompts and resources to MCP clients. It implements the Model
// Context Protocol (https://modelcontextprotocol.io/specification), revisions
// 2024-11-05 to 2025-11-25 and 2026-07-28, over standard input and output with
// one client, and over streamable HTTP with any number of clients.
//
// The package does not know what a tool does: it gets lists, and functions that are
// called for what is in them.
package server

import (
	"cmp"
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

// DefaultMaxLine is the longest message accepted on standard input, in bytes
// (64 MiB), if Options.MaxLine is 0.
const DefaultMaxLine = 64 << 20

// Tool is one tool as clients see it. Schemas, annotations and icons are sent
// unchanged, with their keys in order.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  value.Value // required; "type": "object" is added if it is missing
	OutputSchema value.Value // undefined if there is none
	Annotations  value.Value // undefined if there are none
	Icons        value.Value // undefined if there are none
	// Blocks reports whether results are lists of content blocks (MCP
	// 2025-11-25, Tools, Tool Result), which are sent unchanged. OutputSchema
	// must be undefined then.
	Blocks bool
	// Task says whether calls can be tasks. It needs Options.Tasks.
	Task TaskSupport
	// RequiredScopes are the scopes that a caller over HTTP needs.
	RequiredScopes []string
}

// CallFunc runs what r.Tool names with r.Args. The error of a tool, which may be a
// *CallError, becomes a tool result with isError and the error's text. It is called
// from any number of goroutines, and must return soon after ctx is done;
// context.Cause(ctx) is the reason.
type CallFunc func(ctx context.Context, r *Request) (value.Value, error)

// Options configure what a Server publishes. Info, Tools and Call are required.
type Options struct {
	Info    config.Server
	Tools   []Tool
	Call    CallFunc
	Log     *slog.Logger // nil discards logs
	MaxLine int          // longest message in bytes; 0 means DefaultMaxLine

	Prompts   []Prompt    // may be empty
	Resources []Resource  // may be empty
	Dynamic   *Dynamic    // may be nil
	Tasks     Tasks       // nil if there are none
	Observe   ObserveFunc // may be nil
	// Exchanged observes HTTP requests; it may be nil.
	Exchanged ExchangeFunc
	Access    Access // for HTTP, where HTTPOptions leave it open
	// Hold, which may be nil, keeps what the functions need alive until release
	// is called. It may return nil once Replace has published other options.
	Hold   func() (release func())
	Limits Limits
	// Memory bounds what requests and answers hold; nil means no bound. Calls
	// count on the account of their request, memory.AccountOf.
	Memory *memory.Budget
}

// Access configures who may connect over HTTP; see [HTTPOptions].
type Access struct {
	Guard                        auth.Guard
	AllowedHosts, AllowedOrigins []string
}

// errAuthRemoved prevents that a reload opens a protected server to everybody.
var errAuthRemoved = errors.New("removing server.auth needs a restart")

// Server publishes tools, prompts and resources. It is safe for concurrent use.
type Server struct {
	log           *slog.Logger
	maxLine       int
	memory        *memory.Budget
	timeouts      timeouts
	subscribers   subscribers
	subscriptions subscriptionLimiter
	watches       *watches
	lists         dynamicLists
	httpOptions   atomic.Pointer[HTTPOptions] // of the HTTP server; nil while there is none
	callLimiter   atomic.Pointer[callLimiter] // nil until limits are set

	replaceMu sync.Mutex
	current   atomic.Pointer[snapshot]
}

// New returns a Server. It returns the error of [Tool.Check] or [Resource.Check],
// if there is one.
func New(opts Options) (*Server, error) {
	s := &Server{log: opts.Log, maxLine: opts.MaxLine, memory: opts.Memory, timeouts: defaultTimeouts}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.setLimits(opts.Limits)
	if s.maxLine <= 0 {
		s.maxLine = DefaultMaxLine
	}
	s.watches = newWatches(s)
	s.lists.memory = opts.Memory
	p, err := newSnapshot(s, opts)
	if err != nil {
		return nil, err
	}
	s.current.Store(p)
	return s, nil
}

// setLimits replaces the limits. Waiting calls start if the new limits allow
// it.
func (s *Server) setLimits(limits Limits) {
	if l := s.callLimiter.Load(); l != nil {
		l.setLimits(limits)
	} else if limits.Calls > 0 || limits.PerCaller > 0 {
		s.callLimiter.Store(&callLimiter{log: s.log, limits: limits, byCaller: map[string]*callerQueue{}})
	}
}

// retain returns the snapshot that answers a request. If needed, what its functions
// need stays usable until release is called.
func (s *Server) retain(needed bool) (_ *snapshot, release func()) {
	for {
		p := s.current.Load()
		if p.retain == nil || !needed {
			return p, func() {}
		}
		if release = p.retain(); release != nil {
			return p, release
		}
		if s.current.Load() == p {
			return p, func() {} // its calls fail with their own error
		}
	}
}

// Replace publishes other options. Log, MaxLine and Memory keep their values.
// Running requests finish with the options that they started with. New limits
// apply at once, also to running calls if there were limits before.
//
// Clients get notifications/tools/list_changed, and those of prompts and resources,
// if the list changed. Over HTTP the
// new access rules apply, and streams of callers that lose access end. If
// Replace returns an error, which is that of Check, nothing has changed.
func (s *Server) Replace(opts Options) error {
	if err := s.Check(opts); err != nil {
		return err
	}
	p, err := newSnapshot(s, opts)
	if err != nil {
		return err
	}
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	s.setLimits(opts.Limits)
	was := s.current.Swap(p)
	dynamic := was.dynamic.Version != p.dynamic.Version
	if !sameList(was.tools, p.tools) {
		s.subscribers.notify(mcp.MethodNotificationToolsListChanged, value.Undef)
	}
	s.NotifyChanged(dynamic || !sameList(was.prompts, p.prompts),
		dynamic || !sameList(was.resources, p.resources) || !sameList(was.templates, p.templates))
	close(was.replaced)
	s.lists.clear()
	s.watches.rebind()
	return nil
}

// Check returns the error that Replace would return: that of New or,
// while HTTP is served, an error if opts remove authentication or if a tool
// requires scopes that nobody can have.
func (s *Server) Check(opts Options) error {
	if web := s.httpOptions.Load(); web != nil && web.Guard == nil && opts.Access.Guard == nil {
		if s.current.Load().access.Guard != nil {
			return errAuthRemoved
		}
		if all := opts.scopes(); len(all) > 0 {
			return fmt.Errorf("%s requires scopes, but without authentication nobody has any; set server.auth, or remove requiredScopes", all[0].label)
		}
	}
	for _, t := range opts.Tools {
		if err := t.Check(); err != nil {
			return err
		}
	}
	for _, s := range opts.Resources {
		if err := s.Check(); err != nil {
			return err
		}
	}
	return nil
}

// NotifyChanged tells clients that the list of prompts has changed, or that of
// resources or templates. [Server.Replace] does it for what it replaces.
func (s *Server) NotifyChanged(prompts, resources bool) {
	if prompts {
		s.subscribers.notify(mcp.MethodNotificationPromptsListChanged, value.Undef)
	}
	if resources {
		s.subscribers.notify(mcp.MethodNotificationResourcesListChanged, value.Undef)
	}
}

// UnknownToolError is the error of a request for a tool that does not exist.
type UnknownToolError struct {
	Name  string
	Tools []string // existing tools, sorted

	kind string // "tool" if it is empty
	more bool   // there may be others
}

// Error names the nearest tool, or all tools.
func (e *UnknownToolError) Error() string {
	kind := cmp.Or(e.kind, "tool")
	text := fmt.Sprintf("unknown %s %q", kind, e.Name)
	if near, ok := diag.Nearest(e.Name, e.Tools); ok {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	if e.more {
		return text
	}
	if len(e.Tools) == 0 {
		return text + "; this server has no " + kind + "s"
	}
	return text + "; expected " + diag.List(e.Tools)
}

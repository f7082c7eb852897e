// Package upstream calls the tools of other MCP servers, and reads their prompts and
// resources. A [Pool] holds one
// session for each server and each identity that calls it, opened when it is
// first needed, shared by all calls and opened again when the server has ended
// or forgotten it.
//
// Servers are child processes over stdio, addresses of streamable HTTP, of HTTP
// with server-sent events or of WebSockets, or connections that a program
// brings along. Revisions 2024-10-07 to 2025-11-25 and 2026-07-28 of MCP are
// spoken. Arguments and results travel as they are: key order, integers of any
// size, unknown fields.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"github.com/mark3labs/mcp-go/mcp"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Options are what a pool needs to know beside its servers.
type Options struct {
	// Log gets what servers write on stderr and send as log messages (debug),
	// and what they do wrong (warn). Nil drops it.
	Log *slog.Logger
	// ClientName and ClientVersion introduce this client to servers. The defaults are
	// "mcpgraph" and "dev".
	ClientName, ClientVersion string
	// Dial opens the connection to a server instead of the entry's transport. It
	// carries newline-delimited JSON-RPC messages, as stdio does. If Dial returns nil,
	// the entry's transport is used. It is called again after the connection has
	// ended. Dial may be nil.
	Dial func(ctx context.Context, entry *config.Upstream) (io.ReadWriteCloser, error)
	// Open opens what is no MCP server. If it returns nil, the entry is an MCP server. The
	// layer is all of them, for what the provider asks by itself. It must not block, and
	// starts nothing. It may be nil.
	Open func(*config.Upstream, Layer) (Provider, error)
	// Credentials are sources of credentials by the names of servers. Each replaces
	// the auth of its entry.
	Credentials map[string]CredentialSource
	// TokenFile is the file of logins and renewed refresh tokens, for entries without
	// auth.store. The default is mcpgraph/tokens.json in the user's configuration
	// directory.
	TokenFile string
	// OpenBrowser shows an address to a person who logs in. If it is nil, a call to a
	// server without a login fails.
	OpenBrowser func(ctx context.Context, url string) error
	// SessionStore keeps sessions over streamable HTTP for all servers, in the
	// place of what their entries say (session).
	SessionStore SessionStore
	// Memory is what replies that are read and results that are cached draw on; nil
	// has no bounds. What a call holds counts on the account of its context
	// (memory.AccountOf).
	Memory *memory.Budget
	// Secrets are taken out of texts by [Pool.Redactor] beside those of the servers.
	Secrets []string
	// Session is called when a session has opened. The function that it returns is
	// called when the session has ended: with nil if the pool ended it, else with an
	// *[Error]. Session may be nil. Neither may block.
	Session func(SessionInfo) (ended func(error))
	// Request is called with each request for something that is no tool, before anything
	// of it happens. The request goes on with the context and the info that it returns,
	// and done is called with its error when it has ended. Request may be nil. It must not
	// block.
	Request func(context.Context, *callinfo.Info, Request) (_ context.Context, _ *callinfo.Info, done func(error))
	// Answers answer requests of servers, by method: elicitation/create,
	// sampling/createMessage, roots/list. The handshake announces these methods. Other
	// requests are refused; an elicitation is declined.
	Answers map[string]Answer
	// Lock is what servers are compared with before the first call of a tool on a
	// session, and again when they say that their tools have changed; nil compares
	// nothing. Calls of tools that are not in it fail. LockMode is what happens to
	// calls of tools that differ; empty is lock.Default.
	Lock     *lock.File
	LockMode lock.Mode
	// Intercept stands for the servers in each exchange of a tool call. Nil: calls go
	// to the servers. All other requests always do.
	Intercept Intercept
	// Repeatable reports whether a tool may be called twice (readOnlyHint or
	// idempotentHint). It is asked where the server has not said so, for a retry of a
	// call that the server may have acted on; without it such a call is not made again.
	// It may be nil, and must not block.
	Repeatable func(server, tool string) bool
	// Input returns what the arguments of calls are compared with, of the inputSchema of a
	// tool as its server lists it, or nil if that cannot be used. LockedInput returns the
	// same of the lock file, for calls that Intercept stands for; nil if the tool is not
	// locked. Either may be nil: then these arguments are sent as they are.
	Input       func(schema value.Value) Input
	LockedInput func(server, tool string) Input
}

// Pool is the sessions with a set of servers. It is safe for concurrent use.
//
// It is bounded for each server: 1,000 identities keep a session, of which the
// one idle for the longest makes room, and one of callers with credentials of
// their own ends 10 minutes after its last call; calls in flight, bytes of a
// message and cached results as the entry says; 256 idle HTTP connections; 100
// requests of the server's own at a time; 100 lines of stderr, of 4 KiB each.
type Pool struct {
	servers  map[string]*server
	callers  map[string]Caller // through all layers
	names    []string          // in the order given
	redact   *redact.Redactor  // of the secrets of all servers
	personal bool              // whether calls carry credentials of their callers
	closed   atomic.Bool

	lock     *lock.File // nil: nothing is locked
	lockMode lock.Mode
	unlocked sync.Map // calls that are not locked and were logged
}

// New returns a pool of the servers, of which it starts none. The entries must
// not change any more.
func New(entries []*config.Upstream, o Options) *Pool {
	return (&Pool{}).Next(entries, o)
}

// CallTool calls a tool and returns its result, also one with isError. A
// server that is not running is started. Arguments that are not an object are
// sent as an empty one. When ctx ends, the call returns at once and is cancelled on
// the server. info may be nil. Errors are *[Error].
func (p *Pool) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (Reply, error) {
	if _, err := p.server(opCall, server, tool); err != nil {
		return Reply{}, err
	}
	c := &Call{Info: infoFor(ctx, info), Server: server, Method: policy.MethodCall, Name: tool, Args: args}
	return p.callers[server](withInfo(ctx, info), c)
}

// Tools returns the tools of a server as it describes them, with every keyword
// of their schemas and with the names that they have there, namePrefix
// included. info may be nil. Errors are *[Error].
func (p *Pool) Tools(ctx context.Context, info *callinfo.Info, server string) ([]value.Value, error) {
	s, err := p.server("list", server, "")
	if err != nil {
		return nil, err
	}
	return s.provider.Tools(ctx, info)
}

func (p *Pool) server(op, name, tool string) (*server, error) {
	if s, ok := p.servers[name]; ok {
		if p.closed.Load() {
			return nil, s.closedError(op, tool)
		}
		return s, nil
	}
	hint := "add it to mcpServers"
	if near, ok := diag.Nearest(name, p.names); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(p.names) > 0 {
		hint = "there is " + diag.List(p.names)
	}
	return nil, &Error{Server: name, Tool: tool, Op: op, Message: "there is no such server", Hint: hint, Kind: KindPoolClosed}
}

// Start starts the servers that are marked as eager, all at once, and waits
// for their handshakes. What does not start is in the error and is tried again
// by the first call that needs it.
func (p *Pool) Start(ctx context.Context) error {
	errs := make([]error, len(p.names))
	var wait sync.WaitGroup
	for i, name := range p.names {
		s := p.servers[name]
		if !s.entry.Eager || !s.isMCP() {
			continue
		}
		wait.Go(func() { errs[i] = s.start(ctx) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// Close ends every server that no other pool has taken over (see [Pool.Next]): it
// sees the end of its input, then SIGTERM and in the end SIGKILL, which takes 5
// seconds at most; the end of ctx skips the waits. Calls in flight to these
// servers and later ones to any fail. Close returns when none of their processes
// is left, with nil.
func (p *Pool) Close(ctx context.Context) error {
	p.closed.Store(true)
	var wait sync.WaitGroup
	for _, name := range p.names {
		if s := p.servers[name]; s.release(p) {
			wait.Go(func() { s.close(ctx) })
		}
	}
	wait.Wait()
	return nil
}

// MayRepeat reports whether a call may be made again of which nobody knows whether it
// happened: the tool is marked readOnlyHint or idempotentHint, or the entry of its
// server has retryUnsafe. It asks the server, and reports false if that fails.
func (p *Pool) MayRepeat(ctx context.Context, info *callinfo.Info, server, tool string) bool {
	s, err := p.server("list", server, tool)
	if err != nil {
		return false
	}
	if s.entry.RetryUnsafe {
		return true
	}
	tools, err := s.provider.Tools(ctx, info)
	if err != nil {
		return false
	}
	name := s.entry.NamePrefix + tool
	return slices.ContainsFunc(tools, func(t value.Value) bool { return t.Get("name").Str() == name && isRepeatable(t) })
}

// Status returns the state of a server. It connects if there is no connection, sends
// a ping, lists the tools, and counts prompts and resources. ctx bounds the wait. Errors are *[Error]; the status
// then holds what was found before. info may be nil.
func (p *Pool) Status(ctx context.Context, info *callinfo.Info, server string) (Status, error) {
	s, err := p.server("status", server, "")
	if err != nil {
		return Status{Server: server}, err
	}
	out := Status{Server: s.entry.Name}
	if !s.isMCP() {
		out.Transport = s.entry.Transport
		out.Tools, err = s.provider.Tools(ctx, infoFor(ctx, info))
		return out, err
	}
	err = s.onSession(ctx, info, mcp.MethodPing, func(ctx context.Context, session *session) error {
		out.Protocol, out.Name, out.Version = session.peer.revision, session.peer.name, session.peer.version
		out.Title, out.Instructions = session.peer.title, session.peer.instructions
		out.CallsTasks = session.callsTasks()
		took, err := session.ping(ctx)
		if err == nil {
			out.RoundTrip = took
		} else if !errors.Is(err, KindTimeout) { // some servers ignore what they do not know
			return err
		}
		if out.Tools, err = session.tools(ctx); err != nil {
			return err
		}
		for l, count := range map[listing]*int{listOfPrompts: &out.Prompts, listOfResources: &out.Resources, listOfTemplates: &out.Templates} {
			all, err := session.offered(ctx, l, nil)
			if *count = len(all); err != nil {
				s.log.Debug("cannot list "+l.member, "error", s.redact.Err(err))
			}
		}
		return nil
	})
	out.Transport, out.Issuer = s.transport(), s.credentials.DiscoveredIssuer()
	return out, err
}

// Stats returns the state of each server, in the order in which the pool got
// them. It asks and starts none. A server that another pool has taken over is
// among that pool's.
func (p *Pool) Stats() []Stats {
	all := make([]Stats, 0, len(p.names))
	for _, name := range p.names {
		if s := p.servers[name]; s.isNewestPool(p) {
			all = append(all, s.stats())
		}
	}
	return all
}

// Input returns the schema of the arguments of a tool as calls with info are compared with
// it: the one that the server has listed, else that of the lock file. It is nil if the
// schema is not known. info may be nil.
func (p *Pool) Input(info *callinfo.Info, server, tool string) Input {
	s := p.servers[server]
	if s == nil {
		return nil
	}
	id := s.credentials.Expect(info.OrNone())
	s.mu.Lock()
	slot := s.slots[id]
	s.mu.Unlock()
	if slot != nil {
		if in := slot.hints.input(s.entry.NamePrefix + tool); in != nil {
			return in
		}
	}
	if s.lockedInput == nil {
		return nil
	}
	return s.lockedInput(server, tool)
}

// locked refuses calls of tools that are not in the lock file.
func (p *Pool) locked(s *server, next Caller) Caller {
	return func(ctx context.Context, c *Call) (Reply, error) {
		if tool := c.Tool(); tool != "" {
			if err := p.notLocked(s, tool); err != nil {
				return Reply{}, err
			}
		}
		return next(ctx, c)
	}
}

// Next returns a pool of the entries, for a reload. It takes over the servers of p
// whose entries say the same as before, with their sessions, caches, circuit
// breakers and statistics. The others get the options o and are not started yet.
// Both pools can be used. A server ends when every pool that has it is closed.
func (p *Pool) Next(entries []*config.Upstream, o Options) *Pool {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.ClientName == "" {
		o.ClientName = "mcpgraph"
	}
	if o.ClientVersion == "" {
		o.ClientVersion = "dev"
	}
	if o.LockMode == "" {
		o.LockMode = lock.Default
	}
	next := &Pool{servers: make(map[string]*server, len(entries)), callers: make(map[string]Caller, len(entries)), lockMode: o.LockMode}
	if o.LockMode != lock.Off {
		next.lock = o.Lock
	}
	redactors := make([]*redact.Redactor, 0, len(entries))
	for _, entry := range entries {
		s := p.servers[entry.Name]
		if s == nil || !sameEntry(s.original, entry) || !s.retain(next) {
			s = newServer(entry, o)
			s.retain(next)
		}
		s.lock.Store(newToolLock(entry.Name, o, s.lock.Load(), s.log))
		next.servers[entry.Name] = s
		next.callers[entry.Name] = s.layer(next)(s.provider.Call)
		next.names = append(next.names, entry.Name)
		redactors = append(redactors, s.redact)
		next.personal = next.personal || s.credentials.IsPersonal()
	}
	next.redact = redact.New(o.Secrets, redactors...)
	return next
}

// Has reports whether the pool has the very server that other has under this
// name.
func (p *Pool) Has(name string, other *Pool) bool {
	s := p.servers[name]
	return s != nil && s == other.servers[name]
}

// Openings returns the latest openings of sessions that succeeded, at most 32 of each
// server, in the order of the servers and then of time. It asks and starts none.
func (p *Pool) Openings() []Opening {
	var all []Opening
	for _, name := range p.names {
		if s := p.servers[name]; s.isNewestPool(p) {
			s.mu.Lock()
			all = append(all, s.openings...)
			s.mu.Unlock()
		}
	}
	return all
}

// notLocked returns the error of a call of a tool that is not in the lock file,
// or nil.
func (p *Pool) notLocked(s *server, tool string) error {
	if p.lock == nil || p.lock.Tool(s.entry.Name, tool) != nil {
		return nil
	}
	if p.lockMode == lock.Warn {
		if _, logged := p.unlocked.LoadOrStore(s.entry.Name+"\n"+tool, true); !logged {
			s.log.Warn("an upstream tool is not in the lock file", "tool", tool)
		}
		return nil
	}
	return s.newError("call", tool, KindNotLocked.Error(), "", KindNotLocked)
}

// CheckCall returns why [Pool.CallTool] would send nothing for a call: the server or the
// tool is none that may be called, or the arguments do not fit the tool. It asks no server.
// If info is nil, only the schema of the lock file counts, so every process that has the
// same file says the same.
func (p *Pool) CheckCall(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) error {
	s, err := p.server("call", server, tool)
	if err == nil {
		err = p.notLocked(s, tool)
	}
	if err != nil {
		return err
	}
	var in Input
	if info != nil {
		in = p.Input(info, server, tool)
	} else if s.lockedInput != nil {
		in = s.lockedInput(server, tool)
	}
	if in == nil {
		return nil
	}
	return s.checkArguments(withInfo(ctx, info), in, tool, args)
}

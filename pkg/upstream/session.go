package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// session is the second phase of a connection: an MCP session over a link. It
// serves any number of calls at once.
type session struct {
	server *server
	link   link
	peer   peer
	hints  *hints // takes what lists of tools say

	mu      sync.Mutex
	calls   map[string]*flight // requests under way, by id
	retired bool               // it ends with the last of them

	directory atomic.Pointer[directory] // nil: not read, or changed

	hearing
	life context.Context // ends with the session
	kill context.CancelCauseFunc
}

// flight is a request under way.
type flight struct {
	hearer
	alive func() // takes a sign of life
}

// newSession returns a session over the link before its handshake. What it
// asks of its own accord carries what g grants, and what its lists of tools say
// goes to h.
func newSession(s *server, l link, g *grant, h *hints) *session {
	out := &session{
		server: s, link: l, hints: h, calls: map[string]*flight{}, hearing: newHearing(),
	}
	out.life, out.kill = context.WithCancelCause(withGrant(s.life, g))
	l.attach(&inbound{notified: out.notified, asked: out.asked})
	go out.logMessages()
	return out
}

// end ends the session and what carries it.
func (s *session) end(ctx context.Context) {
	s.kill(errClosed)
	s.link.end(ctx)
}

// retire ends the session as soon as no request is under way on it.
func (s *session) retire() {
	s.kill(errForgotten)
	s.mu.Lock()
	s.retired = true
	idle := len(s.calls) == 0
	s.mu.Unlock()
	if idle {
		go s.link.end(canceled)
	}
}

// asked answers what the server asks of us.
func (s *session) asked(method string, params json.RawMessage) (json.RawMessage, *RPCError) {
	reply, err := s.server.respond(s.life, method, params)
	switch {
	case errors.Is(err, errUnanswered):
		return nil, &RPCError{Code: mcp.METHOD_NOT_FOUND, Message: err.Error()}
	case err != nil:
		return nil, &RPCError{Code: mcp.INTERNAL_ERROR, Message: err.Error()}
	}
	return reply.Append(nil), nil
}

// errSilent is the cause of a context that ended because a server gave no sign
// of life.
var errSilent = errors.New("no answer and no progress")

// request sends m, whose params are the members that it has beside _meta, and
// returns the result. Without a sign of life for silence it fails with
// errSilent; silence of 0 waits without end.
func (s *session) request(ctx context.Context, m *outgoing, silence time.Duration) (value.Value, error) {
	m.id = strconv.FormatUint(s.server.issued.Add(1), 10)
	m.revision = s.peer.revision
	f := &flight{hearer: hearer{listenerOf(ctx), m.tool}, alive: func() {}}
	m.params = s.params(ctx, m, f.Listener)
	if m.tool != "" {
		s.tellSent(ctx, m)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if silence > 0 {
		timer := time.AfterFunc(silence, func() { cancel(errSilent) })
		defer timer.Stop()
		f.alive = func() { timer.Reset(silence) }
	}
	s.mu.Lock()
	s.calls[m.id] = f
	s.mu.Unlock()
	result, err := s.link.request(ctx, m)
	s.mu.Lock()
	delete(s.calls, m.id)
	s.left(f)
	last := s.retired && len(s.calls) == 0
	s.mu.Unlock()
	if last {
		go s.link.end(canceled)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		if errors.Is(err, errNotWritten) {
			return value.Value{}, both(errNotWritten, context.Cause(ctx))
		}
		if m.method != string(mcp.MethodInitialize) { // which must not be cancelled
			s.cancelled(ctx, m.id, context.Cause(ctx))
		}
		return value.Value{}, context.Cause(ctx)
	}
	held := memory.AccountOf(ctx)
	if err == nil {
		err = held.Grow(int64(len(result)))
	}
	if short := (*memory.Error)(nil); errors.As(err, &short) {
		held.Refuse(short) // also where it did not fit into what its server may send
	}
	if err != nil {
		return value.Value{}, err
	}
	reply, err := value.ParseLazyBytes(result)
	if err != nil {
		return value.Value{}, fmt.Errorf("%w: in the result, %w", errBroken, err)
	}
	if reply.Kind() != value.Object {
		return value.Value{}, fmt.Errorf("%w: a result that is not an object: %s", errBroken, quote(result))
	}
	if held != nil {
		reply = reply.Metered(held)
	}
	return reply, nil
}

// params returns the params of m with _meta: the progress token of a call and
// what else it carries (WithMeta), and what the revision of 2026-07-28 says with
// each request.
func (s *session) params(ctx context.Context, m *outgoing, l *Listener) json.RawMessage {
	meta := s.peer.meta
	out := make([]byte, 0, len(m.params)+len(meta)+64)
	out = append(append(out, '{'), m.params...)
	call := m.method == string(mcp.MethodToolsCall)
	if call || meta != "" {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `"_meta":{`...)
		if call {
			out = append(append(append(out, `"progressToken":"`...), m.id...), '"')
			out = appendMeta(out, ctx)
			if meta != "" {
				out = append(out, ',')
			}
		}
		out = append(out, meta...)
		if meta != "" && l != nil && slices.Contains(logLevels, l.LogLevel) {
			out = append(out, `,"`+mcp.MetaKeyLogLevel+`":"`+l.LogLevel+`"`...)
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// tellTime bounds how long we try to tell a server something that it need not
// know.
const tellTime = 10 * time.Second

// cancelled tells the server that nobody waits for the request any more, in
// the background: over HTTP that takes a request of its own.
func (s *session) cancelled(ctx context.Context, id string, why error) {
	reason := s.server.redact.text(why.Error())
	params := append([]byte(`{"requestId":`+id+`,"reason":`), value.AppendString(nil, reason)...)
	m := &outgoing{
		method: string(mcp.MethodNotificationCancelled), params: append(params, '}'), revision: s.peer.revision,
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	stop := context.AfterFunc(s.life, cancel)
	go func() {
		defer cancel()
		defer stop()
		_ = s.link.notify(ctx, m) // where it fails there is nothing to cancel
	}()
}

// callTool calls a tool. Arguments that are not an object become an empty one.
// Each request is made by pass, which calls what it is given.
func (s *session) callTool(ctx context.Context, tool string, args value.Value, pass func(func() (value.Value, error)) (value.Value, error)) (value.Value, error) {
	// The arguments are rendered, put into a message and queued.
	sent := 3 * int64(args.TextSize())
	held := memory.AccountOf(ctx)
	if err := held.Grow(sent); err != nil {
		return value.Value{}, err
	}
	defer held.Shrink(sent)
	members := append(make([]byte, 0, 256), `"name":`...)
	members = value.AppendString(members, s.server.entry.NamePrefix+tool)
	members = append(members, `,"arguments":`...)
	if args.Kind() == value.Object {
		members = args.Append(members)
	} else {
		members = append(members, "{}"...)
	}
	var mirrored []string
	if s.peer.mirrors {
		var err error
		if mirrored, err = s.mirrored(ctx, s.server.entry.NamePrefix+tool, members); err != nil {
			return value.Value{}, both(errNotWritten, err)
		}
	}
	if err := s.setLevel(ctx); err != nil {
		return value.Value{}, both(errNotWritten, err)
	}
	once := func(extra []byte) (value.Value, error) {
		return pass(func() (value.Value, error) {
			return s.request(ctx, &outgoing{
				method: string(mcp.MethodToolsCall), tool: tool, name: s.server.entry.NamePrefix + tool, mirrored: mirrored,
				params: append(members[:len(members):len(members)], extra...),
			}, s.server.entry.Timeout)
		})
	}
	reply, err := once(nil)
	if err != nil || !s.peer.modern() || !asksForInput(reply) {
		return reply, err
	}
	return s.withInput(ctx, reply, once)
}

// maxPages bounds how many pages of a list are read.
const maxPages = 1000

// tools lists the server's tools as it describes them, all pages.
func (s *session) tools(ctx context.Context) ([]value.Value, error) {
	var tools []value.Value
	var members []byte
	version := s.hints.version()
	for range maxPages {
		page, err := s.request(ctx, &outgoing{method: string(mcp.MethodToolsList), params: members}, s.server.entry.Timeout)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Get("tools").Elems()...)
		cursor := page.Get("nextCursor")
		if cursor.Kind() != value.String {
			s.hints.keep(tools, version)
			return s.usable(tools), nil
		}
		members = cursor.Append([]byte(`"cursor":`))
	}
	return nil, fmt.Errorf("its list of tools does not end: %d pages were read", maxPages)
}

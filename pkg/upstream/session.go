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
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// session is the second phase of a connection: an MCP session over a link. It
// serves any number of calls at once.
type session struct {
	server *mcpServer
	link   wire.Link
	peer   peer
	slot   *sessionSlot
	used   atomic.Bool // it has answered a request of a caller
	hints  *toolHints  // of the slot; takes what lists of tools say

	mu      sync.Mutex
	pending map[string]*pendingRequest // requests under way, by id
	retired bool                       // it ends with the last of them
	// taskTools are the tools that the server refuses to clients that do not declare the
	// tasks extension.
	taskTools map[string]bool

	toolHeaders atomic.Pointer[toolHeaders]  // nil: not read, or changed
	checked     atomic.Pointer[checkedTools] // nil: not compared with a lock

	accepted sessionSubscriptions
	notifications
	life   context.Context // ends with the session
	cancel context.CancelCauseFunc
}

// pendingRequest is a request under way.
type pendingRequest struct {
	subscriber
	touch        func()            // takes a sign of life
	acknowledged func(value.Value) // takes the notifications that subscriptions/listen will send; may be nil
}

// newSession returns a session over the link before its handshake. What it
// asks by itself carries the credentials of call.
func newSession(slot *sessionSlot, l wire.Link, call *credential.Call) *session {
	out := &session{
		server: slot.server, link: l, slot: slot, hints: &slot.hints, pending: map[string]*pendingRequest{}, notifications: newNotifications(),
	}
	out.life, out.cancel = context.WithCancelCause(withCall(slot.server.life, call))
	l.Attach(&wire.Handler{
		Notified: out.handleNotification, Asked: out.handleRequest, Resumed: out.streamResumed, Lost: out.streamLost,
		Budget: slot.server.budget,
	})
	go out.logMessages()
	return out
}

// errEnded is the cause of the end of a session that we ended.
var errEnded = errors.New("the session was ended")

// close ends the session and its link.
func (s *session) close(ctx context.Context) {
	s.cancel(errEnded)
	s.link.Close(ctx)
}

// retire ends the session as soon as no request is under way on it.
func (s *session) retire() {
	s.cancel(errForgotten)
	s.mu.Lock()
	s.retired = true
	idle := len(s.pending) == 0
	s.mu.Unlock()
	if idle {
		go s.link.Close(canceledContext)
	}
}

// handleRequest answers what the server asks of us. What that takes counts on held.
func (s *session) handleRequest(held *memory.Account, method string, params json.RawMessage) (json.RawMessage, *RPCError) {
	ctx, cancel := memory.WithAccount(s.life, held)
	defer cancel()
	reply, err := s.server.answer(ctx, method, params)
	if short := held.Err(); short != nil {
		err = short // the answer may lack what could not be decoded
	}
	switch {
	case errors.Is(err, errUnanswered):
		return nil, &RPCError{Code: mcp.METHOD_NOT_FOUND, Message: err.Error()}
	case err != nil:
		return nil, &RPCError{Code: mcp.INTERNAL_ERROR, Message: err.Error()}
	}
	return reply.Append(nil), nil
}

// request sends m, whose params are the members that it has beside _meta, and
// returns the result. Without a sign of life for silence it fails with
// KindTimeout; silence of 0 waits without end.
func (s *session) request(ctx context.Context, m *wire.Message, silence time.Duration) (value.Value, error) {
	return s.send(ctx, s.pendingFor(ctx, "", m), m, silence)
}

// pendingFor returns the request m of a call of a tool, which may be empty.
func (s *session) pendingFor(ctx context.Context, tool string, m *wire.Message) *pendingRequest {
	return &pendingRequest{subscriber: subscriber{infoOf(ctx).Listener, tool, isForCaller(m.Method)}, touch: func() {}}
}

// send sends m as the request f, as request does.
func (s *session) send(ctx context.Context, f *pendingRequest, m *wire.Message, silence time.Duration) (value.Value, error) {
	m.ID = strconv.FormatUint(s.server.issued.Add(1), 10)
	m.Revision = s.peer.revision
	m.Params = s.params(ctx, m, f.Listener)
	if f.forCaller {
		s.tellSent(ctx, m)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if silence > 0 {
		timer := time.AfterFunc(silence, func() { cancel(KindTimeout) })
		defer timer.Stop()
		f.touch = func() { timer.Reset(silence) }
	}
	s.mu.Lock()
	s.pending[m.ID] = f
	s.mu.Unlock()
	result, err := s.link.Request(ctx, m)
	s.mu.Lock()
	delete(s.pending, m.ID)
	s.requestEnded(f)
	last := s.retired && len(s.pending) == 0
	s.mu.Unlock()
	if last {
		go s.link.Close(canceledContext)
	}
	if f.forCaller && err == nil {
		s.used.Store(true)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		if errors.Is(err, wire.ErrNotWritten) {
			return value.Value{}, wire.NotWritten(context.Cause(ctx))
		}
		if m.Method != string(mcp.MethodInitialize) { // which must not be cancelled
			s.cancelled(ctx, m.ID, context.Cause(ctx))
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
		return value.Value{}, fmt.Errorf("%w: in the result, %w", wire.ErrMalformed, err)
	}
	if reply.Kind() != value.Object {
		return value.Value{}, fmt.Errorf("%w: a result that is not an object: %s", wire.ErrMalformed, redact.Quote(result))
	}
	if held != nil {
		reply = reply.Metered(held)
	}
	return reply, nil
}

// isForCaller reports whether a request of this method is made for a caller: its _meta has
// a progress token and what the caller's call carries.
func isForCaller(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead, mcp.MethodCompletionComplete,
		mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList:
		return true
	}
	return false
}

// params returns the params of m with _meta: the progress token of a call and
// what else it carries (callinfo.Info.Trace), and what the revision of 2026-07-28
// says with each request.
func (s *session) params(ctx context.Context, m *wire.Message, l *callinfo.Listener) json.RawMessage {
	meta := s.peer.meta
	if meta != "" && s.declaresTasks(m) {
		meta = s.server.modernTaskMeta
	}
	out := make([]byte, 0, len(m.Params)+len(meta)+64)
	out = append(append(out, '{'), m.Params...)
	call := isForCaller(m.Method)
	if call || meta != "" {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `"_meta":{`...)
		if call {
			out = append(append(append(out, `"progressToken":"`...), m.ID...), '"')
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

// cancelTime bounds how long we try to tell a server something that it need not
// know.
const cancelTime = 10 * time.Second

// cancelled tells the server that nobody waits for the request any more, in
// the background: over HTTP that takes a request of its own.
func (s *session) cancelled(ctx context.Context, id string, why error) {
	reason := s.server.redact.Text(why.Error())
	params := append([]byte(`{"requestId":`+id+`,"reason":`), value.AppendString(nil, reason)...)
	m := &wire.Message{
		Method: string(mcp.MethodNotificationCancelled), Params: append(params, '}'), Revision: s.peer.revision,
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	stop := context.AfterFunc(s.life, cancel)
	go func() {
		defer cancel()
		defer stop()
		_ = s.link.Notify(ctx, m) // where it fails there is nothing to cancel
	}()
}

// tools lists the server's tools as it describes them, all pages.
func (s *session) tools(ctx context.Context) ([]value.Value, error) {
	version := s.hints.version()
	tools, err := s.pages(ctx, listOfTools, nil)
	if err != nil {
		return nil, err
	}
	s.hints.store(tools, version, s.server.inputOf)
	s.compareTools(tools, version)
	return s.redactListed(s.usableTools(tools)), nil
}

// canceledContext is a context for closing something at once.
var canceledContext = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// isClosed reports whether the channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

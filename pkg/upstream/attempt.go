package upstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// try is one try of a call on a session.
type try struct {
	*Call
	*session
	task    *taskCall // of the call of a tool
	odd     int       // things that are not JSON-RPC which the server had written before
	sent    int       // requests that went out
	release func()    // of the request under way; nil: none is
}

// Call makes one try of a call. Errors are *[Error].
func (s *mcpServer) Call(ctx context.Context, c *Call) (Reply, error) {
	t, err := s.begin(ctx, c)
	if err != nil {
		return Reply{}, err
	}
	defer s.releaseSlot(t.slot)
	reply, err := requests[c.Method](t, withCall(ctx, c.As))
	return Reply{Value: reply, Sent: t.sent}, t.explained(ctx, err)
}

// attempt is Call for requests that run makes.
func (s *mcpServer) attempt(ctx context.Context, c *Call, run func(context.Context, *try) error) (Reply, error) {
	t, err := s.begin(ctx, c)
	if err != nil {
		return Reply{}, err
	}
	defer s.releaseSlot(t.slot)
	err = run(withCall(ctx, c.As), t)
	return Reply{Sent: t.sent}, t.explained(ctx, err)
}

// begin begins a try on the session of the identity of a call. The slot has to be released.
func (s *mcpServer) begin(ctx context.Context, c *Call) (*try, error) {
	slot, err := s.acquireSlot(c)
	if err != nil {
		return nil, err
	}
	session, err := slot.session(withCall(ctx, c.As), c)
	if err != nil {
		s.releaseSlot(slot)
		return nil, s.explained(ctx, c, nil, 0, err)
	}
	t := &try{Call: c, session: session}
	seen := session.link.PeerLog()
	seen.Redact.Learn(c.As.Secrets...) // which may be others than those it was opened with
	seen.Redact.LearnArguments(c.Info.SecretArguments...)
	t.odd, _ = seen.Unexpected()
	s.prefetchHints(&slot.hints, session, c.As)
	return t, nil
}

// explained returns the error of a try with what may help, or nil.
func (t *try) explained(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return t.server.explained(ctx, t.Call, t.session, t.odd, err)
}

// explained returns the error of a try, with what may help. A session that the server has
// forgotten is dropped.
func (s *mcpServer) explained(ctx context.Context, c *Call, session *session, odd int, err error) error {
	var e Error
	if known := (*Error)(nil); errors.As(err, &known) {
		e, err = *known, causeOf(err)
	} else {
		e = *s.requestError(ctx, opOf(c), c.Tool(), session, odd, err)
	}
	switch {
	case session != nil && errors.Is(err, wire.ErrNotWritten) && isClosed(session.link.Done()):
		e.Recovery = RecoverWrite
	case session != nil && session.forgotten(err):
		session.slot.forget(session)
		e.Recovery, e.Unread = RecoverOpen, session.refusedSession(err)
	case isRefusal(err):
		e.Recovery, e.Unread = RecoverRenew, refusedCredential(err)
	}
	e.raw = err
	return &e
}

// admit waits until a request may go out, and ended is called after it.
func (t *try) admit(ctx context.Context) (err error) {
	t.release, err = t.Admit(ctx)
	return err
}

func (t *try) ended() {
	if t.release != nil {
		t.release()
		t.release = nil
	}
}

// count counts a request that went out.
func (t *try) count(err error) {
	if !errors.Is(err, wire.ErrNotWritten) {
		t.sent++
	}
}

// requests make the requests of calls, by method.
var requests = map[string]func(*try, context.Context) (value.Value, error){
	policy.MethodCall:                        (*try).callTool,
	string(mcp.MethodPromptsGet):             (*try).read,
	string(mcp.MethodResourcesRead):          (*try).read,
	string(mcp.MethodCompletionComplete):     (*try).read,
	string(mcp.MethodPromptsList):            (*try).list,
	string(mcp.MethodResourcesList):          (*try).list,
	string(mcp.MethodResourcesTemplatesList): (*try).list,
}

// callTool calls the tool. Arguments that are not an object become an empty one.
func (t *try) callTool(ctx context.Context) (value.Value, error) {
	s, tool := t.session, t.Name
	if err := s.checkLock(ctx, t.As, tool); err != nil {
		return value.Undef, err
	}
	if err := s.checkArguments(ctx, tool, t.Args); err != nil {
		return value.Undef, err
	}
	if t.State == nil {
		t.State = &taskCall{tool: tool}
	}
	t.task = t.State.(*taskCall)
	var reply value.Value
	var err error
	if t.task.begun == nil {
		// The arguments are rendered, put into a message and queued.
		sent, held := 3*int64(t.Args.TextSize()), memory.AccountOf(ctx)
		if err := held.Grow(sent); err != nil {
			return value.Undef, err
		}
		defer held.Shrink(sent)
		m, err := t.toolMessage(ctx)
		if err != nil {
			return value.Undef, err
		}
		reply, err = t.exchange(ctx, m)
		return t.toolResult(reply, err)
	} else if err = t.admit(ctx); err == nil {
		reply, err = t.task.finish(ctx, t)
		t.ended()
		t.count(err)
	}
	return t.toolResult(reply, err)
}

// toolResult checks the result of a call.
func (t *try) toolResult(reply value.Value, err error) (value.Value, error) {
	if err == nil {
		reply = unwrapped(reply)
		err = checkResult(reply)
	}
	if err == nil && t.As.Token != "" {
		err = refusedReply(reply)
	}
	return reply, err
}

// toolMessage returns the request that calls the tool.
func (t *try) toolMessage(ctx context.Context) (*wire.Message, error) {
	members := append(make([]byte, 0, 256), `"name":`...)
	m := &wire.Message{Method: t.Method, Name: t.server.entry.NamePrefix + t.Name}
	members = value.AppendString(members, m.Name)
	members = append(members, `,"arguments":`...)
	m.Params = appendObject(members, t.Args)
	if t.peer.mirrors {
		var err error
		if m.Headers, err = t.mirroredHeaders(ctx, m.Name, m.Params); err != nil {
			return nil, wire.NotWritten(err)
		}
	}
	return m, nil
}

// appendObject appends v, or an empty object if it is none.
func appendObject(dst []byte, v value.Value) []byte {
	if v.Kind() == value.Object {
		return v.Append(dst)
	}
	return append(dst, "{}"...)
}

// exchange makes the request m of the call, and answers what the server asks for to go on
// with it.
func (t *try) exchange(ctx context.Context, m *wire.Message) (value.Value, error) {
	m.Headers = traceHeaders(m.Headers, ctx)
	if err := t.setLevel(ctx); err != nil {
		return value.Undef, wire.NotWritten(err)
	}
	var extra []byte
	for round := 0; ; round++ {
		if err := t.admit(ctx); err != nil {
			return value.Undef, err
		}
		one := &wire.Message{Method: m.Method, Name: m.Name, Headers: m.Headers, Params: append(m.Params[:len(m.Params):len(m.Params)], extra...)}
		var reply value.Value
		var err error
		if t.task != nil {
			reply, err = t.task.request(ctx, t, one)
		} else {
			reply, err = t.request(ctx, one, t.server.entry.Timeout)
		}
		t.ended()
		t.count(err)
		switch {
		case err != nil || !t.peer.modern() || !asksForInput(reply):
			return reply, err
		case round == maxInputRounds:
			return value.Undef, fmt.Errorf("it asked for more input after %d rounds", maxInputRounds)
		}
		if extra, err = t.input(ctx, reply); err != nil {
			return value.Undef, err
		}
	}
}

// reading is a request that changes nothing.
type reading struct {
	needs string      // the capability
	list  []string    // where the result has to have a list
	none  value.Value // the result of a server without the capability; undefined: that is an error
}

var readings = map[string]reading{
	string(mcp.MethodPromptsGet):         {needs: hasPrompts, list: []string{"messages"}},
	string(mcp.MethodResourcesRead):      {needs: hasResources, list: []string{"contents"}},
	string(mcp.MethodCompletionComplete): {needs: hasCompletions, list: []string{"completion", "values"}, none: noCompletions},
}

// noCompletions is the result of completion/complete if there is nothing to complete.
var noCompletions = value.ObjectOf("completion", value.ObjectOf("values", value.FromArray(nil), "total", value.FromInt(0), "hasMore", value.False))

// read makes a request that changes nothing.
func (t *try) read(ctx context.Context) (value.Value, error) {
	r := readings[t.Method]
	if !t.peer.has(r.needs) {
		if !r.none.IsUndefined() {
			return r.none, nil
		}
		return value.Undef, t.server.lacksError(opOf(t.Call), r.needs)
	}
	members := t.members()
	held := memory.AccountOf(ctx)
	sent := 2 * int64(len(members)) // put into a message and queued
	if err := held.Grow(sent); err != nil {
		return value.Undef, err
	}
	defer held.Shrink(sent)
	reply, err := t.exchange(ctx, &wire.Message{Method: t.Method, Name: t.Name, Params: members})
	switch {
	case err != nil && !r.none.IsUndefined() && isUnknownMethod(err):
		return r.none, nil
	case err != nil:
		return value.Undef, err
	}
	inner := reply
	for _, member := range r.list {
		inner = inner.Get(member)
	}
	if inner.Kind() != value.Array {
		return value.Undef, resultError(fmt.Sprintf("a result without the list %q", strings.Join(r.list, ".")))
	}
	return reply, nil
}

// members returns the members of the params of a read.
func (t *try) members() (out []byte) {
	switch mcp.MCPMethod(t.Method) {
	case mcp.MethodPromptsGet:
		out = append(value.AppendString([]byte(`"name":`), t.Name), `,"arguments":`...)
		return appendObject(out, t.Args)
	case mcp.MethodResourcesRead:
		return value.AppendString([]byte(`"uri":`), t.Name)
	}
	for _, m := range t.Args.Entries() {
		if m.Key == "_meta" || m.Value.IsUndefined() {
			continue
		}
		if out != nil {
			out = append(out, ',')
		}
		out = m.Value.Append(append(value.AppendString(out, m.Key), ':'))
	}
	return out
}

// list lists all pages.
func (t *try) list(ctx context.Context) (value.Value, error) {
	all, err := t.offered(ctx, listings[t.Method], t)
	return value.FromArray(all), err
}

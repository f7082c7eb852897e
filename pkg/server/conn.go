package server

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// errCancelled is the cause with which a call ends that its client cancelled.
var errCancelled = errors.New("the client cancelled the call")

// conn is one client on a pair of pipes.
type conn struct {
	*Server
	session *session
	out     *outbox
	ctx     context.Context // ends when the server is told to stop

	calls    sync.WaitGroup
	mu       sync.Mutex
	stopped  bool
	inflight map[string]context.CancelCauseFunc // by the id's JSON text
}

func newConn(ctx context.Context, s *Server, out *outbox) *conn {
	c := &conn{Server: s, session: newSession(), out: out, inflight: map[string]context.CancelCauseFunc{}}
	c.ctx = s.mcp.WithContext(ctx, c.session)
	return c
}

// stop ends the taking of requests: after it, no call is added.
func (c *conn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}

// An answer takes the encoded answer to one message, nil where it has none. It
// is called once for each message.
type answer func(encoded []byte)

// tooLong answers a line that was skipped for its length.
func (c *conn) tooLong() {
	c.out.add(appendError(nil, nullID, rpcErrorf(mcp.INVALID_REQUEST,
		"invalid request: a message is longer than %d bytes", c.maxLine)))
}

// receive takes one line. It waits for nothing but initialize and
// logging/setLevel, which the requests after them build on.
func (c *conn) receive(line []byte) {
	v, err := value.ParseLazy(string(line))
	switch {
	case err != nil:
		c.out.add(appendError(nil, nullID, rpcErrorf(mcp.PARSE_ERROR, "parse error: %v", err)))
	case v.Kind() == value.Array:
		c.receiveBatch(v)
	default:
		c.take(v, c.out.add)
	}
}

// receiveBatch takes a batch, which revision 2025-03-26 alone knows, and
// answers it as one message.
func (c *conn) receiveBatch(v value.Value) {
	switch {
	case c.session.ProtocolVersion() != mcp.ProtocolVersion20250326:
		c.out.add(appendError(nil, nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: this protocol revision has no batches")))
	case v.Len() == 0:
		c.out.add(appendError(nil, nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: empty batch")))
	default:
		b := &batch{left: v.Len(), send: c.out.add}
		for _, e := range v.Elems() {
			c.take(e, b.answer)
		}
	}
}

// batch collects the answers to a batch.
type batch struct {
	mu   sync.Mutex
	left int
	text []byte
	send func([]byte)
}

func (b *batch) answer(encoded []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if encoded != nil {
		b.text = append(append(b.text, ','), encoded...)
	}
	if b.left--; b.left == 0 && len(b.text) > 0 {
		b.text[0] = '['
		b.send(append(b.text, ']'))
	}
}

// take handles one message.
func (c *conn) take(v value.Value, reply answer) {
	m, ok, rpcErr := newMessage(v)
	switch {
	case rpcErr != nil:
		reply(appendError(nil, m.id, rpcErr))
	case !ok:
		reply(nil)
	case m.id == "":
		// Of the notifications that clients send, only this one asks for
		// anything here.
		if m.method == string(mcp.MethodNotificationCancelled) {
			c.cancel(m.params.Get("requestId").JSON())
		}
		reply(nil)
	default:
		c.request(m, reply)
	}
}

// cancel ends the call with this id, if it is under way.
func (c *conn) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.inflight[id]; cancel != nil {
		cancel(errCancelled)
	}
}

func (c *conn) request(m message, reply answer) {
	text, base := "", c.ctx
	r := &Request{Method: m.method, ID: m.id, Meta: m.params.Get("_meta"), Transport: Pipe}
	r.Protocol = protocol(r.Meta, c.session.ProtocolVersion())
	if m.method == string(mcp.MethodToolsCall) {
		p, rpcErr := m.call()
		if _, known := slices.BinarySearch(c.names, p.name); rpcErr == nil && !known {
			err := &UnknownToolError{Name: p.name, Tools: c.names}
			rpcErr = rpcErrorf(mcp.INVALID_PARAMS, "%v", err)
		}
		r.Tool, r.Args = p.name, p.args
		if rpcErr != nil {
			c.refuse(c.ctx, r, rpcErr)
			reply(appendError(nil, m.id, rpcErr))
			return
		}
		base = withReporter(base, r.Meta, c.notify)
		text = p.slim.JSON()
	} else {
		text = m.whole.JSON()
	}
	ctx, cancel := context.WithCancelCause(base)

	c.mu.Lock()
	_, used := c.inflight[m.id]
	stopped := c.stopped
	if !used && !stopped {
		c.inflight[m.id] = cancel
		c.calls.Add(1)
	}
	c.mu.Unlock()
	switch {
	case stopped:
		cancel(nil)
		reply(nil)
		return
	case used:
		cancel(nil)
		reply(appendError(nil, m.id, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: a request with id %s is still under way", m.id)))
		return
	}

	run := func() {
		defer c.calls.Done()
		response := c.answer(ctx, r, text)
		c.mu.Lock()
		delete(c.inflight, m.id)
		cancelled := context.Cause(ctx) == errCancelled
		c.mu.Unlock()
		cancel(nil)
		if cancelled {
			reply(nil)
			return
		}
		c.forward()
		reply(c.appendResponse(nil, m.id, response))
	}
	if m.method == string(mcp.MethodInitialize) || m.method == string(mcp.MethodSetLogLevel) {
		run()
		return
	}
	go run()
}

// notify sends a notification.
func (c *conn) notify(method string, params value.Value) {
	c.out.add(appendNotification(nil, method, params))
}

// forward sends what the library told the session while it handled a request,
// so that it arrives before the request's answer.
func (c *conn) forward() {
	for {
		select {
		case n := <-c.session.notifications:
			encoded, err := appendJSON(nil, n)
			if err != nil {
				c.log.Error("a notification cannot be encoded", "method", n.Method, "error", err)
				continue
			}
			c.out.add(encoded)
		default:
			return
		}
	}
}

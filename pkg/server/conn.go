package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

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
	listens atomic.Bool     // the client takes what it did not ask for

	calls inflight
	crew  *crew           // of the calls
	quiet context.Context // ends with subscriptions
	hush  func()          // ends them
}

func newConn(ctx context.Context, s *Server, out *outbox) *conn {
	c := &conn{Server: s, session: newSession("stdio"), out: out, crew: newCrew()}
	c.ctx = s.current.Load().mcp.WithContext(ctx, c.session)
	c.quiet, c.hush = context.WithCancel(ctx)
	return c
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

// maxBatch is how many messages a batch has at most. All of them are under way
// at once, and a message can be very short.
const maxBatch = 1000

// receiveBatch takes a batch, which revision 2025-03-26 alone knows, and
// answers it as one message.
func (c *conn) receiveBatch(v value.Value) {
	switch {
	case c.session.ProtocolVersion() != mcp.ProtocolVersion20250326:
		c.out.add(appendError(nil, nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: this protocol revision has no batches")))
	case v.Len() == 0:
		c.out.add(appendError(nil, nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: empty batch")))
	case v.Len() > maxBatch:
		c.out.add(appendError(nil, nullID, tooMany(v)))
	default:
		b := &batch{left: v.Len(), send: c.out.add}
		for _, e := range v.Elems() {
			c.take(e, b.answer)
		}
	}
}

func tooMany(batch value.Value) *rpcError {
	return rpcErrorf(mcp.INVALID_REQUEST, "invalid request: a batch of %d messages; expected at most %d", batch.Len(), maxBatch)
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
		c.notified(m)
		reply(nil)
	default:
		c.request(m, reply)
	}
}

// notified takes a notification. Of those that clients send, only two ask for
// anything here.
func (c *conn) notified(m message) {
	switch m.method {
	case string(mcp.MethodNotificationCancelled):
		c.calls.cancel(m.params.Get("requestId").JSON())
	case string(mcp.MethodNotificationInitialized):
		// From here on a client of a revision with sessions may be told things
		// (MCP 2025-11-25, Lifecycle, Initialization).
		c.listens.Store(c.session.Initialized())
	}
}

// wants reports whether the client may be told something unasked.
func (c *conn) wants(string) bool { return c.listens.Load() }

func (c *conn) request(m message, reply answer) {
	r := &Request{Transport: Pipe}
	p, release := c.hold(m.method)
	text, rpcErr := p.read(m, r, c.session)
	if rpcErr != nil {
		release()
		p.refuse(c.ctx, r, rpcErr)
		reply(appendError(nil, m.id, rpcErr))
		return
	}
	ctx, end, ok, rpcErr := c.calls.begin(c.ctx, m.id)
	switch {
	case !ok:
		release()
		reply(nil)
		return
	case rpcErr != nil:
		release()
		reply(appendError(nil, m.id, rpcErr))
		return
	}
	c.enqueue(r)
	run := func() {
		defer c.calls.running.Done()
		defer release()
		response := c.respond(ctx, p, r, text)
		if end() {
			reply(nil)
			return
		}
		c.session.drain(c.log, c.out.add)
		reply(p.appendResponse(nil, m.id, response))
	}
	if orders(m.method) {
		run()
		return
	}
	c.crew.do(run)
}

func (c *conn) respond(ctx context.Context, p *published, r *Request, text []byte) mcp.JSONRPCMessage {
	if !r.listens() {
		return p.answer(withReporter(ctx, r.Meta, c.notify, c.notify), r, text)
	}
	return c.subscribe(ctx, p, r, text, c.notify, func() {
		select {
		case <-ctx.Done():
		case <-c.quiet.Done():
		}
	})
}

// orders reports whether the requests that follow build on one of this method.
func orders(method string) bool {
	return method == string(mcp.MethodInitialize) || method == string(mcp.MethodSetLogLevel)
}

// notify sends a notification.
func (c *conn) notify(method string, params value.Value) {
	c.out.add(appendNotification(nil, method, params))
}

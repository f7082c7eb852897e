package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
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
	c.ctx = ctx
	c.quiet, c.hush = context.WithCancel(ctx)
	return c
}

// An answer takes the encoded answer to one message, nil where it has none. It
// is called once for each message.
type answer func(encoded []byte)

// tooLong answers a line that was skipped for its length.
func (c *conn) tooLong() {
	c.refused(nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: a message is longer than %d bytes", c.maxLine))
}

// receive takes one line. It waits for nothing but initialize and
// logging/setLevel, which the requests after them build on.
func (c *conn) receive(line []byte) {
	v, id, rpcErr := jsonrpc.Parse(string(line))
	switch {
	case rpcErr != nil:
		c.refused(id, &rpcError{Error: *rpcErr})
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
		c.refused(nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: this protocol revision has no batches"))
	case v.Len() == 0:
		c.refused(nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: empty batch"))
	case v.Len() > maxBatch:
		c.refused(nullID, tooMany(v))
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
	m, ok, rpcErr := jsonrpc.ReadRequest(v)
	switch {
	case rpcErr != nil:
		c.refuse(&rpcError{Error: *rpcErr})
		reply(jsonrpc.AppendError(nil, m.ID, rpcErr))
	case !ok:
		reply(nil)
	case m.ID == "":
		c.notified(m)
		reply(nil)
	default:
		c.request(m, reply)
	}
}

// refuse tells of a message that is no request.
func (c *conn) refuse(e *rpcError) {
	c.current.Load().refuse(c.ctx, &Request{Transport: Pipe, Client: c.session.Client()}, e)
}

// refused refuses a message, and tells of it.
func (c *conn) refused(id string, e *rpcError) {
	c.refuse(e)
	c.out.add(appendError(nil, id, e))
}

// notified takes a notification. Of those that clients send, only two ask for
// anything here.
func (c *conn) notified(m jsonrpc.Request) {
	switch m.Method {
	case string(mcp.MethodNotificationCancelled):
		c.calls.cancel(m.Params.Get("requestId").JSON())
	case string(mcp.MethodNotificationInitialized):
		// From here on a client of a revision with sessions may be told things
		// (MCP 2025-11-25, Lifecycle, Initialization).
		c.listens.Store(c.session.ProtocolVersion() != "")
	}
}

// wants reports whether the client may be told something unasked.
func (c *conn) wants(string) bool { return c.listens.Load() }

func (c *conn) request(m jsonrpc.Request, reply answer) {
	r := &Request{Transport: Pipe, session: c.session, from: c}
	j, rpcErr := c.accept(c.ctx, m, r, &c.calls)
	if rpcErr != nil {
		if rpcErr == errEnded {
			reply(nil)
		} else {
			reply(appendError(nil, m.ID, rpcErr))
		}
		return
	}
	run := func() {
		defer j.finish()
		text, rpcErr, cancelled := j.run()
		switch {
		case cancelled:
			text = nil
		case rpcErr != nil:
			text = appendError(nil, m.ID, rpcErr)
		}
		reply(text)
	}
	if j.with.ordered {
		run()
		return
	}
	c.crew.do(run)
}

// key names the one client of a process.
func (c *conn) key() string { return "" }

// verify permits everything: pipes have no headers.
func (c *conn) verify(*published, *Request) *rpcError { return nil }

func (c *conn) notify(method string, params value.Value) {
	c.out.add(jsonrpc.AppendNotification(nil, method, params))
}

func (c *conn) later(method string, params value.Value) { c.notify(method, params) }

// stand waits until a subscription is over.
func (c *conn) stand(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-c.quiet.Done():
	}
}

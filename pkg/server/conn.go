package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
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

// An answer takes the encoded answer to one message, nil where it has none, and
// calls done when it is sent. It is called once for each message.
type answer func(encoded []byte, done func())

// skipped answers a line that was not kept.
func (c *conn) skipped(why string) {
	c.refused(nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: %s", why))
}

// send is an answer that is sent alone.
func (c *conn) send(encoded []byte, done func()) { c.out.addCounted(done, encoded) }

// receive takes one line, and closes the account that it counts on when it is
// answered. It waits for nothing but initialize and logging/setLevel, which the
// requests after them build on.
func (c *conn) receive(line []byte, held *memory.Account) {
	v, id, rpcErr := parse(line, held)
	switch {
	case rpcErr != nil:
		c.refuse(rpcErr)
		c.send(appendError(nil, id, rpcErr), held.Close)
	case v.Kind() == value.Array:
		c.receiveBatch(v, held)
	default:
		c.take(v, held, func(encoded []byte, done func()) {
			c.send(encoded, func() {
				done()
				held.Close()
			})
		})
	}
}

// maxBatch is how many messages a batch has at most. All of them are under way
// at once, and a message can be very short.
const maxBatch = 1000

// receiveBatch takes a batch, which revision 2025-03-26 alone knows, and
// answers it as one message.
func (c *conn) receiveBatch(v value.Value, held *memory.Account) {
	refuse := func(e *rpcError) {
		c.refuse(e)
		c.send(appendError(nil, nullID, e), held.Close)
	}
	switch {
	case c.session.ProtocolVersion() != mcp.ProtocolVersion20250326:
		refuse(rpcErrorf(mcp.INVALID_REQUEST, "invalid request: this protocol revision has no batches"))
	case v.Len() > maxBatch:
		refuse(tooMany(v))
	case held.Err() != nil:
		refuse(busyError(held.Err()))
	case v.Len() == 0:
		refuse(rpcErrorf(mcp.INVALID_REQUEST, "invalid request: empty batch"))
	default:
		b := &batch{left: v.Len(), send: c.send, done: []func(){held.Close}}
		for _, e := range v.Elems() {
			of := c.memory.Account("")
			c.take(e.Metered(of), of, func(encoded []byte, done func()) {
				b.answer(encoded, func() {
					done()
					of.Close()
				})
			})
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
	done []func() // of the answers
	send answer
}

func (b *batch) answer(encoded []byte, done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = append(b.done, done)
	if encoded != nil {
		b.text = append(append(b.text, ','), encoded...)
	}
	if b.left--; b.left > 0 {
		return
	}
	if len(b.text) > 0 {
		b.text[0] = '['
		b.text = append(b.text, ']')
	}
	b.send(b.text, func() {
		for _, done := range b.done {
			done()
		}
	})
}

func nothing() {}

// take handles one message, which counts on the account.
func (c *conn) take(v value.Value, held *memory.Account, reply answer) {
	m, ok, rpcErr := jsonrpc.ReadRequest(v)
	switch err := held.Err(); {
	case err != nil:
		busy := busyError(err)
		c.refuse(busy)
		reply(appendError(nil, m.ID, busy), nothing)
	case rpcErr != nil:
		c.refuse(&rpcError{Error: *rpcErr})
		reply(jsonrpc.AppendError(nil, m.ID, rpcErr), nothing)
	case !ok:
		reply(nil, nothing)
	case m.ID == "":
		c.notified(m)
		reply(nil, nothing)
	default:
		c.request(m, held, reply)
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

func (c *conn) request(m jsonrpc.Request, held *memory.Account, reply answer) {
	ctx, cancel := memory.WithAccount(c.ctx, held)
	r := &Request{Transport: Pipe, session: c.session, from: c}
	j, rpcErr := c.accept(ctx, m, r, &c.calls)
	if rpcErr != nil {
		cancel()
		if rpcErr == errEnded {
			reply(nil, nothing)
		} else {
			reply(appendError(nil, m.ID, rpcErr), nothing)
		}
		return
	}
	run := func() {
		defer j.finish()
		defer cancel()
		text, rpcErr, cancelled := j.run()
		switch {
		case cancelled:
			text = nil
		case rpcErr != nil:
			text = appendError(nil, m.ID, rpcErr)
		}
		held.Reset(requestBytes + int64(cap(text))) // the rest is needed no more while the client reads
		reply(text, nothing)
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

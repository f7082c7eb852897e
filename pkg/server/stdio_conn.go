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

// errCancelled is the cancellation cause of a call that its client cancelled.
var errCancelled = errors.New("the client cancelled the call")

// stdioConn is the connection to the client over standard input and output.
type stdioConn struct {
	*Server
	session     *session
	out         *outbox
	ctx         context.Context // done when the server must stop
	initialized atomic.Bool     // the client accepts notifications

	calls         inflight
	workers       *workerPool     // run the requests
	notifyCtx     context.Context // done when subscriptions must end
	stopNotifying func()          // ends subscriptions
}

func newStdioConn(ctx context.Context, s *Server, out *outbox) *stdioConn {
	c := &stdioConn{Server: s, session: newSession("stdio"), out: out, workers: newWorkerPool()}
	c.ctx = ctx
	c.notifyCtx, c.stopNotifying = context.WithCancel(ctx)
	return c
}

// A replyFunc sends the encoded answer to one message, nil if it has none, and
// calls done once it is sent. It is called once per message.
type replyFunc func(encoded []byte, done func())

// refuseLine answers a line that was skipped.
func (c *stdioConn) refuseLine(why string) {
	c.refuse(nullID, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: %s", why))
}

// send is the replyFunc of messages outside of a batch.
func (c *stdioConn) send(encoded []byte, done func()) { c.out.addCounted(done, encoded) }

// receive handles one line, and closes its account once the line is answered.
// It blocks only for methods that later requests depend on.
func (c *stdioConn) receive(line []byte, account *memory.Account) {
	v, id, rpcErr := parse(line, account)
	switch {
	case rpcErr != nil:
		c.observeRefusal(rpcErr)
		c.send(appendError(nil, id, rpcErr), account.Close)
	case v.Kind() == value.Array:
		c.receiveBatch(v, account)
	default:
		c.handleMessage(v, account, func(encoded []byte, done func()) {
			c.send(encoded, func() {
				done()
				account.Close()
			})
		})
	}
}

// maxBatch is the largest number of messages in a batch. All of them run at the
// same time.
const maxBatch = 1000

// receiveBatch answers a batch, which only revision 2025-03-26 has, as one
// message.
func (c *stdioConn) receiveBatch(v value.Value, account *memory.Account) {
	refuse := func(e *rpcError) {
		c.observeRefusal(e)
		c.send(appendError(nil, nullID, e), account.Close)
	}
	switch {
	case c.session.ProtocolVersion() != mcp.ProtocolVersion20250326:
		refuse(rpcErrorf(mcp.INVALID_REQUEST, "invalid request: this protocol revision does not support batches"))
	case v.Len() > maxBatch:
		refuse(batchTooLong(v))
	case account.Err() != nil:
		refuse(busyError(account.Err()))
	case v.Len() == 0:
		refuse(rpcErrorf(mcp.INVALID_REQUEST, "invalid request: empty batch"))
	default:
		b := &batch{left: v.Len(), send: c.send, done: []func(){account.Close}}
		for _, e := range v.Elems() {
			of := c.memory.Account("")
			c.handleMessage(e.Metered(of), of, func(encoded []byte, done func()) {
				b.answer(encoded, func() {
					done()
					of.Close()
				})
			})
		}
	}
}

func batchTooLong(batch value.Value) *rpcError {
	return rpcErrorf(mcp.INVALID_REQUEST, "invalid request: a batch of %d messages; expected at most %d", batch.Len(), maxBatch)
}

// batch collects the answers to a batch.
type batch struct {
	mu   sync.Mutex
	left int
	text []byte
	done []func() // of the answers
	send replyFunc
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

func noop() {}

// handleMessage handles one message, whose memory counts on account.
func (c *stdioConn) handleMessage(v value.Value, account *memory.Account, reply replyFunc) {
	m, ok, rpcErr := jsonrpc.ReadRequest(v)
	switch err := account.Err(); {
	case err != nil:
		busy := busyError(err)
		c.observeRefusal(busy)
		reply(appendError(nil, m.ID, busy), noop)
	case rpcErr != nil:
		c.observeRefusal(&rpcError{Error: *rpcErr})
		reply(jsonrpc.AppendError(nil, m.ID, rpcErr), noop)
	case !ok:
		c.session.asked.deliver(v)
		reply(nil, noop)
	case m.ID == "":
		c.handleNotification(m)
		reply(nil, noop)
	default:
		c.handleRequest(m, account, reply)
	}
}

// observeRefusal reports a message that is not a valid request to the observer.
func (c *stdioConn) observeRefusal(e *rpcError) {
	c.current.Load().observeRefusal(c.ctx, &Request{Transport: Pipe, Client: c.session.Client()}, e)
}

// refuse answers a message with an error, and reports it to the observer.
func (c *stdioConn) refuse(id string, e *rpcError) {
	c.observeRefusal(e)
	c.out.add(appendError(nil, id, e))
}

// handleNotification handles a notification; all but two are ignored.
func (c *stdioConn) handleNotification(m jsonrpc.Request) {
	switch m.Method {
	case string(mcp.MethodNotificationCancelled):
		c.calls.cancel(m.Params.Get("requestId").JSON())
	case string(mcp.MethodNotificationInitialized):
		// From here on, clients of revisions with sessions accept notifications
		// (MCP 2025-11-25, Lifecycle, Initialization).
		c.initialized.Store(c.session.ProtocolVersion() != "")
	}
}

// wants reports whether the client accepts notifications.
func (c *stdioConn) wants(string) bool { return c.initialized.Load() }

func (c *stdioConn) handleRequest(m jsonrpc.Request, account *memory.Account, reply replyFunc) {
	ctx, cancel := memory.WithAccount(c.ctx, account)
	r := &Request{Transport: Pipe, session: c.session, peer: c}
	j, rpcErr := accept(ctx, c.Server, m, r, &c.calls)
	if rpcErr != nil {
		cancel()
		if rpcErr == errSessionEnded {
			reply(nil, noop)
		} else {
			reply(appendError(nil, m.ID, rpcErr), noop)
		}
		return
	}
	run := func() {
		defer j.finish()
		defer cancel()
		text, rpcErr, cancelled := j.answer()
		switch {
		case cancelled:
			text = nil
		case rpcErr != nil:
			text = appendError(nil, m.ID, rpcErr)
		}
		account.Reset(requestBytes + int64(cap(text))) // while the client reads, only the answer is needed
		reply(text, noop)
	}
	if j.method.ordered {
		run()
		return
	}
	c.workers.do(run)
}

// callerKey returns "": there is only one client.
func (c *stdioConn) callerKey() string { return "" }

// verify returns nil: stdio has no headers.
func (c *stdioConn) verify(*snapshot, *Request) *rpcError { return nil }

func (c *stdioConn) notify(method string, params value.Value) {
	c.out.add(jsonrpc.AppendNotification(nil, method, params))
}

func (c *stdioConn) sendRequest(id, method string, params value.Value) bool {
	c.out.add(jsonrpc.AppendRequest(nil, id, method, params))
	return true
}

func (c *stdioConn) sessionNotifier() func(method string, params value.Value) { return c.notify }

// keepOpen blocks until a subscription ends.
func (c *stdioConn) keepOpen(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-c.notifyCtx.Done():
	}
}

// lasting returns a context that is done when subscriptions must end.
func (c *stdioConn) lasting() (context.Context, func() bool, func()) {
	return c.notifyCtx, nil, func() {}
}

package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// maxUnreadReplies is how many of our answers to its own requests a server may
// leave unread before the connection counts as broken.
const maxUnreadReplies = 1000

// lineConn is a connection of newline-delimited JSON-RPC messages, as the MCP
// specification has them on stdio. No server can hold up a caller by not
// reading.
type lineConn struct {
	receiver
	in      io.Reader
	out     *outbox
	pending *pendingRequests
	// ended is called once reading has failed or ended, with nil for a regular
	// end, and says why the connection is over, most often with an EndedError.
	ended func(error) error
	// broken is called where the server does not take what we send. It makes
	// reading end.
	broken func(error)

	done chan struct{} // closed when nothing more will come
	err  error         // why, set before done is closed
}

// newLineConn returns a stream that start makes work. What it reads counts on held.
func newLineConn(in io.Reader, out io.WriteCloser, limit int64, held *memory.Account, odd func(string)) *lineConn {
	s := &lineConn{
		in: in, out: newOutbox(out), pending: newPendingRequests(odd),
		ended: func(error) error { return EndedError("ended") }, broken: func(error) {},
		done: make(chan struct{}),
	}
	s.receiver.limit, s.receiver.account, s.receiver.unexpected = limit, held, odd
	s.receiver.deliver, s.receiver.deliverOnly = s.pending.deliver, s.pending.deliverOnly
	s.receiver.reply = s.reply
	return s
}

// start starts reading and writing.
func (s *lineConn) start() {
	go func() {
		if err := s.out.run(); err != nil {
			s.broken(err)
		}
	}()
	go s.read()
}

// Attach sets what is done with what the server sends unasked.
func (s *lineConn) Attach(in *Handler) { s.receiver.in.Store(in) }

// Request sends a request and waits for its answer. The error is the server's
// own, ctx's, the reason why the connection is over, or a *[TooLongError];
// [ErrNotWritten] is in it where nothing was written.
func (s *lineConn) Request(ctx context.Context, m *Message) (json.RawMessage, error) {
	key := m.ID
	reply := s.pending.expect(key)
	f := &queuedLine{line: m.line()}
	if err := s.out.put(f); err != nil {
		s.pending.abandon(key)
		select {
		case <-s.done:
			err = s.err
		case <-ctx.Done():
			err = ctx.Err()
		}
		return nil, both(ErrNotWritten, err)
	}
	var err error
	select {
	case a := <-reply:
		return a.result, a.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-s.done:
		err = s.err
	}
	s.pending.abandon(key)
	select {
	case a := <-reply: // it came at the same moment
		return a.result, a.err
	default:
	}
	switch {
	case s.out.withdraw(f):
		err = both(ErrNotWritten, err)
	case ctx.Err() == nil:
		err = both(ErrLost, err)
	}
	return nil, err
}

// Notify queues a notification.
func (s *lineConn) Notify(_ context.Context, m *Message) error {
	return s.out.put(&queuedLine{line: m.line()})
}

// reply queues an answer of ours; it fails only when the connection is over.
func (s *lineConn) reply(message []byte) {
	if s.out.hasMoreReplies(maxUnreadReplies) {
		_ = s.out.close(errClosed)
		s.broken(errors.New("it sends requests and does not read our answers"))
		return
	}
	_ = s.out.put(&queuedLine{line: append(message, '\n'), reply: true})
}

// read takes lines until the input ends.
func (s *lineConn) read() {
	lines := bufio.NewReaderSize(s.in, 64<<10)
	var err error
	for err == nil {
		var (
			line []byte
			e    jsonrpc.Envelope
			b    messageBuffer
		)
		if line, err = s.line(lines, &e, &b); b.refused != nil {
			s.outOfMemory(&e, b.refused)
		} else if err == nil || !e.Blank() {
			s.receive(line, &e, err != nil)
		}
		s.account.Shrink(b.counted)
	}
	s.account.Close()
	_ = s.out.close(errClosed)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	s.err = s.ended(err)
	close(s.done)
}

// line reads one line and feeds it to e. A line over the limit is nil.
func (s *lineConn) line(lines *bufio.Reader, e *jsonrpc.Envelope, b *messageBuffer) ([]byte, error) {
	for {
		part, err := lines.ReadSlice('\n')
		e.Feed(part)
		b.keep(e, part, s.limit, s.account)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.text(), err
		}
	}
}

package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

var (
	// errNotWritten is in the error of a request none of which was written.
	errNotWritten = errors.New("the request was not sent")
	// errBroken is in the error of a request whose answer is not JSON-RPC.
	errBroken = errors.New("wrote something that is not JSON-RPC")
	// errClosed is the error of writing to a connection that we closed.
	errClosed = errors.New("the connection is closed")
)

// overError is the error of a request whose connection is over: what the
// server did, in words that follow "it".
type overError string

func (e overError) Error() string { return string(e) }

// tooLongError is the error of a request whose answer is over the limit.
type tooLongError struct{ limit int64 }

func (e *tooLongError) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes", e.limit)
}

// maxUnreadReplies is how many of our answers to its own requests a server may
// leave unread before the connection counts as broken.
const maxUnreadReplies = 1000

// stream is a connection of newline-delimited JSON-RPC messages, as the MCP
// specification has them on stdio. No server can hold up a caller by not
// reading.
type stream struct {
	receiver
	in   io.Reader
	out  *outbox
	desk *desk
	// ended is called once reading has failed or ended, with nil for a regular
	// end, and says why the connection is over, most often with an overError.
	ended func(error) error
	// broken is called where the server does not take what we send. It makes
	// reading end.
	broken func(error)

	done chan struct{} // closed when nothing more will come
	err  error         // why, set before done is closed
}

// newStream returns a stream that start makes work. What it reads counts on held.
func newStream(in io.Reader, out io.WriteCloser, limit int64, held *memory.Account, odd func(string)) *stream {
	s := &stream{
		in: in, out: newOutbox(out), desk: newDesk(odd),
		ended: func(error) error { return overError("ended") }, broken: func(error) {},
		done: make(chan struct{}),
	}
	s.receiver.limit, s.receiver.held, s.receiver.odd = limit, held, odd
	s.receiver.deliver, s.receiver.deliverOnly = s.desk.deliver, s.desk.deliverOnly
	s.receiver.reply = s.reply
	return s
}

// start starts reading and writing.
func (s *stream) start() {
	go func() {
		if err := s.out.run(); err != nil {
			s.broken(err)
		}
	}()
	go s.read()
}

// attach sets what is done with what the server sends unasked.
func (s *stream) attach(in *inbound) { s.receiver.in.Store(in) }

// request sends a request and waits for its answer. The error is the server's
// own, ctx's, the reason why the connection is over, a *tooLongError or
// errBroken; errNotWritten is in it where nothing was written.
func (s *stream) request(ctx context.Context, m *outgoing) (json.RawMessage, error) {
	key := m.id
	reply := s.desk.wait(key)
	f := &frame{line: m.line()}
	if err := s.out.put(f); err != nil {
		s.desk.forget(key)
		select {
		case <-s.done:
			err = s.err
		case <-ctx.Done():
			err = ctx.Err()
		}
		return nil, both(errNotWritten, err)
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
	s.desk.forget(key)
	select {
	case a := <-reply: // it came at the same moment
		return a.result, a.err
	default:
	}
	switch {
	case s.out.withdraw(f):
		err = both(errNotWritten, err)
	case ctx.Err() == nil:
		err = both(errLost, err)
	}
	return nil, err
}

// notify queues a notification.
func (s *stream) notify(_ context.Context, m *outgoing) error {
	return s.out.put(&frame{line: m.line()})
}

// reply queues an answer of ours; it fails only when the connection is over.
func (s *stream) reply(message []byte) {
	if s.out.waiting() > maxUnreadReplies {
		_ = s.out.close(errClosed)
		s.broken(errors.New("it sends requests and does not read our answers"))
		return
	}
	_ = s.out.put(&frame{line: append(message, '\n')})
}

// read takes lines until the input ends.
func (s *stream) read() {
	lines := bufio.NewReaderSize(s.in, 64<<10)
	var err error
	for err == nil {
		var (
			line []byte
			e    jsonrpc.Envelope
			k    intake
		)
		if line, err = s.line(lines, &e, &k); k.refused != nil {
			s.short(&e, k.refused)
		} else if err == nil || !e.Blank() {
			s.take(line, &e, err != nil)
		}
		s.held.Shrink(k.counted)
	}
	s.held.Close()
	_ = s.out.close(errClosed)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	s.err = s.ended(err)
	close(s.done)
}

// line reads one line and feeds it to e. A line over the limit is nil.
func (s *stream) line(lines *bufio.Reader, e *jsonrpc.Envelope, k *intake) ([]byte, error) {
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		e.Feed(part)
		if k.keeps(e, part, s.limit, s.held) {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

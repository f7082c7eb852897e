package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
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
// specification has them on stdio. It implements the library's transport, and
// differs from the library's own in that answers are bounded and never decoded
// here, what is not JSON-RPC is told apart, and no server can hold up a caller
// by not reading.
type stream struct {
	in    io.Reader
	out   *outbox
	limit int64
	// ended is called once reading has failed or ended, with nil for a regular
	// end, and says why the connection is over, most often with an overError.
	ended func(error) error
	// broken is called where the server does not take what we send. It makes
	// reading end.
	broken func(error)
	// odd is called with each thing that should not have been sent.
	odd func(what string)

	mu      sync.Mutex
	waiting map[string]chan answer // by the id's JSON text
	givenUp map[string]bool        // ids that nobody waits for any more

	done chan struct{} // closed when nothing more will come
	err  error         // why, set before done is closed

	onNotification atomic.Pointer[func(mcp.JSONRPCNotification)]
	onRequest      atomic.Pointer[transport.RequestHandler]
}

var _ transport.BidirectionalInterface = (*stream)(nil)

type answer struct {
	response *transport.JSONRPCResponse
	err      error
}

func newStream(in io.Reader, out io.WriteCloser, limit int64) *stream {
	return &stream{
		in: in, out: newOutbox(out), limit: limit,
		ended: func(error) error { return overError("ended") }, broken: func(error) {}, odd: func(string) {},
		waiting: map[string]chan answer{}, givenUp: map[string]bool{}, done: make(chan struct{}),
	}
}

// Start starts reading and writing. The context does not bound the connection.
func (s *stream) Start(context.Context) error {
	go func() {
		if err := s.out.run(); err != nil {
			s.broken(err)
		}
	}()
	go s.read()
	return nil
}

// Close ends the connection: the server sees the end of its input.
func (s *stream) Close() error {
	_ = s.out.close(errClosed)
	return nil
}

// GetSessionId returns the empty string: such connections have no session id.
func (s *stream) GetSessionId() string { return "" }

// SetNotificationHandler sets what is called with each notification. It is
// called on the reading goroutine and must not block.
func (s *stream) SetNotificationHandler(handler func(mcp.JSONRPCNotification)) {
	s.onNotification.Store(&handler)
}

// SetRequestHandler sets what answers the server's requests. It is called on
// the reading goroutine and must not block.
func (s *stream) SetRequestHandler(handler transport.RequestHandler) { s.onRequest.Store(&handler) }

// SendRequest sends a request and waits for its answer. The error is ctx's
// own, the reason why the connection is over, a *tooLongError or errBroken;
// errNotWritten is in it where nothing was written.
func (s *stream) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, err := json.Marshal(request.ID)
	if err != nil {
		return nil, err
	}
	line, err := encode(id, request.Method, request.Params)
	if err != nil {
		return nil, err
	}
	key := string(id)
	reply := make(chan answer, 1)
	s.mu.Lock()
	s.waiting[key] = reply
	s.mu.Unlock()
	f := &frame{line: line}
	if err := s.out.put(f); err != nil {
		s.forget(key)
		select {
		case <-s.done:
			err = s.err
		case <-ctx.Done():
			err = ctx.Err()
		}
		return nil, errors.Join(errNotWritten, err)
	}
	select {
	case a := <-reply:
		return a.response, a.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-s.done:
		err = s.err
	}
	s.forget(key)
	select {
	case a := <-reply: // it came at the same moment
		return a.response, a.err
	default:
	}
	if s.out.withdraw(f) {
		err = errors.Join(errNotWritten, err)
	}
	return nil, err
}

// maxGivenUp bounds the ids remembered only to tell late answers from odd ones.
const maxGivenUp = 1000

func (s *stream) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.waiting[key]; !ok {
		return
	}
	delete(s.waiting, key)
	if len(s.givenUp) >= maxGivenUp {
		clear(s.givenUp)
	}
	s.givenUp[key] = true
}

// SendNotification queues a notification.
func (s *stream) SendNotification(_ context.Context, n mcp.JSONRPCNotification) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.out.put(&frame{line: append(line, '\n')})
}

// encode returns the line of a request. Parameters that are JSON already are
// taken as they are.
func encode(id []byte, method string, params any) ([]byte, error) {
	raw, ok := params.(json.RawMessage)
	if !ok && params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return nil, err
		}
	}
	line := make([]byte, 0, len(raw)+len(method)+len(id)+len(`{"jsonrpc":"2.0","id":,"method":"","params":}`)+1)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	line = append(line, `,"method":"`...)
	line = append(line, method...)
	line = append(line, '"')
	if len(raw) > 0 {
		line = append(line, `,"params":`...)
		line = append(line, raw...)
	}
	return append(line, "}\n"...), nil
}

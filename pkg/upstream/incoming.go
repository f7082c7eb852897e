package upstream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// read takes lines until the input ends.
func (s *stream) read() {
	lines := bufio.NewReaderSize(s.in, 64<<10)
	var err error
	for err == nil {
		var (
			line []byte
			e    envelope
		)
		if line, err = s.line(lines, &e); err == nil || !e.blank() {
			s.take(line, &e, err != nil)
		}
	}
	_ = s.out.close(errClosed)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	s.err = s.ended(err)
	close(s.done)
}

// line reads one line and feeds it to e. A line over the limit is nil.
func (s *stream) line(lines *bufio.Reader, e *envelope) ([]byte, error) {
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		e.feed(part)
		if int64(e.pos) <= s.limit {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// take handles one line; cut says that the input ended within it.
func (s *stream) take(line []byte, e *envelope, cut bool) {
	tooLong := int64(e.pos) > s.limit
	switch {
	case e.blank():
	case tooLong && e.rpc && !e.method.found():
		s.deliver(string(e.idAt), answer{err: &tooLongError{s.limit}})
	case tooLong:
		s.odd(fmt.Sprintf("a line of %d bytes", e.pos))
	case cut:
		s.odd("a message that ends in its middle: " + quote(line))
	case !e.complete():
		s.garbage(line, e)
	case e.method.found() && e.id.found():
		s.request(line, e)
	case e.method.found():
		s.notification(line)
	case e.result.found() || e.failure.found():
		s.response(line, e)
	default:
		s.garbage(line, e)
	}
}

// garbage handles a line that is not a JSON-RPC message: a batch, which the
// revision of 2025-03-26 allows, a broken message, or anything else.
func (s *stream) garbage(line []byte, e *envelope) {
	var batch []json.RawMessage
	if bytes.TrimLeft(line, " \t\r\n")[0] == '[' && json.Unmarshal(line, &batch) == nil {
		for _, m := range batch {
			var inner envelope
			if inner.feed(m); inner.complete() {
				s.take(m, &inner, false)
			} else {
				s.odd(quote(m))
			}
		}
		return
	}
	s.odd(quote(line))
	if e.rpc {
		s.deliverOnly(string(e.idAt), answer{err: fmt.Errorf("%w: %s", errBroken, quote(line))})
	}
}

func (s *stream) response(line []byte, e *envelope) {
	id := string(e.id.of(line))
	var a answer
	if e.failure.found() {
		var details mcp.JSONRPCErrorDetails
		if err := json.Unmarshal(e.failure.of(line), &details); err != nil {
			a.err = fmt.Errorf("%w: %s", errBroken, quote(line))
		} else {
			a.response = &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, Error: &details}
		}
	} else {
		a.response = &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, Result: e.result.of(line)}
	}
	if !e.id.found() || id == "null" {
		// The server could not even read the id of what we sent.
		s.odd("an answer without an id: " + quote(line))
		s.deliverOnly("", a)
		return
	}
	s.deliver(id, a)
}

// deliver gives a to the request that waits for it.
func (s *stream) deliver(id string, a answer) {
	s.mu.Lock()
	reply, ok := s.waiting[id]
	delete(s.waiting, id)
	late := s.givenUp[id]
	delete(s.givenUp, id)
	s.mu.Unlock()
	switch {
	case ok:
		reply <- a
	case !late:
		s.odd("an answer with an id that no request waits for: " + quote([]byte(id)))
	}
}

// deliverOnly gives a to the request with that id, or to the only one that
// waits: what came can have been meant for no other.
func (s *stream) deliverOnly(id string, a answer) {
	s.mu.Lock()
	if _, ok := s.waiting[id]; !ok && len(s.waiting) == 1 {
		for id = range s.waiting {
		}
	}
	reply, ok := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if ok {
		reply <- a
	}
}

func (s *stream) notification(line []byte) {
	handler := s.onNotification.Load()
	if handler == nil {
		return
	}
	var n mcp.JSONRPCNotification
	if err := json.Unmarshal(line, &n); err != nil {
		s.odd(quote(line))
		return
	}
	(*handler)(n)
}

func (s *stream) request(line []byte, e *envelope) {
	if s.out.waiting() > maxUnreadReplies {
		_ = s.out.close(errClosed)
		s.broken(errors.New("it sends requests and does not read our answers"))
		return
	}
	var (
		request  transport.JSONRPCRequest
		response *transport.JSONRPCResponse
	)
	handler := s.onRequest.Load()
	if err := json.Unmarshal(line, &request); err != nil {
		s.odd(quote(line))
		return
	}
	err := errors.New("not ready for requests")
	if handler != nil {
		response, err = (*handler)(context.Background(), request)
	}
	if err != nil {
		response = transport.NewJSONRPCErrorResponse(request.ID, mcp.INTERNAL_ERROR, err.Error(), nil)
	}
	encoded, err := json.Marshal(struct {
		JSONRPC string                   `json:"jsonrpc"`
		ID      json.RawMessage          `json:"id"` // as it came
		Result  json.RawMessage          `json:"result,omitempty"`
		Error   *mcp.JSONRPCErrorDetails `json:"error,omitempty"`
	}{mcp.JSONRPC_VERSION, e.id.of(line), response.Result, response.Error})
	if err != nil {
		s.odd(quote(line))
		return
	}
	_ = s.out.put(&frame{line: append(encoded, '\n')}) // fails only when the connection is over
}

// quoted is how much of a line is shown.
const quoted = 200

// quote shows the start of what a server wrote, on one line.
func quote(line []byte) string {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if len(line) <= quoted {
		return strconv.Quote(string(line))
	}
	return strconv.Quote(string(line[:quoted])) + fmt.Sprintf(" … (%d bytes)", len(line))
}

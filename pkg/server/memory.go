package server

import (
	"errors"
	"io"
	"net/http"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What requests and answers take beside their texts, in bytes.
const (
	// requestBytes are those of any request: its goroutine, headers and buffers.
	requestBytes = 16 << 10
	// keysFactor is how much longer than a message its keys are at most.
	keysFactor = 3
	// encodedPart is how much longer an answer is than the JSON text of its result,
	// in quarters: it has it as text with escapes, and again as structured content,
	// and is made of the text alone.
	encodedPart = 13
)

// readAll reads a body of size bytes, where that is not less than 0, and counts
// it as it comes: what a client only announces takes nothing.
func readAll(body io.Reader, size int64, a *memory.Account) ([]byte, error) {
	const first = 32 << 10
	next := int64(first)
	if size >= 0 {
		next = min(next, size+1) // one more, to see the end without growing
	}
	if err := a.Grow(next); err != nil {
		return nil, err
	}
	text := make([]byte, 0, next)
	for {
		n, err := body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, err
		case len(text) < cap(text):
			continue
		}
		next := 4 * int64(cap(text))
		if size > int64(cap(text)) {
			next = min(next, size+1)
		}
		if err := a.Grow(next - int64(cap(text))); err != nil {
			return nil, err
		}
		text = append(make([]byte, 0, next), text...)
	}
}

// retryAfter is what clients are told that are refused for want of memory, in
// seconds.
const retryAfter = "1"

// busyError refuses a request that there is no memory for.
func busyError(err error) *rpcError {
	e := rpcErrorf(jsonrpc.CodeInternal, "%v", err)
	e.status, e.reason = http.StatusServiceUnavailable, "busy"
	return e
}

// parse decodes a message, which it takes over. What it and what is decoded of it
// later takes counts on held. Where it returns an error, id is what to answer
// under.
func parse(text []byte, held *memory.Account) (v value.Value, id string, _ *rpcError) {
	// To find keys that are there twice, those of an object are collected.
	keys := keysFactor * int64(len(text))
	if err := held.Grow(keys); err != nil {
		return v, nullID, busyError(err)
	}
	defer held.Shrink(keys)
	v, id, failure := jsonrpc.Parse(text)
	if failure != nil {
		return v, id, &rpcError{Error: *failure}
	}
	if held != nil {
		v = v.Metered(held)
	}
	return v, id, nil
}

// refuse answers a request with an error.
func (x *exchange) refuse(status int, id string, e *rpcError) {
	if e.status != 0 {
		status = e.status
	}
	if status == http.StatusServiceUnavailable {
		x.reply.w.Header().Set("Retry-After", retryAfter)
	}
	x.reply.whole(status, appendError(nil, id, e))
}

// countResult counts what the answer with a tool's result takes, before it is
// made.
func countResult(held *memory.Account, v value.Value, blocks bool) (counted int64, _ error) {
	if err := held.Err(); err != nil {
		return 0, err // what came then is not the result
	}
	counted = int64(v.TextSize()) * encodedPart / 4
	if blocks {
		counted = int64(v.TextSize())
	}
	return counted, held.Grow(counted)
}

package server

import (
	"errors"
	"io"
	"net/http"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Memory of requests and answers beside their text, in bytes.
const (
	// requestBytes is the base cost of a request: goroutine, headers and
	// buffers.
	requestBytes = 16 << 10
	// keysFactor bounds the memory of a message's keys, as a multiple of its
	// length.
	keysFactor = 3
	// resultFactor is about the size of an answer in eighths of the JSON text of
	// its result: it contains the result as escaped text and as structured content.
	resultFactor = 19
)

// readAll reads a body of size bytes (less than 0: unknown) and accounts for
// the bytes as they arrive, so that announcing a long body costs nothing.
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

// retryAfter is the Retry-After, in seconds, of requests refused for lack of
// memory.
const retryAfter = "1"

// busyError refuses a request for which there is not enough memory.
func busyError(err error) *rpcError {
	e := rpcErrorf(jsonrpc.CodeInternal, "%v", err)
	e.status, e.reason = http.StatusServiceUnavailable, "busy"
	return e
}

// parse decodes a message and takes ownership of text. The message, and what is
// decoded from it later, counts on account. If it returns an error, id is the
// id to answer with.
func parse(text []byte, account *memory.Account) (v value.Value, id string, _ *rpcError) {
	// Detecting duplicate keys needs a set of all keys of an object.
	keys := keysFactor * int64(len(text))
	if err := account.Grow(keys); err != nil {
		return v, nullID, busyError(err)
	}
	defer account.Shrink(keys)
	v, id, failure := jsonrpc.Parse(text)
	if failure != nil {
		return v, id, &rpcError{Error: *failure}
	}
	if account != nil {
		v = v.Metered(account)
	}
	return v, id, nil
}

// countResult accounts for the answer with a tool's result before it is
// encoded.
func countResult(account *memory.Account, v value.Value, blocks bool) (counted int64, _ error) {
	if err := account.Err(); err != nil {
		return 0, err // v is incomplete
	}
	counted = int64(v.TextSize()) * resultFactor / 8
	if blocks {
		counted = int64(v.TextSize())
	}
	return counted, account.Grow(counted)
}

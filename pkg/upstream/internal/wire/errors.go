package wire

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

var (
	// ErrNotWritten is in the error of a request none of which was written.
	ErrNotWritten = errors.New("the request was not sent")
	// ErrMalformed is in the error of a request whose answer is not JSON-RPC.
	ErrMalformed = errors.New("wrote something that is not JSON-RPC")
	// errClosed is the error of writing to a connection that we closed.
	errClosed = errors.New("the connection is closed")
)

// EndedError is the error of a request whose connection is over: what the
// server did, in words that follow "it".
type EndedError string

func (e EndedError) Error() string { return string(e) }

// TooLongError is the error of a request whose answer is over the limit.
type TooLongError struct{ Limit int64 }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes", e.Limit)
}

// ContentTypeError is the error of an answer that is neither JSON nor a stream
// of events.
type ContentTypeError struct {
	status int
	kind   string
}

func (e *ContentTypeError) Error() string {
	if e.kind == "" {
		return fmt.Sprintf("HTTP %d without an answer", e.status)
	}
	return fmt.Sprintf("an answer of content type %q, which is not MCP", e.kind)
}

// StatusError is the error of a request that was answered with an HTTP status
// of 400 or more.
type StatusError struct {
	Status int
	Header http.Header    // of the response
	Body   string         // its start
	RPC    *jsonrpc.Error // the JSON-RPC error in the body; nil if there is none
}

// Error returns the status and what the body says.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))
	if after := e.Header.Get("Retry-After"); after != "" {
		text += " (Retry-After: " + strings.TrimSuffix(strings.TrimPrefix(redact.Quote([]byte(after)), `"`), `"`) + ")"
	}
	switch {
	case e.RPC != nil:
		text += ": " + e.RPC.Error()
	case e.Body != "":
		text += ": " + redact.Quote([]byte(e.Body))
	}
	return text
}

// Unwrap returns the JSON-RPC error of the body.
func (e *StatusError) Unwrap() error {
	if e.RPC == nil {
		return nil
	}
	return e.RPC
}

// ErrLost is in the error of a request that may have been written and whose
// answer will not come, because its connection ended.
var ErrLost = errors.New("the connection ended before the answer")

// both returns an error that is a and b and reads as one sentence.
func both(a, b error) error { return fmt.Errorf("%w: %w", a, b) }

// newStatusError reads the body of a refusal.
func newStatusError(r *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody))
	e := &StatusError{Status: r.StatusCode, Header: r.Header, Body: string(body)}
	var env jsonrpc.Envelope
	if env.Feed(body); env.Complete() && env.Error.Found() {
		e.RPC = rpcError(env.Error.Of(body))
	}
	return e
}

// NotWritten returns err as the error of a request none of which was written.
func NotWritten(err error) error { return both(ErrNotWritten, err) }

package upstream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

// Error is the failure of something that was asked of an upstream server. It
// never holds a secret of the server's entry.
type Error struct {
	Server string `json:"-"`
	Tool   string `json:"tool,omitempty"` // empty if it is not about a tool
	// Prompt is the name of the prompt, and Resource the URI of the resource, that was
	// asked for, cut at 256 bytes; empty if there is none.
	Prompt   string `json:"prompt,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Op is "start", "handshake", "call", "get", "read", "complete", "subscribe",
	// "list", "status", "close" or, where a session ended by itself, "session".
	Op      string   `json:"op"`
	Message string   `json:"message"`          // what happened
	Hint    string   `json:"hint,omitempty"`   // what to do about it; may be empty
	Stderr  []string `json:"stderr,omitempty"` // the server's last lines on stderr, at most 100, where they may tell more
	Err     error    `json:"-"`                // the cause: *RPCError, context.Canceled, context.DeadlineExceeded or one of the system's; may be nil

	raw error // the cause as it was, to tell kinds of failures apart; it may hold secrets
}

// shownLines is how many lines of stderr Error shows.
const shownLines = 10

// Error returns one sentence and, on lines of their own, the end of Stderr.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "server %q", e.Server)
	if e.Tool != "" {
		fmt.Fprintf(&b, ", tool %q", e.Tool)
	}
	if e.Prompt != "" {
		fmt.Fprintf(&b, ", prompt %q", e.Prompt)
	}
	if e.Resource != "" {
		fmt.Fprintf(&b, ", resource %q", e.Resource)
	}
	b.WriteString(": " + e.Message)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if lines := e.Stderr[max(0, len(e.Stderr)-shownLines):]; len(lines) > 0 {
		b.WriteString("\nits last lines on stderr:")
		for _, line := range lines {
			b.WriteString("\n  | " + line)
		}
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// RPCError is an error that the server itself answered (JSON-RPC 2.0, section 5.1).
// Its fields are Code, an int, Message, a string, and Data, a [value.Value] that is
// undefined if the server sent none.
type RPCError = jsonrpc.Error

// rawCause returns the cause of an *[Error] as it was.
func rawCause(err error) error {
	var e *Error
	if errors.As(err, &e) && e.raw != nil {
		return e.raw
	}
	return err
}

// messageOf returns what happened, without the names of server and tool.
func messageOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// withMoreWords returns a call's error with more words at the end of what happened.
func withMoreWords(err error, words string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	edited := *e
	edited.Message = strings.TrimSuffix(edited.Message, ".") + words
	return &edited
}

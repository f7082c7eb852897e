package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
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

	Kind   Kind          `json:"-"`
	Status int           `json:"-"` // HTTP status of the answer; 0: none
	Code   int           `json:"-"` // code of the JSON-RPC error that was answered; 0: none
	After  time.Duration `json:"-"` // how long the server asks to be left alone (RFC 9110, 10.2.3); 0: it does not
	Header http.Header   `json:"-"` // of an answer with an HTTP status; may be nil
	Unsent bool          `json:"-"` // nothing of the request was sent
	// Recovery is what may help before the call is made again. Unread says that the request
	// was refused without regard to what it asked for, so that any may be made again.
	Recovery Recovery `json:"-"`
	Unread   bool     `json:"-"`

	acted bool  // the server may have acted, whatever the kind says
	raw   error // the cause as it was, which may hold secrets; may be nil
}

// Operations, as Error.Op has them.
const (
	opStart     = "start"
	opHandshake = "handshake"
	opCall      = "call"
)

// diagnose takes what a cause says of the failure.
func (e *Error) diagnose(cause error) {
	var (
		status *wire.StatusError
		rpc    *RPCError
		task   *taskError
	)
	e.raw, e.Status, e.Code, e.After = cause, 0, 0, 0
	opening := e.Op == opStart || e.Op == opHandshake
	e.Kind = kindOf(cause, opening)
	e.Unsent = opening || errors.Is(cause, wire.ErrNotWritten)
	e.acted = errors.As(cause, &task)
	if errors.As(cause, &rpc) {
		e.Code = rpc.Code
	}
	if errors.As(cause, &status) {
		e.Status, e.Header = status.Status, status.Header
		if kinds[e.Kind].fault != ofNobody {
			e.After = retryAfter(status.Header, time.Now())
		}
	}
}

// failedLike takes the sort of another failure.
func (e *Error) failedLike(other error) {
	like := &Error{Kind: KindOther}
	errors.As(other, &like)
	e.Kind, e.Status, e.Code, e.After, e.Unsent, e.acted, e.raw = like.Kind, like.Status, like.Code, like.After, like.Unsent, like.acted, like.raw
}

// unknown reports whether the server may have acted on the request.
func (e *Error) unknown() bool { return (kinds[e.Kind].unknown || e.acted) && !e.Unsent }

// names returns the names of the failure as retryOn and skipOn have them.
func (e *Error) names() (all []string) {
	if e.Status != 0 {
		code := strconv.Itoa(e.Status)
		all = append(all, code, code[:1]+"xx")
	}
	if e.Code != 0 {
		all = append(all, strconv.Itoa(e.Code))
	}
	if name := e.Kind.Name(); slices.Contains(config.FailureNames(), name) {
		all = append(all, name)
	}
	if e.Kind == KindConnectTimeout {
		all = append(all, failedTimeout)
	}
	return all
}

// FailureName returns the name by which rules of a graph know the failure: "connect",
// "closed", "timeout" or "malformed" as in retryOn, "unauthorized" if credentials are
// refused or missing, "busy" if the circuit is open or the rate limit left no turn in
// time, "drift" and "notLocked" if the lock file does not allow the call, "arguments" if
// its arguments do not fit the inputSchema of the tool, "cancelled" if the caller gave
// up, and "protocol" for every other answer.
func (e *Error) FailureName() string { return e.Kind.Name() }

// FailureCode returns the HTTP status of the answer, else its JSON-RPC code. It is
// empty if there was no answer with either.
func (e *Error) FailureCode() string {
	if code := cmp.Or(e.Status, e.Code); code != 0 {
		return strconv.Itoa(code)
	}
	return ""
}

// RetryAfter returns how long the server asks to be left alone (RFC 9110, section
// 10.2.3), 0 if it does not.
func (e *Error) RetryAfter() time.Duration { return e.After }

// FailureData names the arguments that do not fit the inputSchema of the tool, as
// {"arguments": [paths]}. It is undefined for other errors.
func (e *Error) FailureData() value.Value {
	var wrong *argumentsError
	if !errors.As(e.raw, &wrong) || len(wrong.at) == 0 {
		return value.Undef
	}
	at := make([]value.Value, len(wrong.at))
	for i, path := range wrong.at {
		at[i] = value.FromString(path)
	}
	return value.ObjectOf("arguments", value.FromArray(at))
}

// policyFailure returns what an error of a call means for the policies. Nil is a success.
func policyFailure(err error) policy.Failure {
	if err == nil {
		return policy.Failure{}
	}
	var e *Error
	if !errors.As(err, &e) {
		return policy.Failure{Final: true, Silent: true, Words: err.Error()} // of a stand-in or of this process
	}
	k := kinds[e.Kind]
	return policy.Failure{
		Names: e.names(), Final: k.final, Retried: k.retried, Unknown: e.unknown(),
		Fault: k.fault == ofServer, Silent: k.fault == ofNobody, Words: e.Message, After: e.After,
	}
}

// retryAfter reads how long a server wants to be left alone: seconds or a date
// (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	const longest = 1 << 31 // seconds; a Duration holds that
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, longest)) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
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

// causeOf returns the cause of an *[Error] as it was.
func causeOf(err error) error {
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

// Package callinfo describes what a call of a tool carries about its caller, from
// the request of a client to the requests to upstream servers.
package callinfo

import (
	"log/slog"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Info is what one call carries about its caller. It belongs to that call alone:
// the engine that runs the call sets the fields that say so. A nil Info carries
// nothing.
type Info struct {
	// Caller names the authenticated caller; empty if callers are not
	// authenticated. Calls of different callers never share what was got with
	// credentials.
	Caller string
	// Header and Meta are what the client sent: the header of its HTTP request
	// and the _meta of its params. Nothing of them reaches an upstream server
	// unless the server's entry names it (forwardHeaders, forwardMeta, auth).
	// They must not be changed.
	Header http.Header
	Meta   value.Value // undefined if there is none

	// Trace has members for the _meta of requests to upstream servers, such as
	// the traceparent of W3C Trace Context, which goes out as an HTTP header as
	// well, as do tracestate and baggage. progressToken is ignored.
	Trace []value.Entry
	// IdempotencyKey goes with each request to an upstream server, in its _meta under
	// "mcpgraph/idempotencyKey", so that the server can tell that a call is repeated;
	// empty: none. The driver of the run sets it.
	IdempotencyKey string
	// Listener gets what upstream servers report during the call; nil: nobody.
	Listener *Listener
	// Sent is called for each request to an upstream server that calls a tool,
	// before it is written: once per attempt. It may be nil, and must not block.
	Sent func(Sent)

	// RunID is the id of the run. The engine sets it.
	RunID string
	// CallID names the call among all of its run, the same in every process, if one
	// process drives the run and others make its calls; else it is empty. The driver
	// of the run sets it.
	CallID string
	// Secrets collects the secrets that are sent for the caller, to redact them.
	// The engine sets it; it stays nil if no server of the file gets any.
	Secrets Secrets
	// SecretArguments are arguments of the call that hold secrets: what servers write on
	// stderr or send as log messages may repeat them. The engine sets it.
	SecretArguments []string
	// Log gets the log records about the call, and adds the caller to them. The
	// engine sets it if it is nil.
	Log *slog.Logger
}

// None is the Info of calls that carry nothing. It must not be changed.
var None = &Info{}

// OrNone returns i, or None if i is nil.
func (i *Info) OrNone() *Info {
	if i == nil {
		return None
	}
	return i
}

// Footprint returns about how many bytes the header and _meta hold.
func (i *Info) Footprint() (size int64) {
	const most = 1 << 40 // where the size of a value stops to be counted
	for name, values := range i.Header {
		for _, v := range values {
			size += int64(len(name) + len(v))
		}
	}
	return size + i.Meta.Footprint(most)
}

// Secrets collects secrets and redacts them in texts. It is safe for concurrent
// use.
type Secrets interface {
	Learn(tokens ...string)
	LearnArguments(secrets ...string) // of calls; they do not make it forget tokens
	Text(text string) string          // returns text without the secrets
	Empty() bool                      // reports whether there are no secrets
}

// Methods of a Notification.
const (
	MethodProgress = "notifications/progress"
	MethodMessage  = "notifications/message" // a log message
)

// Notification is what an upstream server reports while it works on a call.
type Notification struct {
	// Server and Tool are those of the call. Tool is empty if a log message may
	// be about calls of several tools.
	Server, Tool string
	Method       string      // MethodProgress or MethodMessage
	Params       value.Value // as the server wrote them, secrets apart; a progressToken is the one that it was given
}

// Listener gets what upstream servers report while they work on a call. A log
// message that a server does not tie to a call goes to the listeners of all calls
// that its session is working on or has just answered, once to each.
type Listener struct {
	// Notify is called for each progress notification of a call before the call
	// returns, and for its log messages before that too, unless the server sends
	// them on another stream than the answer (streamable HTTP before the revision
	// of 2026-07-28): then they may come up to 2 seconds after the call has
	// returned, even if its context has ended. Notify must not block, and may be
	// called by several goroutines at once.
	Notify func(Notification)
	// LogLevel is the lowest level of the log messages that servers are asked for
	// ("debug" to "emergency", RFC 5424); empty asks for none and passes none on.
	LogLevel string
}

// Sent is a call of an upstream tool as it was sent.
type Sent struct {
	ID       string // of the JSON-RPC request
	Session  string // the Mcp-Session-Id; empty if there is none
	Protocol string // revision of MCP that is spoken
}

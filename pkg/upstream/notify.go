package upstream

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Methods of a Notification.
const (
	MethodProgress = "notifications/progress"
	MethodMessage  = "notifications/message" // a log message
)

// Notification is something that a server said while it worked on a call.
type Notification struct {
	// Server and Tool are those of the call. Tool is empty where a log message may
	// be about calls of several tools.
	Server, Tool string
	Method       string      // MethodProgress or MethodMessage
	Params       value.Value // as the server wrote them, secrets apart; a progressToken is the one that it was given
}

// Listener takes what servers say while they work on calls.
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

type listenerKey struct{}

// WithListener returns a context; what servers say during calls with it goes to
// l as well. A log message that a server does not tie to a call goes to the
// listeners of all calls that its session is working on or has just answered,
// once to each.
func WithListener(ctx context.Context, l Listener) context.Context {
	return context.WithValue(ctx, listenerKey{}, &l)
}

// listenerOf gives the listener of a call, nil where nobody listens.
func listenerOf(ctx context.Context) *Listener {
	l, _ := ctx.Value(listenerKey{}).(*Listener)
	return l
}

// logLevels are the levels of log messages, from the lowest (RFC 5424).
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

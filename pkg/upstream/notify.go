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
	Server, Tool string
	Method       string      // MethodProgress or MethodMessage
	Params       value.Value // as the server wrote them, secrets apart; a progressToken is the one that it was given
}

// Listener takes what servers say while they work on calls.
type Listener struct {
	// Notify is called for each progress notification and log message of a call
	// before the call returns. It must not block, and may be called by several
	// goroutines at once.
	Notify func(Notification)
	// LogLevel is the lowest level of the log messages that servers are asked for
	// ("debug" to "emergency", RFC 5424); empty asks for none and passes none on.
	LogLevel string
}

type listenerKey struct{}

// WithListener returns a context; what servers say during calls with it goes to
// l as well. A log message that a server does not tie to a call goes to all
// calls that its session is working on.
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

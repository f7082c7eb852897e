package upstream

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Provider is what is behind the name of a server. All layers are before it. It is safe for
// concurrent use.
type Provider interface {
	// Call makes one try of a call, each request of it after Call.Admit. Errors are
	// *[Error]; its Recovery says what may help before the call is made again. If the
	// server does not have what Method asks for, Kind is [KindLacks].
	Call(context.Context, *Call) (Reply, error)
	// Tools returns the tools as the server describes them, with all pages.
	Tools(context.Context, *callinfo.Info) ([]value.Value, error)
	// Close ends it. The end of the context skips waits.
	Close(context.Context) error
}

// Repeater is a Provider that knows which tools may be called twice.
type Repeater interface {
	// MayRepeat reports whether a call that the server may have acted on may be made again.
	MayRepeat(context.Context, *Call) bool
}

// unopened is the provider of a server that could not be opened.
type unopened struct{ err *Error }

func (u unopened) Call(_ context.Context, c *Call) (Reply, error) {
	e := *u.err
	e.Tool = c.Tool()
	return Reply{}, &e
}

func (u unopened) Tools(context.Context, *callinfo.Info) ([]value.Value, error) { return nil, u.err }

func (unopened) Close(context.Context) error { return nil }

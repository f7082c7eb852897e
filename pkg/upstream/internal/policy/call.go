package policy

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// MethodCall is the method of a call of a tool.
const MethodCall = "tools/call"

// Caller makes a call.
type Caller func(context.Context, *Call) (Reply, error)

// Layer stands between a caller and what makes its calls.
type Layer func(next Caller) Caller

// Call is one request to a server, with all of its tries. Layers that come first may
// change it for those behind them.
type Call struct {
	Info   *callinfo.Info // what the call carries about its caller; not nil
	Server string         // the name of the entry
	// Method is tools/call, prompts/get, resources/read, resources/subscribe,
	// completion/complete, or that of a list.
	Method string
	// Name is that of the tool, without namePrefix, or of the prompt, or the URI of the
	// resource.
	Name string
	Args value.Value
	// As is what the call carries for its caller. Calls of one identity share sessions,
	// results and limits.
	As *Credential
	// Admit waits for the turn and for the slot of one request. A provider calls it
	// before each request, and release after it: nothing is held while a session opens or
	// a person answers.
	Admit func(context.Context) (release func(), err error)
	// Ask answers what a server asks to go on with the call, by method. The error says
	// that nobody answers.
	Ask func(ctx context.Context, method string, params value.Value) (value.Value, error)
	// State is what a provider keeps of the call from one try to the next; nil at first.
	State State
}

// Credential is what a call carries for its caller.
type Credential = credential.Call

// State is what a provider keeps of a call.
type State interface {
	// End is called when the call has ended.
	End(context.Context)
}

// Reply is what came of a call, also beside an error.
type Reply struct {
	Value    value.Value // the whole result, isError and _meta too
	Sent     int         // requests that went out, and tries that did not reach the server
	Cached   bool        // no server was asked now
	Attempts []Attempt   // if the retry made more than one: the last 32 of them, in their order
}

// Attempt is one try of the retry layer.
type Attempt struct {
	Start, End time.Time
	Err        error // why it failed; nil: it did not
}

// Tool returns the name of the tool that is called, empty if it is another request.
func (c *Call) Tool() string {
	if c.Method == MethodCall {
		return c.Name
	}
	return ""
}

// key is the tool, or the method of any other request. Calls with the same key share rate
// limits and circuit breakers.
func (c *Call) key() string {
	if c.Method == MethodCall {
		return c.Name
	}
	return c.Method
}

// reads reports whether it is no tool and changes nothing: its result is not cached, and
// it may be made again.
func (c *Call) reads() bool { return c.Method != MethodCall }

// caller returns the identity of the call.
func (c *Call) caller() string {
	if c.As == nil {
		return ""
	}
	return string(c.As.Identity)
}

package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Modes of elicitation (MCP 2025-11-25, Elicitation).
const (
	FormMode = "form" // the person fills in a form
	URLMode  = "url"  // the person visits a URL
)

// capabilities are those of a client that matter to the server.
type capabilities struct{ form, url bool }

// capabilitiesOf reads what a client declares. An empty object means form mode
// (MCP 2025-11-25, Elicitation, Capabilities); before revision 2025-06-18 there
// was no elicitation, and before 2025-11-25 no URL mode.
func capabilitiesOf(declared value.Value, version string) capabilities {
	elicitation := declared.Get("elicitation")
	if elicitation.Kind() != value.Object || version < mcp.ProtocolVersion20250618 {
		return capabilities{}
	}
	form, url := elicitation.Has(FormMode), elicitation.Has(URLMode)
	return capabilities{form: form || !url, url: url && version >= mcp.ProtocolVersion20251125}
}

// CanElicit reports whether the client declared that it can ask its user in this
// mode.
func (r *Request) CanElicit(mode string) bool {
	can := r.session.capabilities()
	if r.modern {
		can = capabilitiesOf(r.Meta.Get(mcp.MetaKeyClientCapabilities), r.Protocol)
	}
	switch mode {
	case FormMode:
		return can.form
	case URLMode:
		return can.url
	}
	return false
}

// Stateless reports whether the client speaks revision 2026-07-28 or later: the
// server cannot send it requests, and returns an [InputRequiredError] instead.
func (r *Request) Stateless() bool { return r.modern }

// ErrCannotAsk says that the client cannot be asked: it declared no elicitation,
// or accepts no stream of events.
var ErrCannotAsk = errors.New("the client cannot ask its user: it declared no elicitation capability for this")

// Elicit sends elicitation/create with these params to the client of a
// tools/call of a revision with sessions, and returns the result: an object with
// the member action, which is "accept", "decline" or "cancel". Other results are
// errors. The error is ErrCannotAsk, ErrBadAnswer, an error of the client, or the
// cause with which ctx ended; the client is then told that the question is
// withdrawn.
func (r *Request) Elicit(ctx context.Context, params value.Value) (value.Value, error) {
	mode := params.Get("mode").Str()
	if mode == "" {
		mode = FormMode
	}
	if r.modern || !r.CanElicit(mode) {
		return value.Undef, ErrCannotAsk
	}
	answer, err := r.ask(ctx, string(mcp.MethodElicitationCreate), params)
	if err != nil {
		return value.Undef, err
	}
	return answer, CheckElicitation(answer)
}

// ErrBadAnswer says that a client's answer to a question is none.
var ErrBadAnswer = errors.New(`the client's answer has no action of "accept", "decline" or "cancel"`)

// CheckElicitation returns ErrBadAnswer if v is not the result of elicitation/create.
func CheckElicitation(v value.Value) error {
	if v.Kind() == value.Object {
		switch v.Get("action").Str() {
		case "accept", "decline", "cancel":
			return nil
		}
	}
	return ErrBadAnswer
}

// ask sends a request to the client and waits for its answer.
func (r *Request) ask(ctx context.Context, method string, params value.Value) (value.Value, error) {
	id, answered := r.session.asked.add()
	if answered == nil {
		return value.Undef, errTooManyAsked
	}
	defer r.session.asked.remove(id)
	if !r.peer.sendRequest(id, method, params) {
		return value.Undef, ErrCannotAsk
	}
	select {
	case a := <-answered:
		if a.Error != nil {
			return value.Undef, fmt.Errorf("the client did not ask its user: %w", a.Error)
		}
		return a.Result, nil
	case <-ctx.Done():
		b := value.NewBuilder(2)
		withdrawn, _ := value.Parse(id)
		b.Set("requestId", withdrawn)
		b.Set("reason", value.FromString("the question is withdrawn"))
		r.peer.notify(string(mcp.MethodNotificationCancelled), b.Value())
		return value.Undef, context.Cause(ctx)
	}
}

const (
	// maxAsked bounds the requests to one client that wait for an answer.
	maxAsked = 1000
	// maxAnswer bounds the answer of a client, in bytes.
	maxAnswer = 1 << 20
)

var errTooManyAsked = fmt.Errorf("more than %d questions to one client are open", maxAsked)

// clientRequests are the requests of the server to one client that wait for an
// answer. It is safe for concurrent use.
type clientRequests struct {
	mu      sync.Mutex
	waiting map[string]chan jsonrpc.Response // by the JSON text of the id
}

// add returns a new id, and the channel that gets the answer; nil if too many
// wait. Ids are random: a client cannot answer what it was not asked.
func (c *clientRequests) add() (id string, answered <-chan jsonrpc.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxAsked {
		return "", nil
	}
	if c.waiting == nil {
		c.waiting = map[string]chan jsonrpc.Response{}
	}
	id = `"` + rand.Text() + `"`
	got := make(chan jsonrpc.Response, 1)
	c.waiting[id] = got
	return id, got
}

func (c *clientRequests) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// deliver hands an answer to who waits for it. It ignores messages that answer
// nothing.
func (c *clientRequests) deliver(message value.Value) {
	a, ok := jsonrpc.ReadResponse(message)
	if !ok {
		return
	}
	c.mu.Lock()
	got := c.waiting[a.ID]
	delete(c.waiting, a.ID)
	c.mu.Unlock()
	if got == nil {
		return
	}
	if a.Error == nil {
		// The memory of the message is given back with it: keep a copy of its own.
		text := a.Result.Append(nil)
		if len(text) > maxAnswer {
			a.Error = jsonrpc.Errorf(mcp.INVALID_REQUEST, "the client's answer has %d bytes; at most %d are accepted", len(text), maxAnswer)
		} else if a.Result, _ = value.Parse(string(text)); a.Result.IsUndefined() {
			a.Error = jsonrpc.Errorf(mcp.INVALID_REQUEST, "the client's answer could not be read")
		}
	}
	got <- a
}

// InputRequiredError is returned by a [CallFunc] that needs answers of the
// client's user before it can go on. The client of revision 2026-07-28 or later
// gets a result of type input_required, and calls again with the answers (MCP
// 2026-07-28, Multi Round-Trip Requests).
type InputRequiredError struct {
	// Requests are the questions, an object: for each name the method and params
	// of a request.
	Requests value.Value
	// State is what the client sends back, unchanged.
	State string
}

func (e *InputRequiredError) Error() string { return "the call needs input of the client's user" }

// InvalidParamsError is returned by a [CallFunc] for a call that it refuses
// because of its params, without doing anything. The answer is a JSON-RPC error.
type InvalidParamsError struct{ Message string }

func (e *InvalidParamsError) Error() string { return e.Message }

// State returns the requestState of a call that goes on, and reports whether the
// call has one (MCP 2026-07-28, Multi Round-Trip Requests).
func (r *Request) State() (state string, goesOn bool) {
	v := r.params.Get("requestState")
	return v.Str(), r.modern && v.Kind() == value.String
}

// Responses returns the inputResponses of a call that goes on: an object with an
// answer for each question that it names. It is undefined if there are none.
func (r *Request) Responses() value.Value {
	if responses := r.params.Get("inputResponses"); r.modern && responses.Kind() == value.Object {
		return responses
	}
	return value.Undef
}

// appendInputRequired appends the members of a result of type input_required.
func appendInputRequired(dst []byte, e *InputRequiredError) []byte {
	dst = append(dst, `"resultType":"input_required","inputRequests":`...)
	dst = e.Requests.Append(dst)
	return value.AppendString(append(dst, `,"requestState":`...), e.State)
}

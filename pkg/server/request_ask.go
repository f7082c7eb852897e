package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Stateless reports whether the client speaks revision 2026-07-28 or later: the
// server cannot send it requests, and returns an [InputRequiredError] instead.
func (r *Request) Stateless() bool { return r.modern }

// capabilities returns what the client of the request declared.
func (r *Request) capabilities() capabilities {
	if r.modern {
		return capabilitiesOf(r.Meta.Get(mcp.MetaKeyClientCapabilities), r.Protocol)
	}
	return r.session.capabilities()
}

// CanElicit reports whether the client declared that it can ask its user in this
// mode.
func (r *Request) CanElicit(mode string) bool {
	can := r.capabilities()
	switch mode {
	case FormMode:
		return can.form
	case URLMode:
		return can.url
	}
	return false
}

// CanSample reports whether the client declared that it can ask a model.
func (r *Request) CanSample() bool { return r.capabilities().sampling }

// CanListRoots reports whether the client declared that it can list its roots.
func (r *Request) CanListRoots() bool { return r.capabilities().roots }

// CanAsk reports whether the client declared that it can answer any request of the
// server at all.
func (r *Request) CanAsk() bool { return r.capabilities() != capabilities{} }

// Needs returns a *[MissingCapabilityError] if the client did not declare what a
// request with these params needs, or nil.
func (r *Request) Needs(method string, params value.Value) error {
	can, name, inner := r.capabilities(), "elicitation", value.FromEntries(nil)
	switch method {
	case graph.AskModel:
		if can.sampling {
			return nil
		}
		name = "sampling"
	case graph.AskRoots:
		if can.roots {
			return nil
		}
		name = "roots"
	default:
		mode := params.Get("mode").Str()
		if mode == URLMode {
			inner = value.FromEntries([]value.Entry{{Key: URLMode, Value: inner}})
		} else {
			mode = FormMode
		}
		if r.CanElicit(mode) {
			return nil
		}
	}
	return &MissingCapabilityError{value.FromEntries([]value.Entry{{Key: name, Value: inner}})}
}

// ErrNoStream says that the client cannot be asked: it accepts no stream of events.
var ErrNoStream = errors.New("the client accepts no requests of the server during this call")

// ErrRefused says that the client's user refused a request of the server.
var ErrRefused = errors.New("the client refused")

// refusedCode is the code of the error with which clients answer a request that their
// user refused (MCP 2025-11-25, Sampling, Error Handling).
const refusedCode = -1

// Ask sends elicitation/create, sampling/createMessage or roots/list with these params
// to the client of a tools/call of a revision with sessions, and returns the result,
// whose shape [graph.CheckAnswer] has checked. The error is that check's, a
// *[MissingCapabilityError], ErrNoStream, ErrRefused, another error of the client, or
// the cause with which ctx ended; the client is then told that the request is
// withdrawn.
func (r *Request) Ask(ctx context.Context, method string, params value.Value) (value.Value, error) {
	if r.modern {
		return value.Undef, ErrNoStream
	}
	if err := r.Needs(method, params); err != nil {
		return value.Undef, err
	}
	answer, err := r.ask(ctx, method, params)
	if err != nil {
		return value.Undef, err
	}
	return answer, graph.CheckAnswer(method, answer)
}

// ask sends a request to the client and waits for its answer.
func (r *Request) ask(ctx context.Context, method string, params value.Value) (value.Value, error) {
	id, answered, err := r.session.asked.add()
	if err != nil {
		return value.Undef, err
	}
	defer r.session.asked.remove(id)
	if !r.peer.sendRequest(id, method, params) {
		return value.Undef, ErrNoStream
	}
	select {
	case a, ok := <-answered:
		if !ok {
			return value.Undef, errClientGone
		}
		if a.Error != nil && a.Error.Code == refusedCode {
			return value.Undef, fmt.Errorf("%w: %w", ErrRefused, a.Error)
		}
		if a.Error != nil {
			return value.Undef, fmt.Errorf("the client did not answer: %w", a.Error)
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

var (
	errTooManyAsked = fmt.Errorf("more than %d questions to one client are open", maxAsked)
	errClientGone   = errors.New("the client sends no more answers: it has ended the connection")
)

// clientRequests are the requests of the server to one client that wait for an
// answer. It is safe for concurrent use.
type clientRequests struct {
	mu      sync.Mutex
	waiting map[string]chan jsonrpc.Response // by the JSON text of the id
	ended   bool                             // nobody answers any more
}

// add returns a new id, and the channel that gets the answer or is closed if there
// will be none. It returns an error if too many wait, and after end. Ids are random: a
// client cannot answer what it was not asked.
func (c *clientRequests) add() (id string, answered <-chan jsonrpc.Response, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return "", nil, errClientGone
	}
	if len(c.waiting) >= maxAsked {
		return "", nil, errTooManyAsked
	}
	if c.waiting == nil {
		c.waiting = map[string]chan jsonrpc.Response{}
	}
	id = `"` + rand.Text() + `"`
	got := make(chan jsonrpc.Response, 1)
	c.waiting[id] = got
	return id, got, nil
}

// end makes all requests fail that wait for an answer, and those that follow.
func (c *clientRequests) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, got := range c.waiting {
		close(got)
	}
	clear(c.waiting)
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
		// The memory of the message is given back when this returns.
		if size := a.Result.TextSize(); size > maxAnswer {
			a.Error = jsonrpc.Errorf(mcp.INVALID_REQUEST, "the client's answer has %d bytes; at most %d are accepted", size, maxAnswer)
		} else {
			a.Result = a.Result.Apart()
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

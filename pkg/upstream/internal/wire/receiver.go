package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Handler handles what a server sends unasked.
type Handler struct {
	// Notified takes a notification that came with the answer to the request
	// origin, or with none. It is called on the reading goroutine and must not
	// block.
	Notified func(origin, method string, params json.RawMessage)
	// Asked answers a request of the server's, whose message counts on held. It may take
	// its time.
	Asked func(held *memory.Account, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error)
	// Budget is what the messages of requests count on until they are answered; nil means
	// no bounds.
	Budget *memory.Budget
	// Resumed is called where the stream on which the server speaks unasked was broken,
	// and is open again; Lost where the server does not open it any more. Neither may
	// block. They may be nil.
	Resumed func()
	Lost    func(error)

	asking atomic.Int32 // requests that asked is busy with
}

// maxConcurrentRequests is how many requests of a server are answered at the same time.
const maxConcurrentRequests = 100

// maxRequestID is how many bytes the id of a request of a server may have: our answer
// repeats it.
const maxRequestID = 4 << 10

// maxMethod is how many bytes the method of a request of a server may have: our answer
// names it.
const maxMethod = 256

// answer is what came for a request: the result or an error.
type answer struct {
	result json.RawMessage
	err    error
}

// receiver takes a connection's messages apart. Answers are bounded and not
// decoded, and what is not JSON-RPC is told apart.
type receiver struct {
	limit   int64           // bytes of a message
	account *memory.Account // what is being read
	origin  string          // the request that the messages come with; may be empty
	in      atomic.Pointer[Handler]
	// deliver hands an answer to the request with the id; deliverOnly hands it to
	// the only one that waits, if none has that id: it can have been meant
	// for no other.
	deliver, deliverOnly func(id string, a answer)
	// reply sends an answer of ours. It must not block.
	reply func(message []byte)
	// unexpected is called with each thing that should not have been sent.
	unexpected func(what string)
}

// receive handles one message; cut says that the input ended within it.
func (r *receiver) receive(line []byte, e *jsonrpc.Envelope, cut bool) {
	tooLong := int64(e.Len()) > r.limit
	switch {
	case e.Blank():
	case tooLong && e.Versioned && !e.Method.Found():
		r.deliver(e.IDText(), answer{err: &TooLongError{r.limit}})
	case tooLong:
		r.unexpected(fmt.Sprintf("a message of %d bytes", e.Len()))
	case cut:
		r.unexpected("a message that ends in its middle: " + redact.Quote(line))
	case !e.Complete():
		r.garbage(line, e)
	case e.Repeated != "":
		r.repeated(line, e)
	case e.Method.Found() && e.ID.Found():
		r.request(line, e)
	case e.Method.Found():
		r.notification(line, e)
	case e.Result.Found() || e.Error.Found():
		r.response(line, e)
	default:
		r.garbage(line, e)
	}
}

// garbage handles a line that is not a JSON-RPC message: a batch, which the
// revision of 2025-03-26 allows, a broken message, or anything else.
func (r *receiver) garbage(line []byte, e *jsonrpc.Envelope) {
	var batch []json.RawMessage
	copied := int64(len(line))
	if err := r.account.Grow(copied); err != nil {
		r.outOfMemory(e, err)
		return
	}
	defer r.account.Shrink(copied)
	if bytes.TrimLeft(line, " \t\r\n")[0] == '[' && json.Unmarshal(line, &batch) == nil {
		for _, m := range batch {
			var inner jsonrpc.Envelope
			if inner.Feed(m); inner.Complete() {
				r.receive(m, &inner, false)
			} else {
				r.unexpected(redact.Quote(m))
			}
		}
		return
	}
	r.unexpected(redact.Quote(line))
	if e.Versioned {
		r.deliverOnly(e.IDText(), answer{err: fmt.Errorf("%w: %s", ErrMalformed, redact.Quote(line))})
	}
}

// repeated refuses a message that has a member twice, which readers take for
// different messages. An answer is refused for the request that it names.
func (r *receiver) repeated(line []byte, e *jsonrpc.Envelope) {
	r.unexpected(fmt.Sprintf("a message with the key %q twice: %s", e.Repeated, redact.Quote(line)))
	if e.Method.Found() {
		return
	}
	a := answer{err: fmt.Errorf("%w: it has the key %q twice: %s", ErrMalformed, e.Repeated, redact.Quote(line))}
	if e.Repeated == "id" {
		r.deliverOnly("", a)
		return
	}
	r.deliver(string(e.ID.Of(line)), a)
}

func (r *receiver) response(line []byte, e *jsonrpc.Envelope) {
	id := string(e.ID.Of(line))
	var a answer
	if e.Error.Found() {
		if rpc := rpcError(e.Error.Of(line)); rpc != nil {
			a.err = rpc
		} else {
			a.err = fmt.Errorf("%w: %s", ErrMalformed, redact.Quote(line))
		}
	} else {
		a.result = e.Result.Of(line)
	}
	if !e.ID.Found() || id == "null" {
		r.unexpected("an answer without an id: " + redact.Quote(line))
		if a.err == nil { // only an error says that the server could not even read the id
			a = answer{err: fmt.Errorf("%w: a result without an id: %s", ErrMalformed, redact.Quote(line))}
		}
		r.deliverOnly("", a)
		return
	}
	r.deliver(id, a)
}

// rpcError reads the member "error" of a message; nil if it is not one.
func rpcError(text []byte) *jsonrpc.Error {
	v, err := value.ParseStrict(string(text))
	code, message := v.Get("code"), v.Get("message")
	if err != nil || v.Kind() != value.Object || !optional(code, value.Number) || !optional(message, value.String) {
		return nil
	}
	rpc := &jsonrpc.Error{Message: message.Str(), Data: v.Get("data")}
	if code.Kind() == value.Number {
		rpc.Code = int(int32(code.Float()))
		if float64(rpc.Code) != code.Float() {
			return nil
		}
	}
	return rpc
}

// optional reports whether a member is of the kind, null, or not there.
func optional(v value.Value, kind value.Kind) bool {
	return v.Kind() == kind || v.IsNull() || v.IsUndefined()
}

// methodOf returns the method of a request or notification.
func methodOf(line []byte, e *jsonrpc.Envelope) (string, bool) {
	method, err := value.Parse(string(e.Method.Of(line)))
	return method.Str(), err == nil && method.Kind() == value.String
}

func (r *receiver) notification(line []byte, e *jsonrpc.Envelope) {
	in := r.in.Load()
	if in == nil {
		return
	}
	method, ok := methodOf(line, e)
	if !ok {
		r.unexpected(redact.Quote(line))
		return
	}
	in.Notified(r.origin, method, params(line, e))
}

func params(line []byte, e *jsonrpc.Envelope) json.RawMessage {
	if !e.Params.Found() {
		return nil
	}
	return e.Params.Of(line)
}

func (r *receiver) request(line []byte, e *jsonrpc.Envelope) {
	id := e.ID.Of(line)
	method, ok := methodOf(line, e)
	if !ok {
		r.unexpected(redact.Quote(line))
		return
	}
	if len(id) > maxRequestID {
		r.unexpected(fmt.Sprintf("a request with an id of %d bytes", len(id)))
		return
	}
	in := r.in.Load()
	switch {
	case len(method) > maxMethod:
		r.reply(replyLine(id, nil, &jsonrpc.Error{Code: mcp.METHOD_NOT_FOUND, Message: fmt.Sprintf("unknown method with a name of %d bytes", len(method))}))
	case method == string(mcp.MethodPing):
		r.reply(replyLine(id, json.RawMessage(`{}`), nil))
	case in == nil:
		r.reply(replyLine(id, nil, &jsonrpc.Error{Code: mcp.INTERNAL_ERROR, Message: "not ready for requests"}))
	case in.asking.Add(1) > maxConcurrentRequests:
		in.asking.Add(-1)
		r.reply(replyLine(id, nil, &jsonrpc.Error{Code: mcp.INTERNAL_ERROR, Message: "too many requests at once"}))
	default:
		held := in.Budget.Account("") // the call that it came with may end before
		if err := held.Grow(int64(len(line))); err != nil {
			held.Close()
			in.asking.Add(-1)
			r.reply(replyLine(id, nil, &jsonrpc.Error{Code: mcp.INTERNAL_ERROR, Message: "not enough memory for the request"}))
			return
		}
		go func() {
			defer in.asking.Add(-1)
			defer held.Close()
			result, rpc := in.Asked(held, method, params(line, e))
			r.reply(replyLine(id, result, rpc))
		}()
	}
}

// replyLine returns our answer to a request with the id, which goes back as it came.
func replyLine(id, result json.RawMessage, rpc *jsonrpc.Error) []byte {
	if rpc != nil {
		return jsonrpc.AppendError(nil, string(id), rpc)
	}
	return append(append(jsonrpc.AppendResultStart(nil, string(id)), result...), '}')
}

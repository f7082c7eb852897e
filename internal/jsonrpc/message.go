// Package jsonrpc reads and writes messages of JSON-RPC 2.0
// (https://www.jsonrpc.org/specification). Members are known by their exact names
// alone, and a message that has one twice is refused: another reader could take
// it for another message.
package jsonrpc

import (
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Version is the value of the member "jsonrpc".
const Version = "2.0"

// NullID is the id of an answer to a message whose id cannot be read
// (section 5).
const NullID = "null"

// Codes of errors (section 5.1).
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Error is the error of an answer (section 5.1).
type Error struct {
	Code    int
	Message string
	Data    value.Value // undefined where there is none
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (JSON-RPC error %d)", e.Message, e.Code) }

// maxQuoted is how many bytes of a text a message quotes: who sends a long one
// must not be sent it back several times as long.
const maxQuoted = 256

// Errorf returns an error without data. Texts among args are shortened to 256
// bytes.
func Errorf(code int, format string, args ...any) *Error {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = Clip(text)
		}
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Clip returns text, or the first 256 bytes of a longer one and an ellipsis.
func Clip(text string) string { return textline.Prefix(text, maxQuoted) }

// Parse decodes the text of a message or a batch. Where it returns an error, id is
// what to answer under: the message's own if that can be read, else [NullID].
//
// It takes ownership of the text. A long one is decoded as it is read.
func Parse(text []byte) (v value.Value, id string, _ *Error) {
	v, err := value.ParseLazyStrict(text)
	if err == nil {
		return v, "", nil
	}
	e := Errorf(CodeParse, "parse error: %v", err)
	var syntax *value.SyntaxError
	if errors.As(err, &syntax) && syntax.Ambiguous {
		e = Errorf(CodeInvalidRequest, "invalid request: %v", err)
	}
	var outer Envelope
	outer.Feed(text)
	if outer.Complete() && outer.Repeated != "id" && outer.ID.Found() {
		if id, ok := idText(outer.ID.Of(text)); ok {
			return v, id, e
		}
	}
	return v, NullID, e
}

// idText returns an id as answers have it.
func idText(text []byte) (string, bool) {
	id, err := value.ParseStrict(string(text))
	return id.JSON(), err == nil && (id.Kind() == value.String || id.Kind() == value.Number)
}

// Request is a request or a notification.
type Request struct {
	ID     string // the id's JSON text; empty for a notification
	Method string
	Params value.Value // an object, or undefined
}

// ReadRequest checks the envelope of one message. ok is false if there is
// nothing to do: v is an answer, or a notification without effect. Where the
// error is not nil, ID is the id to answer under.
func ReadRequest(v value.Value) (r Request, ok bool, _ *Error) {
	r = Request{ID: NullID}
	if v.Kind() != value.Object {
		return r, false, Errorf(CodeInvalidRequest, "invalid request: expected an object, found %s", kind(v))
	}
	switch id := v.Get("id"); id.Kind() {
	case value.Undefined:
		r.ID = ""
	case value.String, value.Number:
		r.ID = id.JSON()
	default:
		return r, false, Errorf(CodeInvalidRequest, "invalid request: id must be a string or a number, found %s", kind(id))
	}
	if !v.Has("method") && (v.Has("result") || v.Has("error")) {
		return r, false, nil
	}
	method := v.Get("method")
	switch {
	case v.Get("jsonrpc").Str() != Version:
		return r.invalid(`jsonrpc must be "2.0"`)
	case method.Kind() != value.String:
		return r.invalid("method must be a string, found " + kind(method))
	}
	r.Method, r.Params = method.Str(), v.Get("params")
	switch r.Params.Kind() {
	case value.Object, value.Undefined:
		return r, true, nil
	}
	if r.ID == "" {
		return r, false, nil
	}
	return r, false, Errorf(CodeInvalidParams, "%s: params must be an object, found %s", r.Method, kind(r.Params))
}

// Response is the answer to a request.
type Response struct {
	ID     string      // the id's JSON text
	Result value.Value // undefined if Error is not nil
	Error  *Error
}

// ReadResponse returns v as the answer to a request, and reports whether it is
// one: an object with an id and either a result or an error.
func ReadResponse(v value.Value) (Response, bool) {
	id := v.Get("id")
	if v.Get("jsonrpc").Str() != Version || v.Has("method") || v.Has("result") == v.Has("error") ||
		id.Kind() != value.String && id.Kind() != value.Number {
		return Response{}, false
	}
	r := Response{ID: id.JSON(), Result: v.Get("result")}
	if e := v.Get("error"); !e.IsUndefined() {
		if e.Kind() != value.Object || e.Get("code").Kind() != value.Number {
			return Response{}, false
		}
		r.Error = &Error{Code: int(e.Get("code").Float()), Message: Clip(e.Get("message").Str())}
	}
	return r, true
}

func (r Request) invalid(text string) (Request, bool, *Error) {
	if r.ID == "" {
		r.ID = NullID
	}
	return r, false, Errorf(CodeInvalidRequest, "invalid request: %s", text)
}

// kind names what was found in the place of something else.
func kind(v value.Value) string {
	switch v.Kind() {
	case value.Undefined:
		return "nothing"
	case value.Null:
		return "null"
	case value.Array:
		return "an array"
	case value.Object:
		return "an object"
	}
	return "a " + v.Kind().String()
}

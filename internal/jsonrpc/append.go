package jsonrpc

import (
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// AppendResultStart appends the start of an answer with a result. The result, as
// JSON, and a closing brace have to follow.
func AppendResultStart(dst []byte, id string) []byte {
	return append(appendAnswer(dst, id), `,"result":`...)
}

// AppendError appends the answer with an error.
func AppendError(dst []byte, id string, e *Error) []byte {
	return append(AppendErrorObject(append(appendAnswer(dst, id), `,"error":`...), e), '}')
}

// AppendErrorObject appends an error without the message around it.
func AppendErrorObject(dst []byte, e *Error) []byte {
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(e.Code), 10)
	dst = value.AppendString(append(dst, `,"message":`...), e.Message)
	if !e.Data.IsUndefined() {
		dst = e.Data.Append(append(dst, `,"data":`...))
	}
	return append(dst, '}')
}

func appendAnswer(dst []byte, id string) []byte {
	return append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
}

// AppendNotification appends a notification, whose params may be undefined.
func AppendNotification(dst []byte, method string, params value.Value) []byte {
	dst = value.AppendString(append(dst, `{"jsonrpc":"2.0","method":`...), method)
	if !params.IsUndefined() {
		dst = params.Append(append(dst, `,"params":`...))
	}
	return append(dst, '}')
}

// AppendRequest appends a request. id is its JSON text; params may be undefined.
func AppendRequest(dst []byte, id, method string, params value.Value) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = value.AppendString(append(dst, `,"method":`...), method)
	if !params.IsUndefined() {
		dst = params.Append(append(dst, `,"params":`...))
	}
	return append(dst, '}')
}

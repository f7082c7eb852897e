package server

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// message is one well-formed JSON-RPC 2.0 request or notification.
type message struct {
	id     string // the id's JSON text; empty for a notification
	method string
	params value.Value
}

// rpcError is an error of JSON-RPC 2.0, section 5.1.
type rpcError struct {
	code int
	text string
	data any
	// scopes are those to ask for, where it is one that the caller lacks.
	scopes []string
}

func rpcErrorf(code int, format string, args ...any) *rpcError {
	return &rpcError{code: code, text: fmt.Sprintf(format, args...)}
}

// nullID answers what has no id that could be read (JSON-RPC 2.0, section 5).
const nullID = "null"

// newMessage checks the envelope of v. ok is false where there is nothing to
// do: v answers a request, and this server sends none. Where the error is not
// nil, m.id is the id to answer under.
func newMessage(v value.Value) (m message, ok bool, _ *rpcError) {
	m = message{id: nullID}
	if v.Kind() != value.Object {
		return m, false, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: expected an object, found %s", graph.Describe(v))
	}
	switch id := v.Get("id"); id.Kind() {
	case value.Undefined:
		m.id = ""
	case value.String, value.Number:
		if m.id = id.JSON(); m.id == nullID {
			return m, false, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: id must be a string or a number, found a number beyond 64 bits")
		}
	default:
		return m, false, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: id must be a string or a number, found %s", graph.Describe(id))
	}
	if !v.Has("method") && (v.Has("result") || v.Has("error")) {
		return m, false, nil
	}
	method := v.Get("method")
	switch {
	case v.Get("jsonrpc").Str() != mcp.JSONRPC_VERSION:
		return m.invalid(`jsonrpc must be "2.0"`)
	case method.Kind() != value.String:
		return m.invalid("method must be a string, found " + graph.Describe(method))
	}
	m.method, m.params = method.Str(), v.Get("params")
	switch m.params.Kind() {
	case value.Object, value.Undefined:
		return m, true, nil
	}
	if m.id == "" {
		return m, false, nil
	}
	return m, false, rpcErrorf(mcp.INVALID_PARAMS, "%s: params must be an object, found %s", m.method, graph.Describe(m.params))
}

func (m message) invalid(text string) (message, bool, *rpcError) {
	if m.id == "" {
		m.id = nullID
	}
	return m, false, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: %s", text)
}

// libraryIDs counts the messages that the library gets.
var libraryIDs atomic.Int64

// forLibrary gives the message as the library gets it: without the arguments of
// a call, which come beside it, and under an id of ours, because the library
// cannot take every id that JSON can say.
func (m message) forLibrary() []byte {
	text := make([]byte, 0, 256)
	text = strconv.AppendInt(append(text, `{"jsonrpc":"2.0","id":`...), libraryIDs.Add(1), 10)
	text = value.AppendString(append(text, `,"method":`...), m.method)
	if m.params.IsUndefined() {
		return append(text, '}')
	}
	text = append(text, `,"params":{`...)
	before := len(text)
	for _, e := range m.params.Entries() {
		if e.Key == "arguments" && m.method == string(mcp.MethodToolsCall) {
			continue
		}
		if len(text) > before {
			text = append(text, ',')
		}
		text = value.AppendString(text, e.Key)
		text = e.Value.Append(append(text, ':'))
	}
	return append(text, "}}"...)
}

// callParams are what tools/call asks for.
type callParams struct {
	name string
	args value.Value
}

// call reads the parameters of tools/call (MCP 2025-11-25, CallToolRequest).
// Absent arguments, and null, which some clients send for them, are {}.
func (m message) call() (callParams, *rpcError) {
	name := m.params.Get("name")
	if name.Kind() != value.String {
		return callParams{}, rpcErrorf(mcp.INVALID_PARAMS, "tools/call: name must be a string, found %s", graph.Describe(name))
	}
	p := callParams{name: name.Str(), args: m.params.Get("arguments")}
	switch p.args.Kind() {
	case value.Object:
	case value.Undefined, value.Null:
		p.args = value.FromEntries(nil)
	default:
		return callParams{}, rpcErrorf(mcp.INVALID_PARAMS, "tools/call: arguments must be an object, found %s", graph.Describe(p.args))
	}
	return p, nil
}

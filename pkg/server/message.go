package server

import (
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// message is one well-formed JSON-RPC 2.0 request or notification.
type message struct {
	id     string // the id's JSON text; empty for a notification
	method string
	params value.Value
	whole  value.Value
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
	m = message{id: nullID, whole: v}
	if v.Kind() != value.Object {
		return m, false, rpcErrorf(mcp.INVALID_REQUEST, "invalid request: expected an object, found %s", graph.Describe(v))
	}
	switch id := v.Get("id"); id.Kind() {
	case value.Undefined:
		m.id = ""
	case value.String, value.Number:
		m.id = id.JSON()
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

// callParams are what tools/call asks for.
type callParams struct {
	name string
	args value.Value
	slim []byte // the message without its arguments
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
	p.slim = appendEnvelope(make([]byte, 0, 256), m.id)
	p.slim = append(p.slim, `,"method":"tools/call","params":`...)
	before := byte('{')
	for _, e := range m.params.Entries() {
		if e.Key == "arguments" {
			continue
		}
		p.slim = value.AppendString(append(p.slim, before), e.Key)
		p.slim = e.Value.Append(append(p.slim, ':'))
		before = ','
	}
	p.slim = append(p.slim, "}}"...)
	return p, nil
}

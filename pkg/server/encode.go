package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// appendResponse appends the library's answer as one JSON-RPC message under id.
// Ids, schemas and results go out as the exact text they are, which the
// library's own encoding would re-order, escape or round.
func (p *published) appendResponse(dst []byte, id string, response mcp.JSONRPCMessage) []byte {
	switch r := response.(type) {
	case mcp.JSONRPCError:
		code := r.Error.Code
		if code == mcp.INVALID_REQUEST {
			// The envelope was checked before: what the library could not
			// decode are the parameters.
			code = mcp.INVALID_PARAMS
		}
		return appendError(dst, id, &rpcError{code: code, text: r.Error.Message, data: r.Error.Data})
	case mcp.JSONRPCResponse:
		start := len(dst)
		dst = appendEnvelope(slices.Grow(dst, 256), id)
		dst = append(dst, `,"result":`...)
		dst, err := p.appendResult(dst, r.Result)
		if err != nil {
			return appendError(dst[:start], id, rpcErrorf(mcp.INTERNAL_ERROR, "the result cannot be encoded: %v", err))
		}
		return append(dst, '}')
	}
	return appendError(dst, id, rpcErrorf(mcp.INTERNAL_ERROR, "no answer (%T)", response))
}

func (p *published) appendResult(dst []byte, result any) ([]byte, error) {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		if blocks, ok := r.StructuredContent.(contentBlocks); ok {
			return appendCallEnd(blocks.Append(append(dst, `{"content":`...)), r)
		}
		if v, ok := r.StructuredContent.(value.Value); ok || r.StructuredContent == nil {
			if text, ok := onlyText(r); ok {
				return appendCallResult(dst, r, text, v)
			}
		}
	case mcp.ListToolsResult:
		return p.appendList(dst, r)
	}
	return appendJSON(dst, result)
}

func onlyText(r *mcp.CallToolResult) (string, bool) {
	if len(r.Content) != 1 {
		return "", false
	}
	text, ok := r.Content[0].(mcp.TextContent)
	return text.Text, ok
}

// contentBlocks is the result of a tool whose results are lists of them. It goes
// through the library as structured content, which the library leaves alone.
type contentBlocks struct{ value.Value }

// appendCallResult appends a result of a tool, whose text is the JSON of what is
// structured, where that is there.
func appendCallResult(dst []byte, r *mcp.CallToolResult, text string, structured value.Value) ([]byte, error) {
	dst = slices.Grow(dst, 2*len(text)+len(text)/4+64)
	dst = append(dst, `{"content":[{"type":"text","text":`...)
	dst = value.AppendString(dst, text)
	dst = append(dst, `}]`...)
	if !structured.IsUndefined() {
		dst = append(dst, `,"structuredContent":`...)
		dst = append(dst, text...)
	}
	return appendCallEnd(dst, r)
}

func appendCallEnd(dst []byte, r *mcp.CallToolResult) (_ []byte, err error) {
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	if r.ResultType != "" {
		dst = append(dst, `,"resultType":`...)
		dst = value.AppendString(dst, string(r.ResultType))
	}
	if r.Meta != nil {
		dst = append(dst, `,"_meta":`...)
		if dst, err = appendJSON(dst, r.Meta); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendList puts the tools in the order of the file; the library sorts them.
func (p *published) appendList(dst []byte, r mcp.ListToolsResult) ([]byte, error) {
	shown := make(map[string]bool, len(r.Tools))
	for _, t := range r.Tools {
		shown[t.Name] = true
	}
	list := []byte{'['}
	for _, t := range p.tools {
		if !shown[t.name] {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		if r.ResultType != "" { // only revision 2026-07-28 has result types
			list = append(list, t.modern...)
		} else {
			list = append(list, t.legacy...)
		}
	}
	return appendJSON(dst, struct {
		mcp.PaginatedResult
		Tools json.RawMessage `json:"tools"`
	}{r.PaginatedResult, append(list, ']')})
}

func appendEnvelope(dst []byte, id string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	return append(dst, id...)
}

// appendNotification appends a notification, whose params may be undefined.
func appendNotification(dst []byte, method string, params value.Value) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = value.AppendString(dst, method)
	if !params.IsUndefined() {
		dst = append(dst, `,"params":`...)
		dst = params.Append(dst)
	}
	return append(dst, '}')
}

func appendError(dst []byte, id string, e *rpcError) []byte {
	dst = appendEnvelope(dst, id)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.code), 10)
	dst = append(dst, `,"message":`...)
	dst = value.AppendString(dst, e.text)
	if e.data != nil {
		mark := len(dst)
		dst = append(dst, `,"data":`...)
		var err error
		if dst, err = appendJSON(dst, e.data); err != nil {
			dst = dst[:mark]
		}
	}
	return append(dst, "}}"...)
}

// appendJSON appends x by encoding/json, without escaping HTML.
func appendJSON(dst []byte, x any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return dst, fmt.Errorf("%T: %w", x, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

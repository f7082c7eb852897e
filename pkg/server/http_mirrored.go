package server

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// mirroredTool is a tool with arguments that HTTP headers repeat (MCP 2026-07-28,
// Transports, Streamable HTTP, x-mcp-header).
type mirroredTool struct {
	tool  *mcp.Tool
	paths [][]string // of these arguments
}

// newMirroredTool returns nil if headers repeat no argument of the tool.
func newMirroredTool(t *mcp.Tool) *mirroredTool {
	bindings := mcp.ExtractParamHeaderBindings(t)
	if len(bindings) == 0 {
		return nil
	}
	m := &mirroredTool{tool: t}
	for _, b := range bindings {
		m.paths = append(m.paths, b.Path)
	}
	return m
}

// check compares headers with the arguments of a call. The library decodes what it
// is given, so it gets no more of the arguments than headers repeat.
func (m *mirroredTool) check(header func(name string) (string, bool), args value.Value) *rpcError {
	if most := m.longest(args); most > maxHeaders {
		return rpcErrorf(mcp.HEADER_MISMATCH, "an argument that a header repeats is too long for it: %d bytes", most)
	}
	if err := mcp.ValidateParamHeadersLookup(header, m.tool, m.params(args)); err != nil {
		return rpcErrorf(mcp.HEADER_MISMATCH, "%s", err.Error())
	}
	return nil
}

// longest returns the length of the longest of the arguments, in bytes.
func (m *mirroredTool) longest(args value.Value) int {
	most := 0
	for _, path := range m.paths {
		v := args
		for _, key := range path {
			v = v.Get(key)
		}
		most = max(most, len(v.Str()))
	}
	return most
}

// params returns params of a call that has no other arguments than these, as JSON.
func (m *mirroredTool) params(args value.Value) json.RawMessage {
	b := value.NewBuilder(1)
	b.Set("arguments", only(args, m.paths))
	return b.Value().Append(nil)
}

// only returns v with nothing but what is at the paths. Arrays and objects there
// are empty: a header cannot repeat them.
func only(v value.Value, paths [][]string) value.Value {
	switch v.Kind() {
	case value.Array:
		return value.FromArray(nil)
	case value.Object:
	default:
		return v
	}
	b := value.NewBuilder(len(paths))
	for i, path := range paths {
		if len(path) == 0 || !b.Get(path[0]).IsUndefined() {
			continue
		}
		var beneath [][]string
		for _, other := range paths[i:] {
			if len(other) > 0 && other[0] == path[0] {
				beneath = append(beneath, other[1:])
			}
		}
		b.Set(path[0], only(v.Get(path[0]), beneath))
	}
	return b.Value()
}

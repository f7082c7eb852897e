package upstream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// toolHeaders is what a session has to know of the server's tools to call them:
// those that want arguments in HTTP headers, or want it in a way that makes
// them unusable (MCP of 2026-07-28, x-mcp-header).
type toolHeaders struct {
	mirroring map[string]*mcp.Tool
	unusable  map[string]error
}

func newToolHeaders(tools []value.Value) *toolHeaders {
	d := &toolHeaders{mirroring: map[string]*mcp.Tool{}, unusable: map[string]error{}}
	for _, t := range tools {
		name := t.Get("name").Str()
		tool := &mcp.Tool{Name: name, RawInputSchema: t.Get("inputSchema").Append(nil)}
		if err := mcp.ValidateParamHeaderAnnotations(tool); err != nil {
			d.unusable[name] = err
		} else if len(mcp.ExtractParamHeaderBindings(tool)) > 0 {
			d.mirroring[name] = tool
		}
	}
	return d
}

// mirroredHeaders returns the headers that repeat arguments of a call, names and
// values in turn. params are the members of the call's params.
func (s *session) mirroredHeaders(ctx context.Context, name string, params []byte) ([]string, error) {
	d, err := s.listedHeaders(ctx)
	if d == nil {
		return nil, err
	}
	if err := d.unusable[name]; err != nil {
		return nil, fmt.Errorf("the tool's schema asks for headers that cannot be: %w", err)
	}
	tool := d.mirroring[name]
	if tool == nil {
		return nil, nil
	}
	var headers []string
	all := append(append([]byte{'{'}, params...), '}')
	for name, val := range mcp.GenerateParamHeaders(tool, json.RawMessage(all)) {
		headers = append(headers, name, val)
	}
	return headers, nil
}

// listedHeaders returns what the list of tools says of headers, and reads the list if
// that is not known. It returns nil if the list has changed again.
func (s *session) listedHeaders(ctx context.Context) (*toolHeaders, error) {
	if d := s.toolHeaders.Load(); d != nil {
		return d, nil
	}
	s.hints.await(ctx)
	if d := s.toolHeaders.Load(); d != nil {
		return d, nil
	}
	if _, err := s.tools(ctx); err != nil {
		return nil, fmt.Errorf("its list of tools, which says what goes into headers: %w", err)
	}
	return s.toolHeaders.Load(), nil
}

// usableTools keeps the tools that can be called, and remembers what calls of them
// need.
func (s *session) usableTools(tools []value.Value) []value.Value {
	if !s.peer.mirrors {
		return tools
	}
	d := newToolHeaders(tools)
	s.toolHeaders.Store(d)
	if len(d.unusable) == 0 {
		return tools
	}
	var kept []value.Value
	for _, t := range tools {
		name := t.Get("name").Str()
		if err := d.unusable[name]; err != nil {
			s.server.log.Warn("tool skipped: its schema requires invalid headers", "tool", name, "error", err)
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

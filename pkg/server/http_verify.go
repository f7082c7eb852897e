package server

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// verify checks the HTTP headers against the message.
func (x *exchange) verify(p *snapshot, r *Request) *rpcError {
	if x.modern || r.modern { // x.modern is false for a request in a batch, which revision 2026-07-28 does not have
		if rpcErr := x.checkHeaders(p, r); rpcErr != nil {
			return rpcErr
		}
	}
	if r.Method == string(mcp.MethodSubscriptionsListen) && r.modern && !x.response.acceptsEvents {
		return rpcErrorf(mcp.INVALID_REQUEST, "the Accept header must include text/event-stream")
	}
	return nil
}

// checkHeaders compares the headers of a request of revision 2026-07-28 with
// its message (MCP 2026-07-28, Transports, Streamable HTTP).
func (x *exchange) checkHeaders(p *snapshot, r *Request) *rpcError {
	header := x.r.Header
	said := r.Meta.Get(mcp.MetaKeyProtocolVersion).Str()
	switch version := strings.Join(header.Values(mcp.HeaderProtocolVersion), ","); {
	case version == "":
		return rpcErrorf(mcp.HEADER_MISMATCH, "missing header %s", mcp.HeaderProtocolVersion)
	case said == "":
		return rpcErrorf(mcp.INVALID_PARAMS, "missing _meta field %s", mcp.MetaKeyProtocolVersion)
	case version != said:
		return rpcErrorf(mcp.HEADER_MISMATCH, "header %s is %q, but _meta has %q", mcp.HeaderProtocolVersion, version, said)
	case !mcp.IsValidProtocolVersion(said):
		return nil // checkModern reports it with the supported versions
	}
	if max(len(r.Method), len(r.params.Get("name").Str()), len(r.params.Get("uri").Str())) > maxHeaders {
		return rpcErrorf(mcp.HEADER_MISMATCH, "the method, name or uri is too long for a header")
	}
	// The library decodes the params again, ignoring the case of names: pass
	// only these members. Repeated headers are joined, so that a proxy that
	// reads the last one cannot see another value than this check.
	named := value.NewBuilder(2)
	named.Set("name", r.params.Get("name"))
	named.Set("uri", r.params.Get("uri"))
	params := named.Value().Append(nil)
	joined := func(name string) string { return strings.Join(header.Values(name), ",") }
	if err := mcp.ValidateStandardHeaders(joined, said, mcp.MCPMethod(r.Method), params); err != nil {
		return rpcErrorf(mcp.HEADER_MISMATCH, "%s", err.Error())
	}
	if r.task != "" {
		switch name, ok := mcp.DecodeHeaderValue(joined(mcp.HeaderName)); {
		case !ok || name == "":
			return rpcErrorf(mcp.HEADER_MISMATCH, "missing or invalid header %s", mcp.HeaderName)
		case name != r.task:
			return rpcErrorf(mcp.HEADER_MISMATCH, "header %s is %q, but the taskId is %q", mcp.HeaderName, jsonrpc.Clip(name), jsonrpc.Clip(r.task))
		}
	}
	tool := p.mirrored[r.Tool]
	if tool == nil || r.Method != string(mcp.MethodToolsCall) || p.hidden(r, p.toolsByName[r.Tool]) {
		return nil
	}
	return tool.check(func(name string) (string, bool) {
		values := header.Values(name)
		return strings.Join(values, ","), values != nil
	}, r.params.Get("arguments"))
}

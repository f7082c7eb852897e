package server

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

// rpcError is a JSON-RPC error with its HTTP status and refusal reason.
type rpcError struct {
	jsonrpc.Error
	status int      // HTTP status; 0: derived from the code
	reason string   // refusal reason; empty: derived from the code
	scopes []string // scopes to request, if the caller lacks one
	failed bool     // the request was handled, and what it asked for failed
}

func rpcErrorf(code int, format string, args ...any) *rpcError {
	return &rpcError{Error: *jsonrpc.Errorf(code, format, args...)}
}

// why returns the refusal reason; empty if the request was handled.
func (e *rpcError) why() string {
	if e.reason != "" || e.failed {
		return e.reason
	}
	return reasonOf(e.Code)
}

// reasonOf returns the refusal reason for an error code; empty if the code
// means that the request was handled.
func reasonOf(code int) string {
	switch code {
	case mcp.INTERNAL_ERROR:
		return ""
	case mcp.PARSE_ERROR:
		return "parse_error"
	case mcp.METHOD_NOT_FOUND:
		return "unknown_method"
	case mcp.INVALID_PARAMS:
		return "invalid_params"
	case mcp.RESOURCE_NOT_FOUND:
		return "not_found"
	case mcp.HEADER_MISMATCH:
		return "header_mismatch"
	case mcp.UNSUPPORTED_PROTOCOL_VERSION:
		return "unsupported_protocol_version"
	case mcp.MISSING_REQUIRED_CLIENT_CAPABILITY:
		return "missing_capability"
	}
	return "invalid_request"
}

// nullID is the id of answers to messages without a readable id.
const nullID = jsonrpc.NullID

func appendError(dst []byte, id string, e *rpcError) []byte {
	return jsonrpc.AppendError(dst, id, &e.Error)
}

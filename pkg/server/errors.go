package server

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
)

// rpcError is the error of an answer.
type rpcError struct {
	jsonrpc.Error
	status int      // of HTTP; 0: what the code has
	reason string   // why the request is refused; empty: what the code says
	scopes []string // to ask for, where it is one that the caller lacks
}

func rpcErrorf(code int, format string, args ...any) *rpcError {
	return &rpcError{Error: *jsonrpc.Errorf(code, format, args...)}
}

// why returns the reason of a refusal; empty for the error of a request that was
// carried out.
func (e *rpcError) why() string {
	if e.reason != "" {
		return e.reason
	}
	return reasonOf(e.Code)
}

// reasonOf returns why a request with this error was refused; empty for an error
// of one that was carried out.
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
	}
	return "invalid_request"
}

// nullID answers what has no id that could be read.
const nullID = jsonrpc.NullID

func appendError(dst []byte, id string, e *rpcError) []byte {
	return jsonrpc.AppendError(dst, id, &e.Error)
}

package server

import "github.com/mcpgraph/mcpgraph/internal/jsonrpc"

// rpcError is the error of an answer.
type rpcError struct {
	jsonrpc.Error
	status int      // of HTTP; 0: what the code has
	scopes []string // to ask for, where it is one that the caller lacks
}

func rpcErrorf(code int, format string, args ...any) *rpcError {
	return &rpcError{Error: *jsonrpc.Errorf(code, format, args...)}
}

// nullID answers what has no id that could be read.
const nullID = jsonrpc.NullID

func appendError(dst []byte, id string, e *rpcError) []byte {
	return jsonrpc.AppendError(dst, id, &e.Error)
}

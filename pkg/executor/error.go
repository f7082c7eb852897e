package executor

import (
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CodeNodeFailed is the code of the diagnostic that a NodeError gives.
const CodeNodeFailed = "node-failed"

// NodeError is the failure of one node of a run.
type NodeError struct {
	// Tool is the tool of this file that was called.
	Tool string
	// Node is the node's id, Kind the name of its type.
	Node, Kind string
	// File, Pos and End are the place of the failure: where in an expression,
	// if that is known, else the node.
	File     string
	Pos, End diag.Pos
	// Server and UpstreamTool are what the node calls; both are empty where it
	// calls nothing.
	Server, UpstreamTool string
	// Arguments are what the node sent there, undefined where it did not come to
	// that. Error shows the first 200 bytes of their JSON.
	Arguments value.Value
	// Err is the cause.
	Err error
}

// maxArguments bounds the arguments in the text of an error, in bytes.
const maxArguments = 200

// newNodeError describes the failure of n. The deepest place wins.
func newNodeError(g *graph.Graph, n *graph.Node, err error) *NodeError {
	e := &NodeError{
		Tool: g.Name, Node: n.ID, Kind: n.Kind.Name,
		File: g.File, Pos: n.Pos, End: n.End(),
		Server: n.Server, UpstreamTool: n.Tool, Err: err,
	}
	var at *graph.PosError
	if errors.As(err, &at) {
		e.Pos, e.End = at.Pos, at.End
	}
	return e
}

// Error names the tool, the node, its type, what it calls, the place and the
// cause, in plain text. The cause may have lines of its own, such as the last
// that an upstream process wrote.
func (e *NodeError) Error() string {
	place := ""
	if !e.Pos.IsZero() {
		place = fmt.Sprintf(" at %s:%s", e.File, e.Pos)
	}
	return fmt.Sprintf("tool %q failed in %s%s: %s", e.Tool, e.subject(), place, e.Err)
}

// subject names the node and what it calls.
func (e *NodeError) subject() string {
	if e.Server == "" {
		return fmt.Sprintf("node %q (%s)", e.Node, e.Kind)
	}
	sent := ""
	if !e.Arguments.IsUndefined() {
		sent = ", arguments " + e.Arguments.Preview(maxArguments)
	}
	return fmt.Sprintf("node %q (%s, tool %q of server %q%s)", e.Node, e.Kind, e.UpstreamTool, e.Server, sent)
}

// Unwrap gives the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// Diagnostic gives the failure in the form in which problems of a file are
// printed, with the line that it happened in.
func (e *NodeError) Diagnostic() diag.Diagnostic {
	return diag.Diagnostic{
		File: e.File, Pos: e.Pos, End: e.End, Severity: diag.Error, Code: CodeNodeFailed,
		Message: fmt.Sprintf("%s failed: %s", e.subject(), e.Err),
	}
}

// InterruptedError says that a run was ended to protect the process: there was too
// little memory for it. No node has failed.
type InterruptedError struct {
	// Tool is the tool of this file that was called.
	Tool string
	// Err is the cause, a *memory.Error.
	Err error
}

// Error names the tool and the cause.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("tool %q was interrupted: %s", e.Tool, e.Err)
}

// Unwrap returns the cause.
func (e *InterruptedError) Unwrap() error { return e.Err }

// PanicError says that a node panicked, which is a mistake in the program.
type PanicError struct {
	Value any // that the node panicked with
}

// Error gives the value.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

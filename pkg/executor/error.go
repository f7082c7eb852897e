package executor

import (
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CodeNodeFailed is the code of the diagnostic that a NodeError returns.
const CodeNodeFailed = "node-failed"

// NodeError is the failure of one node of a run.
type NodeError struct {
	// Tool is the tool of this file that was called.
	Tool string
	// Node is the node's id, Kind the name of its type, and Path the way to it
	// through bodies and called tools: the id alone if there are none.
	Node, Kind, Path string
	// File, Pos and End are the place of the failure: where in an expression,
	// if that is known, else the node.
	File     string
	Pos, End diag.Pos
	// Server and UpstreamTool are what the node calls; both are empty where it
	// calls nothing.
	Server, UpstreamTool string
	// Arguments are what the node sent there, or undefined if it did not come to
	// that. Error shows the first 200 bytes of their JSON, without secrets among them; see
	// [Run.Mask].
	Arguments value.Value
	// Attempts counts the calls that were made for it.
	Attempts int
	// Err is the cause. It may be the failure of a node in a body.
	Err error

	mask MaskFunc // of the run
	// unsent are the arguments that were not sent, if that may be why the call failed.
	unsent []graph.Unsent
	// deliberate is true where the node is there to end the tool with a failure,
	// whose message then is the text as it is.
	deliberate bool
}

// maxArguments bounds the arguments in the text of an error, in bytes.
const maxArguments = 200

// newNodeError describes the failure of the node at which a frame stands. The
// deepest place wins.
func newNodeError(f *frame, err error) *NodeError {
	if f.node == nil {
		return &NodeError{Tool: f.run.graph.Name, Err: err}
	}
	if was, ok := err.(*NodeError); ok && was.Node == f.node.ID && was.Path == f.nodePath() {
		return was
	}
	x := f.extra.get()
	e := &NodeError{
		Tool: f.run.graph.Name, Node: f.node.ID, Kind: f.node.Kind.Name, Path: f.nodePath(),
		File: f.graph.File, Pos: f.node.Pos, End: f.node.End(),
		Server: f.node.Server, UpstreamTool: f.node.Tool, Arguments: x.sent, Attempts: x.attempts, Err: err,
		mask: f.run.mask,
	}
	e.deliberate = f.opener == nil && isDeliberate(f.node, err)
	var at *graph.PosError
	var inner *NodeError
	switch {
	case errors.As(err, &at):
		e.Pos, e.End = at.Pos, at.End
	case errors.As(err, &inner):
		e.File, e.Pos, e.End = inner.File, inner.Pos, inner.End
	case f.node.Tool != "" && !x.sent.IsUndefined():
		e.blameArguments(f.node)
	}
	return e
}

// blameArguments lets the failure of a call whose arguments do not fit its tool stand
// where the first of them is written, and say which expressions gave nothing.
func (e *NodeError) blameArguments(n *graph.Node) {
	failed := FailureOf(e.Err)
	if failed.Name != graph.FailArguments {
		return
	}
	first := ""
	if paths := failed.Data.Get("arguments").Elems(); len(paths) > 0 {
		first = paths[0].Str()
	}
	e.Pos, e.End = n.ArgumentPlace(first)
	e.unsent = n.Unsent(e.Arguments)
}

// reason returns the text of the cause, and what of the arguments was not sent.
func (e *NodeError) reason(text string) string {
	for _, u := range e.unsent {
		text += "; " + u.String()
	}
	return text
}

// isDeliberate reports whether an error is the failure that a node ends its walk
// with, which no rule of that walk handles.
func isDeliberate(n *graph.Node, err error) bool {
	if n == nil || n.Kind.Role != graph.Stop {
		return false
	}
	var given *graph.Failure
	return errors.As(err, &given) && !graph.IsFailure(given.Name)
}

func interrupted(err error) bool {
	var short *InterruptedError
	return errors.As(err, &short)
}

// Error names the tool, the node, its type, what it calls, the place and the
// cause, in plain text; it is the message of a fail node alone. The cause may have lines of its own, such as the last
// that an upstream process wrote.
func (e *NodeError) Error() string {
	switch {
	case e.deliberate:
		return e.Err.Error()
	case e.Node == "":
		return fmt.Sprintf("%s failed: %s", graph.Quoted(e.Tool), e.Err)
	}
	return fmt.Sprintf("%s failed in %s", graph.Quoted(e.Tool), e.text(e.where()))
}

func (e *NodeError) where() string {
	if e.Pos.IsZero() {
		return ""
	}
	return fmt.Sprintf(" at %s:%s", e.File, e.Pos)
}

// text describes the failure, with its place behind the node that it is of.
func (e *NodeError) text(place string) string {
	if inner, ok := e.Err.(*NodeError); ok {
		return fmt.Sprintf("%s: %s", e.subject(), inner.text(place))
	}
	return fmt.Sprintf("%s%s: %s", e.subject(), place, e.reason(e.Err.Error()))
}

// subject names the node and what it calls.
func (e *NodeError) subject() string {
	name := e.Node
	if e.Path != "" {
		name = e.Path
	}
	if e.Server == "" {
		return fmt.Sprintf("node %q (%s)", name, e.Kind)
	}
	sent := ""
	if args := e.MaskedArguments(); !args.IsUndefined() {
		sent = ", arguments " + args.Preview(maxArguments)
	}
	return fmt.Sprintf("node %q (%s, tool %q of server %q%s)", name, e.Kind, e.UpstreamTool, e.Server, sent)
}

// MaskedArguments returns e.Arguments without those that hold secrets.
func (e *NodeError) MaskedArguments() value.Value {
	if e.mask == nil || e.Arguments.IsUndefined() {
		return e.Arguments
	}
	return e.mask(e.Server, e.UpstreamTool, e.Arguments)
}

// WithoutArguments returns the error without what it and those of nodes beneath it sent.
func (e *NodeError) WithoutArguments() *NodeError {
	own := *e
	own.Arguments = value.Undef
	if inner, ok := e.Err.(*NodeError); ok {
		own.Err = inner.WithoutArguments()
	}
	return &own
}

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// Diagnostic returns the failure in the form in which problems of a file are
// printed, with the line that it happened in.
func (e *NodeError) Diagnostic() diag.Diagnostic {
	return diag.Diagnostic{
		File: e.File, Pos: e.Pos, End: e.End, Severity: diag.Error, Code: CodeNodeFailed,
		Message: e.subject() + " failed: " + e.cause(),
	}
}

// cause returns the text of what is beneath the node itself.
func (e *NodeError) cause() string {
	if inner, ok := e.Err.(*NodeError); ok {
		return inner.text("")
	}
	return e.reason(e.Err.Error())
}

// InterruptedError is returned if a run was ended to protect the process,
// because there was too little memory for it. No node has failed.
type InterruptedError struct {
	// Tool is the tool of this file that was called.
	Tool string
	// Err is the cause, a *memory.Error.
	Err error
}

// Error names the tool and the cause.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%s was interrupted: %s", graph.Quoted(e.Tool), e.Err)
}

// FailureName returns the name of the failure, which nothing handles.
func (e *InterruptedError) FailureName() string { return graph.FailInterrupted }

// Unwrap returns the cause.
func (e *InterruptedError) Unwrap() error {
	return e.Err
}

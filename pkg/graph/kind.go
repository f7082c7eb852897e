package graph

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Role is the part that a kind of node plays in every graph.
type Role uint8

const (
	// Inner is the role of all nodes between entry and exit.
	Inner Role = iota
	// Entry is the role of the one node at which a walk begins.
	Entry
	// Exit is the role of the one node at which a walk ends well.
	Exit
	// Stop is the role of nodes at which a walk ends with a failure.
	Stop
)

// isEnd reports whether a graph has one node of the role.
func (r Role) isEnd() bool { return r == Entry || r == Exit }

// Kind is a node type. Decode asks its Fields for everything the node takes
// and returns the step that the node performs; it reports problems through the
// Fields and goes on, and what it returns after a problem is never run. The
// same asks, made of Fields without a file, are what the JSON Schema and the
// documentation of the type are made of.
type Kind struct {
	// Name is the value of the YAML field `type`.
	Name string
	// Doc describes in one sentence what a node of the type does.
	Doc string
	// Role is Inner for all but the ends of a walk.
	Role Role
	// Asks is the request of the client that nodes of the type make with [Ask]; empty
	// for those that ask nothing.
	Asks string
	// Decode compiles one node.
	Decode func(*Fields) Step
}

// Step is what a node does when a run reaches it. Begin evaluates expressions
// and does no I/O: what it wants done it returns, for the run and its driver to
// do. It returns soon after ctx is done. A Step is immutable and runs for any
// number of callers at once.
type Step interface {
	Begin(ctx context.Context, in *Input) (Action, error)
}

// Ender is a Step that makes its output of the answer to its action: the reply
// of CallTool, the results of Fork and Invoke, the result of the request for Ask,
// undefined for Sleep. The output of a Step that is no Ender is the answer.
type Ender interface {
	Step
	End(ctx context.Context, in *Input, answer value.Value) (Output, error)
}

// Input is what a step may read. It is valid during the call that it is for.
type Input struct {
	// Args are what the graph of the node was given: the arguments of a tool, the
	// item of a map.
	Args value.Value
	// Previous is the output of the node executed just before.
	Previous value.Value
	// Env is what expressions are evaluated in.
	Env *expr.Env
	// Rejected is what was wrong with the attempt before this one; nil in the first.
	Rejected *Rejection
}

// Rejection is an attempt that failed.
type Rejection struct {
	// Answer is the answer to its [Ask], undefined if it asked nothing.
	Answer value.Value
	// Reason is why the attempt failed.
	Reason string
}

// Caller calls tools of upstream servers. Arguments are an object. The error
// is for calls that brought no reply; a reply with isError is a reply.
// info is what the call carries about its caller; it may be nil.
type Caller interface {
	CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (ToolResult, error)
}

// ToolResult is the reply of an upstream server.
type ToolResult struct {
	// Reply is the whole result object of tools/call.
	Reply value.Value
	// Attempts is how often the server was asked, 1 where that worked at once.
	Attempts int
	// FromCache is true where no server was asked.
	FromCache bool
	// AttemptTimes are the attempts, if there was more than one, in their order.
	AttemptTimes []Attempt
}

// Attempt is one attempt of several to do the same.
type Attempt struct {
	Start, End time.Time
	Err        error // why it failed; nil: it did not
}

// Output is what a step yields.
type Output struct {
	// Value is JSON or undefined.
	Value value.Value
	// Edge is the index, in the node's Edges, of the edge to follow, or NoEdge
	// where the graph ends.
	Edge int
}

// NoEdge stands for the edge that an exit takes, and for one that could not be
// decoded.
const NoEdge = -1

// PosError is a failure at a known place of the configuration file. Its text
// is that of Err; renderers show the place.
type PosError struct {
	Pos, End diag.Pos
	Err      error
}

func (e *PosError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PosError) Unwrap() error { return e.Err }

// at adds a place to err, unless it already has one.
func at(err error, pos, end diag.Pos) error {
	var deeper *PosError
	if errors.As(err, &deeper) {
		return err
	}
	return &PosError{Pos: pos, End: end, Err: err}
}

package graph

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Verb is the kind of an Action.
type Verb uint8

// What a step can ask for. CallTool and Ask are performed by the driver of the
// run, everything else by the run itself.
const (
	// Yield asks for nothing: the node is done, Value is its output.
	Yield Verb = iota
	// CallTool calls the node's Tool of its Server; Value is the arguments.
	CallTool
	// Fork runs the node's Bodies as its Spread configures. Value is the list of
	// items or, for branches, what each of them is given.
	Fork
	// Invoke runs the node's Callee; Value is its arguments.
	Invoke
	// Sleep waits: Value is a number of milliseconds, or a time in RFC 3339.
	Sleep
	// Ask waits for an answer of the client: Value is the params of the request, whose
	// method the kind of the node has.
	Ask
	// Detach waits for a run of the node's Callee that the driver has begun. No step
	// asks for it: drivers that can do it perform an Invoke of a Detached node so.
	Detach
)

// Action is what a step wants to be done: JSON and a verb.
type Action struct {
	Value value.Value
	// Edge is where the run goes on afterwards, unless End overrides it.
	Edge int
	Do   Verb
}

// Spread configures how a Fork runs the bodies of its node.
type Spread struct {
	// Each runs the one body for each item of a list; the answer is the list of
	// their results. Without it every body is a branch that runs once, and the
	// answer is an object of their results by Names.
	Each  bool
	Names []string
	// As and At name the variables that hold the item and its index, without
	// the dollar sign.
	As, At string
	// Limit is how many bodies run at the same time; 0 sets no bound.
	Limit int
	// Tolerate is how many bodies may fail. Where TolerateShare is not 0 it is
	// that many millionths of them instead.
	Tolerate      int
	TolerateShare int
	// First ends the fork with the first body that ends well; the answer has
	// its result alone.
	First bool
}

// Policy configures what happens when a node fails or takes too long. The zero
// Policy does nothing about it.
type Policy struct {
	// Timeout bounds one attempt; 0 is no bound.
	Timeout time.Duration
	// Retry are tried in order: the first whose Errors match applies.
	Retry []RetryRule
	// Catch are tried in order, after Retry; their Edge is one of the node's.
	Catch []CatchRule
}

// Approval configures the approval that a node needs before it calls its tool.
type Approval struct {
	// Once asks once in a run for all calls of the tool.
	Once bool
}

// RetryRule configures when a node is tried again.
type RetryRule struct {
	// Errors are names, HTTP statuses, classes of them such as 5xx, or JSON-RPC
	// codes. Without any the rule is for what may be different next time.
	Errors []string
	// MaxAttempts counts the first try, too.
	MaxAttempts int
	// The n-th retry waits for InitialDelay times Backoff to the n-1, at most
	// MaxDelay, and with Jitter for a random part of that, half of it at least.
	InitialDelay, MaxDelay time.Duration
	Backoff                float64
	Jitter                 bool
}

// CatchRule configures where a run goes on after a failure.
type CatchRule struct {
	// Errors are as in RetryRule; without any the rule is for all.
	Errors []string
	// When is an expression over $error that must be true; nil is true.
	When *Program
	// Edge is the index of the edge to follow.
	Edge int
}

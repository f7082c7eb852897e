package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The names of failures. A fail node of a file can define others.
const (
	FailToolError   = "toolError"       // the tool answered with isError
	FailConnect     = "connect"         // no connection to the server
	FailClosed      = "closed"          // the connection ended
	FailTimeout     = "timeout"         // of a call or a node
	FailMalformed   = "malformed"       // the reply is not what MCP has
	FailDenied      = "unauthorized"    // credentials are refused or missing
	FailBusy        = "busy"            // an open circuit, no turn in time, too many parked runs
	FailProtocol    = "protocol"        // any other JSON-RPC error or HTTP status
	FailDrift       = "drift"           // the tool differs from the lock file
	FailNotLocked   = "notLocked"       // the tool is not in the lock file
	FailOutput      = "output"          // the reply lacks what `output` asks for
	FailExpression  = "expression"      // JSONata or JSON Logic failed
	FailNoRoute     = "noRoute"         // a switch without a way
	FailArguments   = "arguments"       // they do not fit the schema of a called tool
	FailResult      = "result"          // of a called tool
	FailTooMany     = "tooManyFailures" // of a map
	FailDeclined    = "declined"        // a person refused
	FailCannotAsk   = "cannotAsk"       // the client cannot be asked
	FailAnswer      = "answer"          // does not fit the schema of the question
	FailUnknown     = "unknown"         // the worker of a call was lost: the server may have acted
	FailTooLarge    = "tooLarge"        // arguments or a reply above what a durable run can keep
	FailLimit       = "limit"           // of the run; never handled
	FailCancelled   = "cancelled"       // by the client; never handled
	FailInterrupted = "interrupted"     // to protect the process; never handled
	FailInternal    = "internal"        // a mistake in mcpgraph; never handled
)

// AllFailures in a rule matches every failure that may be handled.
const AllFailures = "all"

// Failure is the failure of a node as graphs, records and clients see it.
type Failure struct {
	// Name is one of the names above, or that of a fail node.
	Name string
	// Message is for people.
	Message string
	// Node is the id of the node, Type the name of its type, and Path the way to
	// it through bodies and called tools.
	Node, Type, Path string
	// Server, Tool and Attempts are those of an upstream call.
	Server, Tool string
	Attempts     int
	// Code is an HTTP status, or a code of JSON-RPC or JSONata; empty if there is
	// none.
	Code string
	// Reply is the reply of a tool that failed; Data what a fail node, or a fork
	// of which too many bodies failed, adds. They are undefined if there are none.
	Reply, Data value.Value
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Value returns the failure as the object that expressions see as $error.
func (f *Failure) Value() value.Value {
	b := value.NewBuilder(10)
	text := func(key, s string) {
		if s != "" {
			b.Set(key, value.FromString(s))
		}
	}
	b.Set("name", value.FromString(f.Name))
	b.Set("message", value.FromString(f.Message))
	text("node", f.Node)
	text("type", f.Type)
	text("path", f.Path)
	text("server", f.Server)
	text("tool", f.Tool)
	if f.Attempts > 0 {
		b.Set("attempts", value.FromInt(int64(f.Attempts)))
	}
	if n, err := strconv.Atoi(f.Code); err == nil {
		b.Set("code", value.FromInt(int64(n)))
	} else {
		text("code", f.Code)
	}
	if !f.Reply.IsUndefined() {
		b.Set("reply", f.Reply)
	}
	if !f.Data.IsUndefined() {
		b.Set("data", f.Data)
	}
	return b.Value()
}

// FailureFrom returns the failure whose Value v is.
func FailureFrom(v value.Value) *Failure {
	f := &Failure{
		Name: v.Get("name").Str(), Message: v.Get("message").Str(),
		Node: v.Get("node").Str(), Type: v.Get("type").Str(), Path: v.Get("path").Str(),
		Server: v.Get("server").Str(), Tool: v.Get("tool").Str(),
		Reply: v.Get("reply"), Data: v.Get("data"),
	}
	if n := v.Get("attempts"); n.Kind() == value.Number {
		f.Attempts = int(n.Float())
	}
	switch code := v.Get("code"); code.Kind() {
	case value.String:
		f.Code = code.Str()
	case value.Number:
		f.Code = code.JSON()
	}
	return f
}

// IsFailure reports whether a failure of mcpgraph itself has this name, or the
// name matches all failures in rules.
func IsFailure(name string) bool {
	return name == AllFailures || slices.Contains(failureNames, name) || slices.Contains(reservedNames, name)
}

// Reserved reports whether nothing may handle the failure.
func (f *Failure) Reserved() bool {
	return slices.Contains(reservedNames, f.Name)
}

// sameAgain are the failures that a retry without Errors is not for.
var sameAgain = []string{FailExpression, FailNoRoute, FailOutput, FailArguments, FailDeclined, FailCannotAsk, FailDrift, FailNotLocked, FailTooLarge}

// Matches reports whether the rule is for the failure.
func (r *RetryRule) Matches(f *Failure) bool {
	if len(r.Errors) == 0 {
		return !f.Reserved() && !slices.Contains(sameAgain, f.Name)
	}
	return f.among(r.Errors)
}

// Matches reports whether the rule is for the failure, its When aside.
func (r *CatchRule) Matches(f *Failure) bool {
	if len(r.Errors) == 0 {
		return !f.Reserved()
	}
	return f.among(r.Errors)
}

func (f *Failure) among(rules []string) bool {
	return !f.Reserved() && slices.ContainsFunc(rules, func(rule string) bool {
		if rule == AllFailures || rule == f.Name || rule == f.Code {
			return rule != ""
		}
		class, ok := strings.CutSuffix(rule, "xx")
		return ok && len(f.Code) == 3 && len(class) == 1 && f.Code[:1] == class
	})
}

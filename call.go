package mcpgraph

import (
	"context"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CallOption changes one call.
type CallOption func(*callOptions)

type callOptions struct {
	info   *callinfo.Info
	engine engine.CallOptions
	debug  debug.Options
}

func newCallOptions(opts []CallOption) callOptions {
	if len(opts) == 0 {
		return callOptions{} // without an allocation
	}
	return appliedOptions(opts)
}

func appliedOptions(opts []CallOption) callOptions {
	var o callOptions
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithCallInfo lets the call carry info about its caller: who it is, and the
// header and _meta that entries with forwardHeaders, forwardMeta or auth take
// credentials from. The info belongs to this call, which sets the fields that are
// the engine's.
func WithCallInfo(info *callinfo.Info) CallOption {
	return func(o *callOptions) { o.info = info }
}

// WithCallHooks observes one call, inside the hooks of the Engine.
func WithCallHooks(hooks ...executor.Hooks) CallOption {
	return func(o *callOptions) { o.engine.Hooks = append(o.engine.Hooks, hooks...) }
}

// AskFunc answers what a run asks the client. What that is depends on q.Method (MCP
// 2025-11-25, Elicitation, Sampling, Roots), of which q.Value has the params:
//
//   - [graph.AskPerson]: an ask node, or a call that needs approval, asks a person.
//     The params are message, and requestedSchema or url. It returns an [Answer].
//   - [graph.AskModel]: a sample node asks a language model. The params are messages,
//     maxTokens and more. It returns what the model said, such as a [ModelAnswer].
//   - [graph.AskRoots]: a roots node asks for folders. It returns an object with roots.
//
// An answer with the action [Decline] refuses each of them; q.Result makes the result
// of short forms. It returns soon after ctx is done. Questions of one run can come at
// the same time.
type AskFunc func(ctx context.Context, q executor.Question) (value.Value, error)

// Actions of an [Answer].
const (
	Accept  = graph.Accept
	Decline = graph.Decline
	Cancel  = graph.Cancel
)

// Answer returns the answer to a question: what the person chose and, for Accept,
// what was filled in, an object; undefined means nothing.
func Answer(action string, content value.Value) value.Value {
	b := value.NewBuilder(2)
	b.Set("action", value.FromString(action))
	if !content.IsUndefined() {
		b.Set("content", content)
	}
	return b.Value()
}

// ModelAnswer returns the answer to a question for a model: what it said, and its name.
func ModelAnswer(text, model string) value.Value {
	block := value.NewBuilder(2)
	block.Set("type", value.FromString("text"))
	block.Set("text", value.FromString(text))
	b := value.NewBuilder(4)
	b.Set("role", value.FromString("assistant"))
	b.Set("content", block.Value())
	b.Set("model", value.FromString(model))
	b.Set("stopReason", value.FromString("endTurn"))
	return b.Value()
}

// WithAsk answers what ask, sample and roots nodes and calls that need approval ask.
// Without it they fail with cannotAsk.
func WithAsk(ask AskFunc) CallOption {
	return func(o *callOptions) { o.engine.Ask = engine.AskFunc(ask) }
}

// Result is what one call gave.
type Result struct {
	// Value is the tool's result, null where its last expression yielded
	// nothing. It is undefined where the call failed.
	Value value.Value
	// History has one record for each node execution, in order.
	History []executor.Record
}

// JSON returns the value as compact JSON, keys in their order.
func (r *Result) JSON() string { return r.Value.JSON() }

// Call runs the tool with this name. Arguments are anything that encodes to a
// JSON object, a [value.Value] as it is; nil means none. Where the walk began,
// the Result is there even if it failed, with the history so far.
//
// The error is a *server.UnknownToolError, or that of arguments or a result
// which do not fit the tool's schema (it wraps a *graph.SchemaError), or of a
// node (an *executor.NodeError, which wraps an *executor.LimitError, an
// *upstream.Error or the cause with which ctx ended, where it was one of
// these), or an *executor.InterruptedError if there is too little memory (see
// [WithMemory]).
//
// The run is kept among those of [Engine.Runs], which it enters as it ends. It
// runs on the graph that it found, whatever Reload does meanwhile.
func (e *Engine) Call(ctx context.Context, tool string, args any, opts ...CallOption) (*Result, error) {
	o := newCallOptions(opts)
	p := e.engine.Use()
	defer p.Release()
	r, err := p.Call(ctx, o.info, tool, args, o.engine)
	if r == nil {
		return nil, err
	}
	return &Result{Value: r.Value, History: r.Run.History()}, err
}

// WithDebug says how a session of [Engine.Debug] begins: paused, with breakpoints and
// pins, or from a place in another run.
func WithDebug(o debug.Options) CallOption {
	return func(all *callOptions) { all.debug = o }
}

// MaxSessions is how many sessions of one Engine can be under way at the same time.
const MaxSessions = runs.MaxSessions

// ErrTooManySessions is returned by [Engine.Debug] if there are as many as there can
// be.
var ErrTooManySessions = runs.ErrTooManySessions

// Debug calls a tool as [Engine.Call] does, under control: the run can be paused before
// each node, looked into, changed and stopped. It returns at once, with the errors of
// Call that come before the run begins. ctx bounds the session, not this call: when it
// ends, the run is stopped. Ask questions can be answered through the session; [WithAsk]
// is asked beside it. With [debug.Options.From] args must be nil.
func (e *Engine) Debug(ctx context.Context, tool string, args any, opts ...CallOption) (*debug.Session, error) {
	o := newCallOptions(opts)
	p := e.engine.Use()
	defer p.Release()
	return p.Debug(ctx, o.info, tool, args, o.debug, o.engine)
}

// UnknownNodeError is returned by [Engine.RunNode] for a node that the tool does not
// have, or a member of the document that the node cannot read.
type UnknownNodeError = engine.UnknownNodeError

// RunNode runs one node of a tool, or of a body in it, over a document: the outputs
// of nodes by their ids, in the order of execution, and variables of the bodies around
// the node by their names, $ included. It calls the upstream tools that the node
// calls. The record has the output, the next node and, if a rule of the graph handled
// one, the failure. The error is a *server.UnknownToolError or an
// *[UnknownNodeError], or that of the node, as of [Engine.Call]. The run is not kept.
func (e *Engine) RunNode(ctx context.Context, tool, node string, document value.Value, opts ...CallOption) (executor.Record, error) {
	o := newCallOptions(opts)
	p := e.engine.Use()
	defer p.Release()
	return p.RunNode(ctx, o.info, tool, node, document, o.engine)
}

// NodeIDs returns the ids of the nodes of a tool and of the bodies in it, in the order
// of the file; none if there is no such tool.
func (e *Engine) NodeIDs(tool string) []string {
	g, err := e.engine.Current().Graph(tool)
	if err != nil {
		return nil
	}
	return engine.NodeIDs(g)
}

// Runs returns the runs of the recent past, of every caller.
func (e *Engine) Runs() *runs.Store { return e.engine.Runs() }

// Redact takes secrets out of a text that is to be shown or kept: the values that
// came into the file from the environment, the tokens that were got for its
// servers, and what a call with info sent to servers for its caller; info may be
// nil. Log records, errors, spans and kept runs have none anyway.
func (e *Engine) Redact(info *callinfo.Info, text string) string { return e.engine.Redact(info, text) }

// RedactValue is Redact for every string in v, keys included. A number with a
// secret in its digits becomes a string.
func (e *Engine) RedactValue(info *callinfo.Info, v value.Value) value.Value {
	return e.engine.RedactValue(info, v)
}

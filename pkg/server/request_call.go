package server

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// readCall reads the params of tools/call into r (MCP 2025-11-25,
// CallToolRequest).
func readCall(r *Request) *rpcError { return readNamed(r, "") }

// readGet reads the params of prompts/get into r (MCP 2025-11-25,
// GetPromptRequest).
func readGet(r *Request) *rpcError { return readNamed(r, promptTarget) }

// readNamed reads the params of a call by name. Missing arguments, and null, which
// some clients send, become {}.
func readNamed(r *Request, target string) *rpcError {
	name := r.params.Get("name")
	if name.Kind() != value.String {
		return rpcErrorf(mcp.INVALID_PARAMS, "%s: name must be a string, found %s", r.Method, graph.Describe(name))
	}
	args, rpcErr := r.param("arguments", value.Object)
	if rpcErr != nil {
		return rpcErr
	}
	if args.IsUndefined() {
		args = value.FromEntries(nil)
	}
	r.Tool, r.Args = target+name.Str(), args
	return checkState(r)
}

// readURI reads the params of methods whose only param is a URI into r.
func readURI(r *Request) *rpcError {
	uri := r.params.Get("uri")
	if uri.Kind() != value.String {
		return rpcErrorf(mcp.INVALID_PARAMS, "%s: uri must be a string, found %s", r.Method, graph.Describe(uri))
	}
	r.URI = uri.Str()
	return checkState(r)
}

// checkState checks what a call that goes on carries. Ignored, the call would start
// again or ask again.
func checkState(r *Request) *rpcError {
	if !r.modern {
		return nil
	}
	if _, rpcErr := r.param("requestState", value.String); rpcErr != nil {
		return rpcErr
	}
	_, rpcErr := r.param("inputResponses", value.Object)
	return rpcErr
}

// checkCall refuses calls of tools that do not exist or that the caller may not
// call.
func checkCall(p *snapshot, r *Request) *rpcError {
	o := p.toolsByName[r.Tool]
	if o == nil || p.hidden(r, o) {
		return p.unknown(r, "tool", r.Tool, p.tools)
	}
	r.offer, r.Tool = o, o.target // which, unlike the name in the message, keeps nothing else
	if rpcErr := o.checkTask(r); rpcErr != nil {
		return rpcErr
	}
	return p.scopes.check(r, o)
}

// answerCall answers tools/call, prompts/get and resources/read.
func answerCall(ctx context.Context, r *reply) ([]byte, *rpcError) {
	v, err := r.run(ctx)
	if err != nil {
		return r.fail(ctx, err)
	}
	account := memory.AccountOf(ctx)
	counted, err := countResult(account, v, r.offer.verbatim)
	if err != nil {
		return r.fail(ctx, err)
	}
	text := r.appendResult(nil, v)
	if more := int64(cap(text)) - counted; more > 0 { // escapes can make it longer
		if err := account.Grow(more); err != nil {
			return r.fail(ctx, err)
		}
	}
	return text, nil
}

// run runs what is called once a slot is free.
func (r *reply) run(ctx context.Context) (v value.Value, err error) {
	defer func() {
		if x := recover(); x != nil {
			r.logger().ErrorContext(ctx, "a call panicked", "tool", r.Tool, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			err = fmt.Errorf("%v: internal error", r.offer)
			if r.Header == nil { // the one client of this process
				err = fmt.Errorf("%w: %v", err, x)
			}
		}
	}()
	r.reporter = newReporter(ctx, r.Request)
	defer r.reporter.end()
	r.reporter.Doing(func() string { return "waiting for its turn" })
	if err := r.slot.wait(ctx); err != nil {
		if ctx.Err() == nil {
			r.reason = "busy"
		}
		return value.Undef, err
	}
	r.reporter.Doing(nil)
	return r.offer.call(ctx, r.Request)
}

// CallError is an error of a CallFunc that says more than its text.
type CallError struct {
	// Failure is an object. The result carries it in its _meta, under
	// "mcpgraph/error".
	Failure value.Value
	Err     error
}

// Error returns the text of Err.
func (e *CallError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

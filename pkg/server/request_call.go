package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// readCall reads the params of tools/call into r (MCP 2025-11-25,
// CallToolRequest). Missing arguments, and null, which some clients send,
// become {}.
func (r *Request) readCall() *rpcError {
	name := r.params.Get("name")
	if name.Kind() != value.String {
		return rpcErrorf(mcp.INVALID_PARAMS, "tools/call: name must be a string, found %s", graph.Describe(name))
	}
	args, rpcErr := r.param("arguments", value.Object)
	if rpcErr != nil {
		return rpcErr
	}
	if r.modern {
		// Ignored, the call would start again or ask again.
		if _, rpcErr := r.param("requestState", value.String); rpcErr != nil {
			return rpcErr
		}
		if _, rpcErr := r.param("inputResponses", value.Object); rpcErr != nil {
			return rpcErr
		}
	}
	if args.IsUndefined() {
		args = value.FromEntries(nil)
	}
	r.Tool, r.Args = name.Str(), args
	return nil
}

// checkCall refuses calls of tools that do not exist or that the caller may not
// call.
func (p *snapshot) checkCall(r *Request) *rpcError {
	if _, known := slices.BinarySearch(p.names, r.Tool); !known || p.hidden(r, r.Tool) {
		return p.unknownTool(r, r.Tool)
	}
	return p.scopes.check(r)
}

// callTool answers tools/call. A failure becomes a result with isError: clients
// do not show JSON-RPC errors to the model.
func (p *snapshot) callTool(ctx context.Context, r *Request) ([]byte, *rpcError) {
	v, err := p.runTool(ctx, r)
	if err != nil {
		if refused := (*InvalidParamsError)(nil); errors.As(err, &refused) {
			return nil, rpcErrorf(mcp.INVALID_PARAMS, "tools/call: %s", refused.Message)
		}
		if missing := (*MissingCapabilityError)(nil); errors.As(err, &missing) && r.modern {
			return nil, missing.rpcError()
		}
		return p.failCall(ctx, r, err), nil
	}
	account := memory.AccountOf(ctx)
	counted, err := countResult(account, v, p.blocks[r.Tool])
	if err != nil {
		return p.failCall(ctx, r, err), nil
	}
	text := p.finishCall(r, v, nil)
	if more := int64(cap(text)) - counted; more > 0 { // escapes can make it longer
		if err := account.Grow(more); err != nil {
			text = p.finishCall(r, value.Undef, err)
		}
	}
	return text, nil
}

// shortAnswer is the length of an answer, in bytes, that is sent even if there is
// no memory for it.
const shortAnswer = 4 << 10

// failCall returns the answer to a call that failed with err, whose text may be as
// long as the reply of a server.
func (p *snapshot) failCall(ctx context.Context, r *Request, err error) []byte {
	text := p.finishCall(r, value.Undef, err)
	if short := memory.AccountOf(ctx).Grow(int64(cap(text) + len(r.failure))); short != nil && len(text) > shortAnswer {
		text = p.finishCall(r, value.Undef, short)
	}
	return text
}

// finishCall returns the answer to a call that returned v or failed with err.
func (p *snapshot) finishCall(r *Request, v value.Value, err error) []byte {
	r.result = v
	dst := append(jsonrpc.AppendResultStart(make([]byte, 0, 256), r.ID), '{')
	if required := (*InputRequiredError)(nil); errors.As(err, &required) && r.modern {
		r.inputRequired = true
		dst = append(append(appendInputRequired(dst, required), `,"_meta":{`...), p.identity...)
		return append(dst, "}}}"...)
	}
	dst = append(dst, `"content":`...)
	switch {
	case err != nil:
		r.failed, r.failure = true, err.Error()
		dst = append(appendText(dst, r.failure), `,"isError":true`...)
	case p.blocks[r.Tool]:
		dst = v.Append(dst)
	default:
		dst = appendValue(dst, v, r.modern)
	}
	if r.modern {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	failed := (*CallError)(nil)
	if errors.As(err, &failed) || r.modern {
		dst = append(dst, `,"_meta":{`...)
		if r.modern {
			dst = append(dst, p.identity...)
		}
		if failed != nil {
			if r.modern {
				dst = append(dst, ',')
			}
			dst = failed.Failure.Append(append(dst, `"mcpgraph/error":`...))
		}
		dst = append(dst, '}')
	}
	return append(dst, "}}"...)
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

// runTool runs the tool once a slot is free.
func (p *snapshot) runTool(ctx context.Context, r *Request) (v value.Value, err error) {
	defer func() {
		if x := recover(); x != nil {
			p.logOf(r).ErrorContext(ctx, "a tool call panicked", "tool", r.Tool, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			err = fmt.Errorf("tool %q: internal error: %v", r.Tool, x)
		}
	}()
	if err := r.slot.wait(ctx); err != nil {
		if ctx.Err() == nil {
			r.reason = "busy"
		}
		return value.Undef, err
	}
	r.reporter = newReporter(r)
	defer r.reporter.end()
	return p.call(ctx, r)
}

// appendValue appends a tool's value as text, and where the revision permits it as
// structured content: before 2026-07-28 only an object. The text is made where the
// structured content goes, so a long one is not held twice.
func appendValue(dst []byte, v value.Value, anyKind bool) []byte {
	if v.Kind() == value.Undefined || v.Kind() == value.Func {
		v = value.NullValue
	}
	size := v.TextSize()
	gap := len(dst) + size + size/4 + 256 // where the quoted text probably ends
	whole := slices.Grow(dst, gap-len(dst)+size+size/16+64)
	text := v.Append(whole[gap:gap])
	dst = append(whole[:len(dst):gap], `[{"type":"text","text":`...) // behind gap is text
	dst = append(value.AppendText(dst, text), "}]"...)
	if v.Kind() != value.Object && !anyKind {
		return dst
	}
	dst = append(dst, `,"structuredContent":`...)
	if cap(dst) == gap { // there was room
		dst = whole[:len(dst)]
	}
	return append(dst, text...)
}

// appendText appends a list with one text block.
func appendText(dst []byte, text string) []byte {
	dst = value.AppendString(append(dst, `[{"type":"text","text":`...), text)
	return append(dst, "}]"...)
}

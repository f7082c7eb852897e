package server

import (
	"context"
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
// CallToolRequest). Absent arguments, and null, which some clients send for them,
// are {}.
func (r *Request) readCall() *rpcError {
	name := r.params.Get("name")
	if name.Kind() != value.String {
		return rpcErrorf(mcp.INVALID_PARAMS, "tools/call: name must be a string, found %s", graph.Describe(name))
	}
	args, rpcErr := r.param("arguments", value.Object)
	if rpcErr != nil {
		return rpcErr
	}
	if args.IsUndefined() {
		args = value.FromEntries(nil)
	}
	r.Tool, r.Args = name.Str(), args
	return nil
}

// checkCall refuses calls of tools that are not there, or not for the caller.
func (p *published) checkCall(r *Request) *rpcError {
	if _, known := slices.BinarySearch(p.names, r.Tool); !known || p.hidden(r, r.Tool) {
		return p.unknownTool(r, r.Tool)
	}
	return p.scopes.check(r)
}

// callTool answers tools/call. A failure is a result, never an error: an error
// would reach the client as JSON-RPC's, which a model does not see.
func (p *published) callTool(ctx context.Context, r *Request) ([]byte, *rpcError) {
	v, err := p.runTool(ctx, r)
	if err != nil {
		return p.finishCall(r, value.Undef, err), nil
	}
	held := memory.AccountOf(ctx)
	counted, err := countResult(held, v, p.blocks[r.Tool])
	if err != nil {
		return p.finishCall(r, value.Undef, err), nil
	}
	text := p.finishCall(r, v, nil)
	if more := int64(cap(text)) - counted; more > 0 { // escapes can make it longer
		if err := held.Grow(more); err != nil {
			text = p.finishCall(r, value.Undef, err)
		}
	}
	return text, nil
}

// finishCall returns the answer to a call with its value or the reason why it
// failed.
func (p *published) finishCall(r *Request, v value.Value, err error) []byte {
	r.result = v
	dst := append(jsonrpc.AppendResultStart(make([]byte, 0, 256), r.ID), `{"content":`...)
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
		dst = append(append(dst, `,"resultType":"complete","_meta":{`...), p.identity...)
		dst = append(dst, '}')
	}
	return append(dst, "}}"...)
}

// runTool runs the tool when its turn has come.
func (p *published) runTool(ctx context.Context, r *Request) (v value.Value, err error) {
	defer func() {
		if x := recover(); x != nil {
			p.log.ErrorContext(ctx, "a tool call panicked", "tool", r.Tool, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
			err = fmt.Errorf("tool %q: internal error: %v", r.Tool, x)
		}
	}()
	if err := r.turn.wait(ctx); err != nil {
		if ctx.Err() == nil {
			r.reason = "busy"
		}
		return value.Undef, err
	}
	r.reporter = newReporter(r)
	defer r.reporter.end()
	return p.call(ctx, r.Tool, r.Args)
}

// appendValue appends a tool's value as text, and where the revision permits it as
// structured content: before 2026-07-28 only an object.
func appendValue(dst []byte, v value.Value, anyKind bool) []byte {
	if v.Kind() == value.Undefined || v.Kind() == value.Func {
		v = value.NullValue
	}
	text := v.JSON()
	dst = appendText(slices.Grow(dst, 2*len(text)+len(text)/4+256), text)
	if v.Kind() == value.Object || anyKind {
		dst = append(append(dst, `,"structuredContent":`...), text...)
	}
	return dst
}

// appendText appends a list of one text block.
func appendText(dst []byte, text string) []byte {
	dst = value.AppendString(append(dst, `[{"type":"text","text":`...), text)
	return append(dst, "}]"...)
}

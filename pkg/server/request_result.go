package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// message returns the answer with a result that has these members. Since
// revision 2026-07-28 it also names the server, says that the result is
// complete and, if cacheable, that it is private and expires at once.
func (r *reply) message(members []byte, cacheable bool) []byte {
	return append(append(r.appendStart(nil, len(members), cacheable), members...), "}}"...)
}

// appendStart appends the answer up to the members, of which there are about so many
// bytes.
func (r *reply) appendStart(dst []byte, members int, cacheable bool) []byte {
	dst = slices.Grow(dst, members+len(r.from.identity)+len(r.ID)+256)
	dst = append(jsonrpc.AppendResultStart(dst, r.ID), '{')
	if !r.modern {
		return dst
	}
	dst = append(append(dst, `"_meta":{`...), r.from.identity...)
	if r.subscription != nil {
		dst = value.AppendString(append(dst, ','), mcp.MetaKeySubscriptionID)
		dst = append(append(dst, ':'), r.ID...)
	}
	dst = append(dst, `},"resultType":"complete"`...)
	if cacheable {
		dst = append(dst, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	if members > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// appendResult appends the answer to a call that returned v.
func (r *reply) appendResult(dst []byte, v value.Value) []byte {
	r.result = v
	switch mcp.MCPMethod(r.Method) {
	case mcp.MethodPromptsGet:
		dst = r.appendStart(dst, v.TextSize(), false)
		at := len(dst)
		dst = v.Append(dst)
		// Its members become members of the result.
		dst = append(dst[:at], dst[at+1:len(dst)-1]...)
		return append(dst, "}}"...)
	case mcp.MethodResourcesRead:
		dst = append(r.appendStart(dst, v.TextSize()+16, true), `"contents":`...)
		return append(v.Append(dst), "}}"...)
	}
	return r.appendToolResult(dst, v, nil)
}

// appendToolResult appends the answer to a call of a tool that returned v or failed
// with err.
func (r *reply) appendToolResult(dst []byte, v value.Value, err error) []byte {
	if err != nil {
		r.failed, r.failure = true, err.Error()
	}
	dst = jsonrpc.AppendResultStart(slices.Grow(dst, 256), r.ID)
	return append(r.from.appendCallResult(dst, v, err, r.offer.verbatim, r.modern), '}')
}

// metaError is where results, and the data of errors, carry a failure.
const metaError = "mcpgraph/error"

// shortAnswer is the length of an answer, in bytes, that is sent even if there is
// no memory for it.
const shortAnswer = 4 << 10

// fail returns the answer to a call that failed with err, whose text may be as
// long as the reply of a server. The failure of a tool becomes a result with isError:
// clients do not show JSON-RPC errors to the model. Prompts and resources have
// nothing like it.
func (r *reply) fail(ctx context.Context, err error) ([]byte, *rpcError) {
	if refused := (*InvalidParamsError)(nil); errors.As(err, &refused) {
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: %s", r.Method, refused.Message)
	}
	if missing := (*MissingCapabilityError)(nil); errors.As(err, &missing) && r.modern {
		return nil, missing.rpcError()
	}
	r.result = value.Undef
	if task := (*TaskError)(nil); errors.As(err, &task) {
		return r.appendTask(make([]byte, 0, 512), task.Task), nil
	}
	if required := (*InputRequiredError)(nil); errors.As(err, &required) && r.modern {
		r.inputRequired = true
		dst := append(jsonrpc.AppendResultStart(make([]byte, 0, 256), r.ID), '{')
		dst = append(append(appendInputRequired(dst, required), `,"_meta":{`...), r.from.identity...)
		return append(dst, "}}}"...), nil
	}
	account := memory.AccountOf(ctx)
	if r.Method != string(mcp.MethodToolsCall) {
		e := callError(r, err)
		size := int64(len(e.Message) + e.Data.TextSize())
		if short := account.Grow(2 * size); short != nil && size > shortAnswer {
			e = callError(r, short)
		}
		return nil, e
	}
	text := r.appendToolResult(nil, value.Undef, err)
	if short := account.Grow(int64(cap(text) + len(r.failure))); short != nil && len(text) > shortAnswer {
		text = r.appendToolResult(nil, value.Undef, short)
	}
	return text, nil
}

// callError returns the error of a call of a prompt or a resource that failed.
func callError(r *reply, err error) *rpcError {
	short := (*memory.Error)(nil)
	switch {
	case errors.Is(err, ErrNotFound) && r.URI != "":
		return unknownResource(r.Request)
	case r.reason == "busy":
		return busyError(err)
	}
	e := &rpcError{Error: jsonrpc.Error{Code: mcp.INTERNAL_ERROR, Message: err.Error()}, failed: true}
	failed := (*CallError)(nil)
	switch {
	case errors.As(err, &failed):
		e.Data = value.FromEntries([]value.Entry{{Key: metaError, Value: failed.Failure}})
		if f := failed.Failure; f.Get("name").Str() == graph.FailArguments && !f.Has("node") { // of the request itself
			e.Code = mcp.INVALID_PARAMS
		}
	case errors.As(err, &short):
		e.status = http.StatusServiceUnavailable
	}
	return e
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

// appendTask appends the answer to a call that goes on as a task.
func (r *reply) appendTask(dst []byte, t Task) []byte {
	dst = append(jsonrpc.AppendResultStart(dst, r.ID), `{"resultType":"task",`...)
	dst = append(append(t.appendMembers(dst), `,"_meta":{`...), r.from.identity...)
	return append(dst, "}}}"...)
}

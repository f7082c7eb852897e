package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Methods of the tasks extension. Their header Mcp-Name is the id of the task.
const (
	methodTasksGet    mcp.MCPMethod = "tasks/get"
	methodTasksUpdate mcp.MCPMethod = "tasks/update"
	methodTasksCancel mcp.MCPMethod = "tasks/cancel"
)

// pollInterval is how often clients should ask for the state of a task.
const pollInterval = time.Second

// missingTasks says that the client did not declare the extension.
var missingTasks = &MissingCapabilityError{value.FromEntries([]value.Entry{
	{Key: "extensions", Value: value.FromEntries([]value.Entry{{Key: TasksExtension, Value: value.FromEntries(nil)}})},
})}

// declaresTasks reports whether the client declared the tasks extension.
func (r *Request) declaresTasks() bool {
	declared := r.Meta.Get(mcp.MetaKeyClientCapabilities).Get("extensions").Get(TasksExtension)
	return r.modern && declared.Kind() == value.Object
}

// WantsTask reports whether a call of a tool is to be answered with a task: the tool
// can be one, and the client declared the extension. The [CallFunc] returns a
// *[TaskError] then, unless the result is there soon.
func (r *Request) WantsTask() bool {
	return r.offer != nil && r.offer.task.possible() && r.declaresTasks()
}

// Blocks reports whether the tool that is called returns content blocks.
func (r *Request) Blocks() bool { return r.offer != nil && r.offer.verbatim }

// checkTask refuses a call of a tool that runs only as a task, of a client that
// cannot have one.
func (o *offer) checkTask(r *Request) *rpcError {
	switch {
	case o.task != TaskRequired, r.declaresTasks():
		return nil
	case r.modern:
		return missingTasks.rpcError()
	}
	return rpcErrorf(mcp.METHOD_NOT_FOUND, "%s runs only as a task, which needs protocol version %s and the extension %s",
		o.label, mcp.ProtocolVersion20260728, TasksExtension)
}

// Detached is a request that goes on after it was answered. It cannot report
// anything to its client any more. It holds the slot of the call until Release.
type Detached struct {
	Request
	limiter *callLimiter
}

// Detach returns a copy of a call that outlives its answer, with copies of what
// belongs to the message, and takes over its slot.
func (r *Request) Detach() *Detached {
	d := &Detached{Request: Request{
		Info:   callinfo.Info{Caller: r.Caller, Header: r.Header, Meta: r.Meta.Apart(), Trace: r.Trace, Secrets: r.Secrets, Log: r.Log},
		Method: strings.Clone(r.Method), Tool: r.Tool, ID: strings.Clone(r.ID), Args: r.Args.Apart(),
		Transport: r.Transport, Protocol: r.Protocol,
		Address: r.Address, Port: r.Port, From: r.From, Scopes: r.Scopes, Client: r.Client,
		modern: r.modern, offer: r.offer, slot: r.slot,
	}}
	if r.slot != nil {
		d.limiter = r.slot.limiter
	}
	r.slot = nil
	return d
}

// Release frees the slot.
func (d *Detached) Release() {
	d.slot.release()
	d.slot = nil
}

// Acquire waits for a slot again, however long that takes. The error is the cause
// with which ctx ended.
func (d *Detached) Acquire(ctx context.Context) error {
	for d.limiter != nil {
		d.slot = d.limiter.enqueue(d.Caller)
		err := d.slot.wait(ctx)
		if err == nil {
			return nil
		}
		d.Release()
		select { // the queue was full
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// readTask reads the params of the methods of tasks into r.
func readTask(r *Request) *rpcError {
	id := r.params.Get("taskId")
	if id.Kind() != value.String {
		return rpcErrorf(mcp.INVALID_PARAMS, "%s: taskId must be a string, found %s", r.Method, graph.Describe(id))
	}
	r.task = id.Str()
	_, rpcErr := r.param("inputResponses", value.Object)
	return rpcErr
}

// checkTasks refuses methods of tasks where there are none, and those of clients that
// did not declare the extension. Tasks can be left of tools that are gone.
func checkTasks(p *snapshot, r *Request) *rpcError {
	switch {
	case !p.makesTasks && (p.tasks == nil || !p.tasks.Any()):
		return rpcErrorf(mcp.METHOD_NOT_FOUND, "unknown method %q: this server has no tasks", r.Method)
	case !r.declaresTasks():
		return missingTasks.rpcError()
	}
	return nil
}

// taskError returns the answer to a request about a task that failed with err.
func taskError(ctx context.Context, r *reply, err error) *rpcError {
	if errors.Is(err, ErrUnknownTask) {
		return unknownTask(r.Request)
	}
	if e := protocolError(err); e != nil {
		e.Message = r.Method + ": " + e.Message
		return e
	}
	if ctx.Err() == nil {
		r.logger().WarnContext(ctx, "a task cannot be reached", "method", r.Method, "error", err)
	}
	// Other errors can name machines of the operator.
	why, failure := "try again later", (*graph.Failure)(nil)
	if errors.As(err, &failure) {
		why = failure.Message
	}
	e := rpcErrorf(mcp.INTERNAL_ERROR, "%s: the task cannot be reached now: %s", r.Method, why)
	e.status, e.failed = http.StatusServiceUnavailable, true
	return e
}

func unknownTask(r *Request) *rpcError {
	return rpcErrorf(mcp.INVALID_PARAMS, "%s: unknown task %q; tasks are forgotten after their ttlMs", r.Method, jsonrpc.Clip(r.task))
}

func getTask(ctx context.Context, r *reply) ([]byte, *rpcError) {
	t, err := r.from.tasks.Get(ctx, &r.Info, r.task)
	if err != nil {
		return nil, taskError(ctx, r, err)
	}
	members := t.appendMembers(nil)
	switch t.Status {
	case TaskInputRequired:
		members = t.Requests.Append(append(members, `,"inputRequests":`...))
	case TaskFailed:
		members = jsonrpc.AppendErrorObject(append(members, `,"error":`...), &protocolError(t.Err).Error)
	case TaskCompleted:
		if _, err := countResult(memory.AccountOf(ctx), t.Value, t.Blocks); err != nil {
			return nil, busyError(err)
		}
		members = r.from.appendCallResult(append(members, `,"result":`...), t.Value, t.Err, t.Blocks, true)
	}
	return r.message(members, false), nil
}

// appendMembers appends the members that every task has.
func (t Task) appendMembers(dst []byte) []byte {
	dst = value.AppendString(append(dst, `"taskId":`...), t.ID)
	dst = value.AppendString(append(dst, `,"status":`...), string(t.Status))
	dst = value.AppendString(append(dst, `,"createdAt":`...), t.Created.UTC().Format(time.RFC3339Nano))
	dst = value.AppendString(append(dst, `,"lastUpdatedAt":`...), t.Updated.UTC().Format(time.RFC3339Nano))
	if t.Message != "" {
		dst = value.AppendString(append(dst, `,"statusMessage":`...), t.Message)
	}
	ttl := value.NullValue
	if t.TTL > 0 {
		ttl = value.FromInt(t.TTL.Milliseconds())
	}
	dst = ttl.Append(append(dst, `,"ttlMs":`...))
	return value.FromInt(pollInterval.Milliseconds()).Append(append(dst, `,"pollIntervalMs":`...))
}

// updateTask answers tasks/update. What came of it is the next state of the task.
func updateTask(ctx context.Context, r *reply) ([]byte, *rpcError) {
	responses := r.params.Get("inputResponses").Apart()
	if err := r.from.tasks.Update(ctx, &r.Info, r.task, responses); err != nil {
		return nil, taskError(ctx, r, err)
	}
	return r.message(nil, false), nil
}

func cancelTask(ctx context.Context, r *reply) ([]byte, *rpcError) {
	if err := r.from.tasks.Cancel(ctx, &r.Info, r.task); err != nil {
		return nil, taskError(ctx, r, err)
	}
	return r.message(nil, false), nil
}

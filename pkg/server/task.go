package server

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TasksExtension is the extension of revision 2026-07-28 with which calls of tools
// go on after they were answered (SEP-2663). Clients declare it to get tasks.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TaskSupport says whether calls of a tool can be tasks.
type TaskSupport string

// Whether calls of a tool can be tasks. The zero value is TaskForbidden.
const (
	TaskForbidden TaskSupport = "forbidden"
	// TaskOptional makes a task of the calls of clients that declare the extension.
	TaskOptional TaskSupport = "optional"
	// TaskRequired also refuses the calls of other clients.
	TaskRequired TaskSupport = "required"
)

// possible reports whether a call can be a task.
func (s TaskSupport) possible() bool { return s == TaskOptional || s == TaskRequired }

// TaskStatus is the status of a task.
type TaskStatus string

// The statuses of a task. The last three are final.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed" // also with a result that has isError
	TaskFailed        TaskStatus = "failed"    // what would have been a JSON-RPC error
	TaskCancelled     TaskStatus = "cancelled"
)

// Over reports whether the status is final.
func (s TaskStatus) Over() bool { return s == TaskCompleted || s == TaskFailed || s == TaskCancelled }

// EndOfTask returns the status of a task whose call returned err.
func EndOfTask(err error) TaskStatus {
	if protocolError(err) != nil {
		return TaskFailed
	}
	return TaskCompleted
}

// Task is a call of a tool that goes on after it was answered, at one moment.
type Task struct {
	ID               string
	Status           TaskStatus
	Created, Updated time.Time
	// TTL is how long the task is kept, from Created; 0: its end is not known.
	TTL time.Duration
	// Message explains the status to people; it may be empty.
	Message string
	// Requests are the open questions if the status is input_required; see
	// [InputRequiredError].
	Requests value.Value
	// Value and Err are what the call returned, once it did.
	Value value.Value
	Err   error
	// Blocks is that of the tool.
	Blocks bool
}

// Tasks keeps tasks, in this process or somewhere else. They belong to a caller,
// info.Caller: for others an id is unknown. Its methods may set info.RunID to the run
// of the task. It is safe for concurrent use.
//
// Their error is ErrUnknownTask if the caller has no task with this id, or not any more,
// and an *InvalidParamsError if the request is refused. All others mean that the task could not be reached: the request is answered with a
// JSON-RPC error, which has the message of a *graph.Failure alone, and can be sent
// again.
type Tasks interface {
	// Any reports whether there may be tasks. If not, and if no tool can be one, the
	// methods of tasks are unknown to clients.
	Any() bool
	// Get returns a task.
	Get(ctx context.Context, info *callinfo.Info, id string) (Task, error)
	// Update hands in answers, an object by the names of the questions. Answers to
	// what is not asked are ignored.
	Update(ctx context.Context, info *callinfo.Info, id string, responses value.Value) error
	// Cancel ends a task that is not over.
	Cancel(ctx context.Context, info *callinfo.Info, id string) error
}

// ErrUnknownTask says that a caller has no task with an id.
var ErrUnknownTask = errors.New("unknown task")

// TaskError is returned by a [CallFunc] whose call goes on as a task; see
// [Request.WantsTask]. The answer is the task.
type TaskError struct{ Task Task }

func (e *TaskError) Error() string { return "the call goes on as task " + e.Task.ID }

// protocolError returns the JSON-RPC error that an error of a CallFunc stands for,
// nil if it is a failure of the tool.
func protocolError(err error) *rpcError {
	if refused := (*InvalidParamsError)(nil); errors.As(err, &refused) {
		return rpcErrorf(-32602, "%s", refused.Message)
	}
	if missing := (*MissingCapabilityError)(nil); errors.As(err, &missing) {
		return missing.rpcError()
	}
	if broken := (*PanicError)(nil); errors.As(err, &broken) {
		return rpcErrorf(-32603, "%s", broken.Error())
	}
	return nil
}

// PanicError is the error of a call that ended in a panic.
type PanicError struct{}

func (*PanicError) Error() string { return "internal error" }

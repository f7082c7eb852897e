package server

import (
	"errors"
	"time"

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
	TTL              time.Duration // how long the task is kept, from Created
	// Requests are the open questions if the status is input_required; see
	// [InputRequiredError].
	Requests value.Value
	// Value and Err are what the call returned, once it did.
	Value value.Value
	Err   error
	// Blocks is that of the tool.
	Blocks bool
}

// Tasks keeps tasks. They belong to a caller: to others an id is unknown. It is safe
// for concurrent use.
type Tasks interface {
	// Get returns a task, and reports whether the caller has one with this id.
	Get(caller, id string) (Task, bool)
	// Update hands in answers, an object by the names of the questions. Answers to
	// what is not asked are ignored. It reports whether the caller has the task.
	Update(caller, id string, responses value.Value) bool
	// Cancel ends a task that is not over. It reports whether the caller has it.
	Cancel(caller, id string) bool
}

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

package debug

import (
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Status is the state of a session.
type Status string

// The states.
const (
	StatusRunning Status = "running"
	StatusPaused  Status = "paused"
	StatusWaiting Status = "waiting" // for nothing but people
	StatusDone    Status = "done"
	StatusFailed  Status = "failed"
	StatusStopped Status = "stopped" // by Stop, or because its context ended
)

// Why is why a run is paused.
type Why string

// The reasons.
const (
	AtStart      Why = "start"
	AtBreakpoint Why = "breakpoint"
	AtStep       Why = "step"
	AtPause      Why = "pause"
	AtFailure    Why = "failure" // behind the execution that failed
	AtEnter      Why = "enter"   // a tool
)

// Pause is where and why a run is paused: before the execution of a node or, at a
// failure, behind it.
type Pause struct {
	Why Why
	// Key, Path and Node are those of the node, Frame, Execution and Attempt those of
	// the execution.
	Key, Path, Node, Frame string
	Execution, Attempt     int
	// Record is the index of the newest record.
	Record int
	// Text is the failure, or what went wrong with the condition of a breakpoint.
	Text string
}

// Command is something that can be done with a session.
type Command string

// The commands.
const (
	CanPause          Command = "pause"
	CanResume         Command = "resume"
	CanStep           Command = "step"
	CanStepInto       Command = "stepInto"
	CanStepOut        Command = "stepOut"
	CanRunTo          Command = "runTo"
	CanStop           Command = "stop"
	CanSetBreakpoints Command = "breakpoints"
	CanPin            Command = "pin"
	CanSetOutput      Command = "setOutput"
	CanAnswer         Command = "answer"
)

// StateError is returned for a command that the state of the session does not allow.
type StateError struct {
	Command Command
	Status  Status
	Can     []Command // that it allows
}

// Error says what can be done instead.
func (e *StateError) Error() string {
	text := fmt.Sprintf("cannot %s: the run is %s", e.Command, statusTexts[e.Status])
	if len(e.Can) > 0 {
		text += "; what can be done now is " + describe(e.Can)
	}
	return text
}

var statusTexts = map[Status]string{
	StatusRunning: "running", StatusPaused: "paused", StatusWaiting: "waiting for a person",
	StatusDone: "done", StatusFailed: "over, it failed", StatusStopped: "stopped",
}

// State is a session at one moment. Nothing in it has secrets.
type State struct {
	ID, Tool, Caller string
	Status           Status
	// Pausing is true if the run pauses as soon as the calls under way are over.
	Pausing bool
	// Began and Ended are when the session was, by the clock of the process; Ended is
	// zero while it goes on.
	Began, Ended time.Time
	Pause        *Pause // nil unless it is paused
	// Active are the executions under way, no more than 100 of them.
	Active      []executor.Activity
	Questions   []executor.Question
	BreakOn     BreakOn
	Breakpoints []Breakpoint
	Pins        []string // the keys of pinned nodes
	// Executions is how many are over, Records the index that the next record has.
	Executions, Records int
	Args                value.Value
	// Result is undefined while there is none.
	Result value.Value
	Err    error
	// Can are the commands that do something now.
	Can []Command
	// Last is the number of the newest event.
	Last int
}

// maxActive is how many executions under way are shown.
const maxActive = 100

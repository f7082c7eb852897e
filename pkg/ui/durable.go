package ui

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Durable is where runs are kept that outlive the process, such as Temporal. It must be
// safe for concurrent use. Methods return when ctx is done. Errors that are none of
// those below mean that it cannot be reached.
type Durable interface {
	// Place names it for people: "Temporal at localhost:7233".
	Place() string
	// List returns about count runs behind a cursor, and the cursor for the next ones;
	// empty: the first ones, or there are no others. Those that began or ended last
	// come first. Only those under way if running is true.
	List(ctx context.Context, cursor string, count int, running bool) ([]DurableRun, string, error)
	// Describe returns a run as it is now. The error can be ErrNoWorker or
	// ErrUnreadable beside what is known nevertheless.
	Describe(ctx context.Context, id string) (*DurableRun, error)
	// Request returns the arguments and the seed that a run began with.
	Request(ctx context.Context, id string) (args value.Value, seed uint64, err error)
	// Records returns records of a run from an index on, some at a time; none where
	// no others are there yet.
	Records(ctx context.Context, id string, from int) ([]value.Value, error)
	// Outcome returns what came of a run that has ended.
	Outcome(ctx context.Context, id string) (*DurableOutcome, error)
	// Start starts a run, and does not wait for it.
	Start(ctx context.Context, s DurableStart) error
	// Answer answers a question of a run with the result of its request.
	Answer(ctx context.Context, id, question string, answer value.Value) error
	// Cancel ends a run. It does not wait for its end.
	Cancel(ctx context.Context, id string) error
}

// Errors of a Durable.
var (
	// ErrNoRun means that there is no run with an id.
	ErrNoRun = errors.New("no such run")
	// ErrNoWorker means that no worker has the version of the file that a run needs.
	ErrNoWorker = errors.New("no worker for the version of the file that this run began with answers; start one with mcpgraph worker")
	// ErrNotAsked means that a run does not ask that (any more).
	ErrNotAsked = errors.New("the run does not ask that (any more)")
	// ErrUnreadable is in errors about what was reached and cannot be read.
	ErrUnreadable = errors.New("cannot be read")
)

// DurableRun is a run of a Durable.
type DurableRun struct {
	ID, Tool, Caller string
	// Parent is the id of the run that waits for this one; empty: none does.
	Parent string
	// Version is the digest of the file that it began with; see [mcpgraph.Engine.Digest].
	Version string
	// State is "running", "waiting" (for people alone), "done", "failed", "cancelled"
	// or "stopped".
	State        string
	Began, Ended time.Time // Ended is zero while it is under way
	// Calls are those under way, and Problem is why the run does not go on; empty: it
	// does.
	Calls   []DurableCall
	Problem string
	// What follows is known while a worker answers. Records is how many there are.
	Records   int
	Active    []executor.Activity
	Questions []DurableQuestion
}

// DurableCall is a call of an upstream tool.
type DurableCall struct {
	// ID is that of its attempt: FRAME:EXECUTION#TRY of an [executor.Activity]; .N can
	// follow.
	ID string
	// Worker is who makes the call, empty: nobody yet. Progress are the params of the
	// latest notifications/progress.
	Worker   string
	Progress value.Value
}

// DurableQuestion is something that a run asks.
type DurableQuestion struct {
	ID, Path, Method string
	Params           value.Value
	Until            time.Time // zero: it waits for ever
}

// DurableOutcome is what came of a run.
type DurableOutcome struct {
	Result value.Value
	// Failure is nil if the run did not fail; Text is the whole text of it.
	Failure *graph.Failure
	Text    string
	// Records are all of the run, nil if [Durable.Records] has them.
	Records []value.Value
}

// DurableStart is a run to be started.
type DurableStart struct {
	ID, Tool string
	// Digest is that of the file.
	Digest string
	Args   value.Value
}

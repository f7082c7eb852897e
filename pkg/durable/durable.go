// Package durable runs tools on Temporal: a run is a workflow, and each call of an
// upstream tool an activity. Runs outlive the processes that work on them, and any
// number of workers share them.
//
// A [Client] starts runs and looks at them. A [Worker] walks their graphs and calls
// the servers. The workflow is a driver of an [executor.Run] like
// [executor.Local]; it evaluates in workflow code, which is replayed, so it reads no
// clock, randomness or map order of the machine.
//
// Each version of a file has a task queue of its own, named by the digest of the
// file. So a run stays with the workers that have the version that it began with,
// and a changed file breaks no run under way.
package durable

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Names by which Temporal knows what this package runs.
const (
	WorkflowType = "mcpgraph.run"
	ActivityType = "mcpgraph.call"

	resultType = "mcpgraph.result" // an activity: what came of another run

	queryState   = "state"
	queryRecords = "records"
	updateAnswer = "answer"
	updateUse    = "use"
)

// Defaults of a connection.
const (
	DefaultAddress   = "localhost:7233"
	DefaultNamespace = "default"
	DefaultTaskQueue = "mcpgraph"
)

// Limits of what a run keeps on Temporal, in bytes. Temporal refuses more than 2 MiB
// for one value.
const (
	// MaxValue is how many bytes of JSON one value may have: the arguments of a
	// call, its reply, the result of a run.
	MaxValue = 1_900_000
	// MaxStoredValue is the same where values are kept outside (Options.Storage).
	MaxStoredValue = 64 << 20

	maxInlineRecords = 256 << 10 // of records in the outcome of a run
	maxQuery         = 1 << 20   // of records in the answer to a query
)

const (
	// DefaultHeartbeat is after how long without a sign of life a worker is taken
	// for lost, and its calls with it.
	DefaultHeartbeat = 10 * time.Second
	// maxCall bounds one call of an upstream tool; its server's own timeout ends it
	// long before.
	maxCall = 24 * time.Hour
	// maxLost is how often a call that may be repeated is made again after the loss
	// of its worker. A call that takes its worker down each time has to end.
	maxLost = 5
	// maxCalls is how many calls of one run are under way at the same time. Temporal
	// allows 2,000.
	maxCalls = 500
	// maxBatch is how many bytes of arguments go to Temporal in one message, about.
	maxBatch = 1 << 20
	// taskTimeout is after how long without an answer a step of a walk is given to
	// another worker. One evaluation must not take longer.
	taskTimeout = 10 * time.Second
	// Where the history of a workflow has grown so long, no call begins until those
	// under way are over and the run continues as a new workflow.
	drainEvents, drainBytes = 20_000, 20 << 20
)

// revision is raised when this package drives runs in another way than before, so
// that workers leave older runs to older programs.
const revision = 2

// Source is the file that workers run. *mcpgraph.Engine implements it. It must be safe
// for concurrent use.
type Source interface {
	graph.Caller
	// Graph returns a tool.
	Graph(tool string) (*graph.Graph, error)
	// Digest returns what tells this version of the file from others.
	Digest() string
	// ServerQueue reports whether only workers with the server among their
	// WorkerOptions.Servers call it, and how long a call waits for one. It is the same
	// for all that have this Digest.
	ServerQueue(server string) (wait time.Duration, own bool)
	// Secrets, and what may be repeated, are known to the caller of tools.
	Calls
}

package cli

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Temporal connects to Temporal, which keeps durable runs. Programs that link its
// libraries hand one to [Main]. The error says why it cannot be reached.
type Temporal func(context.Context, TemporalOptions) (DurableRuns, error)

// TemporalOptions say how Temporal is reached. They are the durable.Options.
type TemporalOptions struct {
	Address, Namespace, TaskQueue string
	TLS                           *tls.Config
	APIKey                        string
	Key                           []byte
	Storage                       string
	Log                           *slog.Logger
	Lazy                          bool
	Leave                         func() bool
}

// DurableRuns are the runs on Temporal.
type DurableRuns interface {
	runs.Place
	// NewWorker returns a worker for the runs of a file.
	NewWorker(*mcpgraph.Engine, WorkerOptions) Worker
	Close()
}

// WorkerOptions are those of a [Worker]. See durable.WorkerOptions.
type WorkerOptions struct {
	Memory   *memory.Budget
	Servers  []string
	Calls    int
	Grace    time.Duration
	Observed bool // report runs to the telemetry of the engine
	Log      *slog.Logger
	Failed   func(error)
}

// Worker works on durable runs between Start and Stop.
type Worker interface {
	Queues() []string
	Start() error
	Stop()
}

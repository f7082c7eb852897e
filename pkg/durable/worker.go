package durable

import (
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// WorkerOptions configure a worker.
type WorkerOptions struct {
	// Memory bounds what evaluations and calls take; nil: no bound.
	Memory *memory.Budget
	// Calls is how many calls are under way at the same time; 0: 200.
	Calls int
	// Grace is how long calls under way may take once the worker stops; they are
	// then taken for lost. 0: 10 seconds.
	Grace time.Duration
	// Telemetry observes runs; it may be nil.
	Telemetry Telemetry
	// Log is required.
	Log *slog.Logger
	// Failed is called once if the worker cannot go on, such as for lack of
	// permission. It may be nil.
	Failed func(error)
}

// Worker walks the graphs of one version of a file and calls its servers.
type Worker struct {
	worker worker.Worker
	queue  string
}

const (
	defaultCalls = 200
	defaultGrace = 10 * time.Second
	// beatEvery is how often calls give a sign of life, and how soon they learn that
	// they are cancelled.
	beatEvery = time.Second
)

// NewWorker returns a worker for the version of the file that source has. It takes no
// work before Start.
func (c *Client) NewWorker(source Source, o WorkerOptions) *Worker {
	if o.Calls <= 0 {
		o.Calls = defaultCalls
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	w := &Worker{queue: c.queue(source.Digest())}
	w.worker = worker.New(c.temporal, w.queue, worker.Options{
		MaxConcurrentActivityExecutionSize: o.Calls,
		WorkerStopTimeout:                  o.Grace,
		DeadlockDetectionTimeout:           taskTimeout,
		MaxHeartbeatThrottleInterval:       beatEvery,
		DefaultHeartbeatThrottleInterval:   beatEvery,
		DisableRegistrationAliasing:        true,
		OnFatalError: func(err error) {
			if o.Failed != nil {
				o.Failed(err)
			}
		},
	})
	register(w.worker, source, c, o)
	return w
}

// registry is a worker, or what replays histories in tests.
type registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
}

func register(w registry, source Source, client *Client, o WorkerOptions) {
	registerWorkflow(w, source, o)
	c := &calls{source: source, client: client, memory: o.Memory, log: o.Log, beat: beatEvery, telemetry: o.Telemetry}
	w.RegisterActivityWithOptions(c.call, activity.RegisterOptions{Name: ActivityType})
	w.RegisterActivityWithOptions(c.result, activity.RegisterOptions{Name: resultType})
}

func registerWorkflow(w interface {
	RegisterWorkflowWithOptions(any, workflow.RegisterOptions)
}, source Source, o WorkerOptions) {
	walks := &walks{source: source, memory: o.Memory, telemetry: o.Telemetry}
	w.RegisterWorkflowWithOptions(walks.run, workflow.RegisterOptions{Name: WorkflowType})
}

// Queue returns the task queue of the worker.
func (w *Worker) Queue() string { return w.queue }

// Start begins to take work.
func (w *Worker) Start() error { return w.worker.Start() }

// Stop takes no more work, and returns after the calls under way have ended, or their
// grace.
func (w *Worker) Stop() { w.worker.Stop() }

package durable

import (
	"log/slog"
	"sync"
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
	// Servers are those that have workers of their own, of which this is one: it makes
	// their calls and does nothing else. Without any the worker walks graphs and makes
	// the calls of all other servers.
	Servers []string
	// Calls is how many calls are under way at the same time, of each of the Servers;
	// 0: 200.
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
	workers []worker.Worker
	queues  []string
}

const (
	defaultCalls = 200
	defaultGrace = 10 * time.Second
	// beatEvery is how often calls give a sign of life, and how soon they learn that
	// they are cancelled.
	beatEvery = time.Second
	// pollers is how many requests for work of each kind a worker has open, for calls and
	// for steps of walks. Temporal divides a task queue into 4 partitions, and a new
	// task goes to any of them. If nobody polls that partition and more than 10 tasks
	// a second have to go on to another one, a task waits for 2 seconds. Requests for
	// steps are divided between two queues, so half of them have to reach all
	// partitions. More requests cost more than they gain: BenchmarkDurableThroughput.
	pollers = 8
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
	w, queue := &Worker{}, c.queue(source.Digest())
	if len(o.Servers) == 0 {
		w.queues = []string{queue}
	}
	for _, server := range o.Servers {
		w.queues = append(w.queues, serverQueue(queue, server))
	}
	for _, q := range w.queues {
		one := c.newWorker(q, o)
		register(one, source, c, o)
		w.workers = append(w.workers, one)
	}
	return w
}

// newWorker returns a worker for one task queue.
func (c *Client) newWorker(queue string, o WorkerOptions) worker.Worker {
	return worker.New(c.temporal, queue, worker.Options{
		DisableWorkflowWorker:              len(o.Servers) > 0,
		MaxConcurrentActivityExecutionSize: o.Calls,
		MaxConcurrentActivityTaskPollers:   pollers,
		MaxConcurrentWorkflowTaskPollers:   pollers,
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
}

// registry is a worker, or what replays histories in tests.
type registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
}

func register(w registry, source Source, client *Client, o WorkerOptions) {
	if len(o.Servers) == 0 {
		registerWorkflow(w, source, o)
	}
	c := &calls{source: source, client: client, memory: o.Memory, log: o.Log, beat: beatEvery, mark: client.mark, telemetry: o.Telemetry}
	w.RegisterActivityWithOptions(c.call, activity.RegisterOptions{Name: ActivityType})
	w.RegisterActivityWithOptions(c.result, activity.RegisterOptions{Name: resultType})
}

func registerWorkflow(w interface {
	RegisterWorkflowWithOptions(any, workflow.RegisterOptions)
}, source Source, o WorkerOptions) {
	walks := &walks{source: source, memory: o.Memory, telemetry: o.Telemetry}
	w.RegisterWorkflowWithOptions(walks.run, workflow.RegisterOptions{Name: WorkflowType})
}

// Queues returns the task queues of the worker.
func (w *Worker) Queues() []string { return w.queues }

// Start begins to take work.
func (w *Worker) Start() error {
	for i, one := range w.workers {
		if err := one.Start(); err != nil {
			stopAll(w.workers[:i])
			return err
		}
	}
	return nil
}

// Stop takes no more work, and returns after the calls under way have ended, or their
// grace.
func (w *Worker) Stop() { stopAll(w.workers) }

func stopAll(workers []worker.Worker) {
	var all sync.WaitGroup
	for _, one := range workers {
		all.Go(one.Stop)
	}
	all.Wait()
}

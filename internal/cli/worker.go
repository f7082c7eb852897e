package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
)

type workerOptions struct {
	programOptions
	servers []string
	calls   int
	grace   time.Duration
}

func workerCommand(a *app) *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use:   "worker CONFIG",
		Short: "Work on the durable runs of a file, which Temporal keeps",
		Long: `Work on the durable runs of a file: walk their graphs, and call the upstream
servers. Any number of workers on any machines share the runs. A run that loses its
worker goes on with another one.

Servers that engine.servers of CONFIG names have workers of their own, which --servers
starts. All other workers walk graphs and call the other servers.

Workers take runs of the version of CONFIG that they have. After a change of CONFIG,
start new workers; stop the old ones when their runs have ended.

SIGINT and SIGTERM stop the worker after the calls under way, or --grace.

MCPGRAPH_KEY is the key that seals what is kept on Temporal; all workers and clients
need the same one. TEMPORAL_API_KEY is the key of Temporal Cloud.`,
		Example: `  mcpgraph worker tools.yaml
  mcpgraph worker tools.yaml --temporal temporal.example.com:7233 --temporal-tls
  mcpgraph worker tools.yaml --servers browser`,
		Args:              configArgs("CONFIG"),
		ValidArgsFunction: completeOne,
		RunE: func(_ *cobra.Command, args []string) error {
			o.config = args[0]
			return runWorker(a, o)
		},
	}
	o.flags(a, cmd)
	cmd.Flags().StringSliceVar(&o.servers, "servers", nil, "only make the calls of these `SERVERS`, which engine.servers of the file names")
	cmd.Flags().IntVar(&o.calls, "max-calls", 200, "make at most `N` upstream calls at the same time, of each of --servers")
	cmd.Flags().DurationVar(&o.grace, "grace", 10*time.Second, "wait for calls under way for at most `DURATION` when stopping")
	return cmd
}

// serversOf names the servers that have workers of their own.
func serversOf(file *config.File) string {
	if file == nil || file.Engine == nil || len(file.Engine.Servers) == 0 {
		return "none"
	}
	return diag.List(file.Engine.Servers)
}

func runWorker(a *app, o workerOptions) (err error) {
	if err := a.needsFiles("worker", o.config); err != nil {
		return err
	}
	if o.calls < 1 {
		return usagef("--max-calls must be positive")
	}
	if o.grace < time.Second {
		return usagef("--grace must be 1s or more")
	}
	log, err := a.logger(o.logLevel)
	if err != nil {
		return err
	}
	if err := needTemporal(a); err != nil {
		return err
	}
	ob, err := newObservation(a, o.observe, log, exporters.Options{Soon: true})
	if err != nil {
		return err
	}
	defer ob.end()
	budget := o.memory.budget(ob.log)
	options := append(ob.options, mcpgraph.WithMCPFiles(o.mcpFiles...), mcpgraph.WithMemory(budget))
	engine, err := a.load(context.Background(), o.config, append(options, o.lock.options...)...)
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	for _, server := range o.servers {
		if _, own := engine.ServerQueue(server); !own {
			return usagef("--servers has %q, but engine.servers of %s does not; it has %s", server, o.config, serversOf(engine.File()))
		}
	}
	ctx, stop := a.whileServing(stopSignals...)
	defer stop()
	client, err := dialTemporal(ctx, a, o.temporal.of(engine.File()), ob.log)
	if err != nil {
		return err
	}
	defer client.Close()
	fatal := make(chan error, 1)
	var once sync.Once
	w := client.NewWorker(engine, WorkerOptions{
		Servers: slices.Compact(slices.Sorted(slices.Values(o.servers))), Memory: budget, Calls: o.calls, Grace: o.grace, Log: ob.log, Observed: ob.exporters != nil,
		Failed: func(err error) { once.Do(func() { fatal <- err }) },
	})
	if err := w.Start(); err != nil {
		return failedf("the worker cannot start: %w", err)
	}
	defer w.Stop()
	fmt.Fprintf(a.stderr, "mcpgraph: working on runs of %s (version %.12s), task queue %s\n", o.config, engine.Digest(), strings.Join(w.Queues(), ", "))
	select {
	case err := <-fatal:
		return failedf("the worker cannot go on: %w", err)
	case <-ctx.Done():
		return nil
	}
}

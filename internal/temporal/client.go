// Package temporal gives the commands durable runs: it connects internal/cli with
// pkg/durable. Programs that import it link the libraries of Temporal.
package temporal

import (
	"context"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/cli"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
)

// Dial connects to Temporal. It is a [cli.Temporal].
func Dial(ctx context.Context, o cli.TemporalOptions) (cli.DurableRuns, error) {
	c, err := durable.Dial(ctx, durable.Options(o))
	if err != nil {
		return nil, err
	}
	return client{c}, nil
}

var _ cli.Temporal = Dial

// client is a [cli.DurableRuns].
type client struct{ *durable.Client }

// NewWorker implements [cli.DurableRuns].
func (c client) NewWorker(e *mcpgraph.Engine, o cli.WorkerOptions) cli.Worker {
	to := durable.WorkerOptions{Servers: o.Servers, Memory: o.Memory, Calls: o.Calls, Grace: o.Grace, Log: o.Log, Failed: o.Failed}
	if o.Observed {
		to.Telemetry = observedRuns{e}
	}
	return c.Client.NewWorker(e, to)
}

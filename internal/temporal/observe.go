package temporal

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
)

// observedRuns reports the durable runs that a worker drives.
type observedRuns struct{ engine *mcpgraph.Engine }

var _ durable.Telemetry = observedRuns{}

// Observe implements durable.Telemetry.
func (o observedRuns) Observe(info *callinfo.Info, run *executor.Run, began time.Time) durable.Observer {
	return o.engine.ObserveRun(info, run, began)
}

// DescribeError implements durable.Telemetry.
func (observedRuns) DescribeError(ctx context.Context, err error) (string, string) {
	return telemetry.DescribeError(ctx, err)
}

package durable

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// serverQueue returns the task queue of a server that has one of its own. queue is that
// of the version of the file.
func serverQueue(queue, server string) string { return queue + "/" + url.PathEscape(server) }

// toServer lets the workers of a server make a call, if it has some of its own.
func (d *driving) toServer(server string, o workflow.ActivityOptions) workflow.ActivityOptions {
	if wait, own := d.source.ServerQueue(server); own {
		o.TaskQueue, o.ScheduleToStartTimeout = serverQueue(workflow.GetInfo(d.ctx).TaskQueueName, server), wait
	}
	return o
}

// isUnserved reports whether no worker took a call in time.
func isUnserved(err error) bool {
	var late *temporal.TimeoutError
	return errors.As(err, &late) && late.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// unserved returns the failure of a call that no worker took in time. A call that a
// worker was lost with before may have happened.
func (d *driving) unserved(in *callRequest) error {
	if in.Again {
		return unknownFailure(in)
	}
	wait, _ := d.source.ServerQueue(in.Server)
	return &graph.Failure{
		Name: graph.FailConnect,
		Message: fmt.Sprintf("no worker of server %q took the call in %s (engine.serverWaitMs); start one with mcpgraph worker --servers %s",
			in.Server, wait, in.Server),
	}
}

// queued returns the servers of the calls under way that only workers of their server
// make, by the ids of the calls.
func (d *driving) queued() map[string]string {
	servers := map[string]string{}
	for _, c := range d.calls {
		if _, own := d.source.ServerQueue(c.in.Server); own {
			servers[c.id] = c.in.Server
		}
	}
	return servers
}

// pollerTimeout is after how long without asking for work a worker is gone: one request
// for work takes a minute at most.
const pollerTimeout = 75 * time.Second

// isServed reports whether a worker takes the calls of a server that has workers of its
// own. It is true if Temporal does not say.
func (c *Client) isServed(ctx context.Context, queue, server string) bool {
	got, err := c.temporal.DescribeTaskQueue(ctx, serverQueue(queue, server), enums.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return true
	}
	for _, p := range got.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) < pollerTimeout {
			return true
		}
	}
	return false
}

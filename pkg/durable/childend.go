package durable

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Bounds of the wait for the end of a run.
const (
	// resultTimeout is after how long without an answer another worker waits, and
	// resultWait how long one waits.
	resultTimeout, resultWait = 20 * time.Second, 15 * time.Second
	// maxWaits is for how many runs a worker waits. Each wait is a request that Temporal
	// keeps open. Of further runs Temporal lets it ask again.
	maxWaits = 100
	// tellTimeout is how long it may take to tell Temporal what came of a wait.
	tellTimeout = 10 * time.Second
)

// result is the activity that returns what came of a run. While that is under way it
// waits, without the slot of a call, or fails if there are many others. Temporal then
// tries it again.
func (c *calls) result(ctx context.Context, id string) (*childEnd, error) {
	s, err := c.client.summarize(ctx, id)
	switch {
	case errors.Is(err, runs.ErrNotFound):
		return &childEnd{Why: "deleted"}, nil
	case err != nil:
		return nil, err
	case !s.Ended.IsZero():
		return c.client.end(ctx, id)
	case c.waits.Add(1) > maxWaits:
		c.waits.Add(-1)
		return nil, underWay(0)
	}
	token, stop := activity.GetInfo(ctx).TaskToken, activity.GetWorkerStopChannel(ctx)
	go func() {
		defer c.waits.Add(-1)
		c.awaitEnd(id, token, stop)
	}()
	return nil, activity.ErrResultPending
}

// awaitEnd waits for the end of a run, and completes the activity that has the token.
func (c *calls) awaitEnd(id string, token []byte, stop <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), resultWait)
	defer cancel()
	go func() {
		select {
		case <-stop: // another worker goes on
			cancel()
		case <-ctx.Done():
		}
	}()
	end, err := c.client.end(ctx, id)
	var result any // no *childEnd beside an error
	if err != nil {
		err = underWay(time.Millisecond)
	} else {
		result = end
	}
	tell, done := context.WithTimeout(context.Background(), tellTimeout)
	defer done()
	if err := c.client.temporal.CompleteActivity(tell, token, result, err); err != nil {
		c.log.Debug("nobody waits for the end of a run any more", "run", id, "error", err)
	}
}

// underWay is the error for a run that has not ended. Temporal asks again after a delay; 0:
// as the retry policy says.
func underWay(delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions("the run is under way", "mcpgraph.underWay", temporal.ApplicationErrorOptions{NextRetryDelay: delay})
}

package durable

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Bounds of undo: of one request, of all for one run, of the pauses between them, and of
// the runs at the same time.
const (
	undoTimeout = 2 * time.Second
	undoFor     = 10 * time.Minute
	undoPause   = 5 * time.Second
	maxUndoing  = 1000
)

// undoing counts the runs that a Client ends once Temporal is back.
type undoing struct{ count atomic.Int64 }

// undo ends a run that nobody waits for: Temporal may have started it before the request
// was given up. If Temporal is away, that is done when it is back.
func (c *Client) undo(ctx context.Context, id string) {
	ctx = context.WithoutCancel(ctx)
	if !isAway(c.undone(ctx, id)) {
		return
	}
	if c.undoing.count.Add(1) > maxUndoing {
		c.undoing.count.Add(-1)
		return
	}
	go func() {
		defer c.undoing.count.Add(-1)
		for began := time.Now(); time.Since(began) < undoFor; {
			time.Sleep(undoPause)
			if !isAway(c.undone(ctx, id)) {
				return
			}
		}
	}()
}

// undone makes one request to end a run.
func (c *Client) undone(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, undoTimeout)
	defer cancel()
	err := reached(ctx, c.temporal.CancelWorkflow(ctx, id, ""))
	if errors.Is(err, runs.ErrNotFound) {
		return nil // it has not begun
	}
	return err
}

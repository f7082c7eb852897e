package durable

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Bounds of the runs with a Claim, of all processes together.
const (
	// MaxClaimed and MaxClaimedPerCaller bound those under way: in all, and those of
	// one caller.
	MaxClaimed          = 10_000
	MaxClaimedPerCaller = 1000
	// MaxKept and MaxKeptPerCaller bound those that Temporal keeps, over or not.
	MaxKept          = 100_000
	MaxKeptPerCaller = 10_000

	// countFor is how long a count of Temporal's is used, and countLag after how long
	// a run is part of its counts for sure.
	countFor, countLag = time.Second, 3 * time.Second
)

// bounds counts the runs with a Claim. Temporal's counts of all processes lag behind;
// those that this process has just started are added.
type bounds struct {
	mu sync.Mutex
	of map[string]*counted // by how ids begin
}

// counted is how many runs there are whose ids begin alike.
type counted struct {
	mu            sync.Mutex
	at            time.Time
	running, kept int64
	started       []time.Time // by this process, the oldest first
}

// allow counts a run of a caller that is about to start. The error is a *graph.Failure
// named "busy" if there are too many.
func (b *bounds) allow(ctx context.Context, c *Client, caller string) error {
	own := c.prefix(caller)
	count := func(prefix string) countFunc {
		return func() (running, kept int64, err error) { return c.count(ctx, prefix) }
	}
	if err := b.get(own).allow(count(own), MaxClaimedPerCaller, MaxKeptPerCaller, " of this caller"); err != nil {
		return err
	}
	return b.get(claimed).allow(count(claimed), MaxClaimed, MaxKept, "")
}

// countFunc returns how many runs there are: those under way, and all.
type countFunc func() (running, kept int64, err error)

func (b *bounds) get(prefix string) *counted {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.of[prefix]
	if n == nil {
		if b.of == nil {
			b.of = map[string]*counted{}
		}
		b.forget(time.Now())
		n = &counted{}
		b.of[prefix] = n
	}
	return n
}

// forget drops the counts that nobody has used for a while; b.mu is held.
func (b *bounds) forget(now time.Time) {
	for prefix, n := range b.of {
		if n.mu.TryLock() {
			if now.Sub(n.at) > 2*countLag {
				delete(b.of, prefix)
			}
			n.mu.Unlock()
		}
	}
}

func (n *counted) allow(count countFunc, running, kept int64, whose string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if now.Sub(n.at) > countFor {
		var err error
		if n.running, n.kept, err = count(); err != nil {
			return fmt.Errorf("runs on Temporal cannot be counted: %w", err)
		}
		n.at = now
	}
	n.started = slices.DeleteFunc(n.started, func(t time.Time) bool { return now.Sub(t) > countLag })
	fresh := int64(len(n.started))
	switch {
	case n.running+fresh >= running:
		return &graph.Failure{Name: graph.FailBusy, Message: fmt.Sprintf("%d runs%s are under way", running, whose)}
	case n.kept+fresh >= kept:
		return &graph.Failure{Name: graph.FailBusy, Message: fmt.Sprintf("%d runs%s are kept on Temporal", kept, whose)}
	}
	n.started = append(n.started, now)
	return nil
}

// count returns how many runs Temporal knows whose ids begin so: those under way, and
// all.
func (c *Client) count(ctx context.Context, prefix string) (running, kept int64, err error) {
	got, err := c.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: c.options.Namespace,
		Query:     fmt.Sprintf("WorkflowType = '%s' AND WorkflowId STARTS_WITH '%s' GROUP BY ExecutionStatus", WorkflowType, prefix),
	})
	if err != nil {
		return 0, 0, reached(ctx, err)
	}
	running, kept = countsOf(got.GetGroups())
	return running, kept, nil
}

// countsOf adds up workflows that are grouped by their status. A run that continued as a
// new workflow is its latest one.
func countsOf(groups []*workflowservice.CountWorkflowExecutionsResponse_AggregationGroup) (running, kept int64) {
	for _, g := range groups {
		status := ""
		if len(g.GetGroupValues()) == 1 {
			// What Temporal counts by is not sealed. A status that cannot be read counts as kept.
			_ = converter.GetDefaultDataConverter().FromPayload(g.GetGroupValues()[0], &status)
		}
		switch status {
		case "ContinuedAsNew":
			continue
		case "Running":
			running += g.GetCount()
		}
		kept += g.GetCount()
	}
	return running, kept
}

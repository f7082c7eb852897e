package durable

import (
	"context"
	"fmt"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// Summary is a run as lists have it.
type Summary struct {
	ID, Tool, Caller, Digest string
	// Parent is the id of the run that waits for this one; empty without one.
	Parent string
	// Status is "running", "completed", "failed", "canceled", "terminated" or
	// "timed out".
	Status string
	// Waiting is true if the run waits for answers of people alone. Of a run with children
	// lists say so if all of those that they have under way do.
	Waiting      bool
	Began, Ended time.Time // Ended is zero while it is under way
	Events       int64     // in the history on Temporal, of the latest workflow
	Bytes        int64
}

var statusNames = map[enums.WorkflowExecutionStatus]string{
	enums.WORKFLOW_EXECUTION_STATUS_RUNNING: "running", enums.WORKFLOW_EXECUTION_STATUS_COMPLETED: "completed",
	enums.WORKFLOW_EXECUTION_STATUS_FAILED: "failed", enums.WORKFLOW_EXECUTION_STATUS_CANCELED: "canceled",
	enums.WORKFLOW_EXECUTION_STATUS_TERMINATED: "terminated", enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT: "timed out",
	enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW: "running",
}

// List returns runs under way, the newest first, then those that ended last, and no more
// than most. Only those under way if running is true.
func (c *Client) List(ctx context.Context, most int, running bool) ([]Summary, error) {
	var list []Summary
	var token []byte
	for {
		got, next, err := c.listPage(ctx, token, min(most-len(list), 1000), running)
		if err != nil {
			return nil, err
		}
		list = append(list, got...)
		if token = next; len(token) == 0 || len(list) >= most {
			waitWithChildren(list)
			return list[:min(len(list), most)], nil
		}
	}
}

// ListPage is a part of List: the runs behind a token, about as many as count, and the
// token for the next ones; empty: there are no others. The first token is empty.
func (c *Client) ListPage(ctx context.Context, token []byte, count int, running bool) ([]Summary, []byte, error) {
	list, next, err := c.listPage(ctx, token, count, running)
	waitWithChildren(list)
	return list, next, err
}

// waitWithChildren marks runs whose children under way, as far as the list has them, all
// wait for people. Temporal knows that of a run which asks itself only.
func waitWithChildren(list []Summary) {
	children := map[string][]int{}
	for i := range list {
		if list[i].Parent != "" && list[i].Ended.IsZero() {
			children[list[i].Parent] = append(children[list[i].Parent], i)
		}
	}
	for again := true; again; { // once for each level of children
		again = false
		for i := range list {
			s := &list[i]
			own := children[s.ID]
			if s.Waiting || !s.Ended.IsZero() || len(own) == 0 {
				continue
			}
			if s.Waiting = !slices.ContainsFunc(own, func(c int) bool { return !list[c].Waiting }); s.Waiting {
				again = true
			}
		}
	}
}

// listPage is ListPage without what children tell of their parents.
func (c *Client) listPage(ctx context.Context, token []byte, count int, running bool) ([]Summary, []byte, error) {
	// A run that was continued is its latest workflow.
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus != 'ContinuedAsNew'", WorkflowType)
	if running {
		query = fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", WorkflowType)
	}
	got, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.options.Namespace, Query: query, PageSize: int32(count), NextPageToken: token,
	})
	if err != nil {
		return nil, nil, reached(ctx, err)
	}
	var list []Summary
	for _, info := range got.GetExecutions() {
		list = append(list, c.summary(info))
	}
	return list, got.GetNextPageToken(), nil
}

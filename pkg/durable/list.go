package durable

import (
	"context"
	"fmt"
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
	// Waiting is true if the run waits for answers of people alone.
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
		got, next, err := c.ListPage(ctx, token, min(most-len(list), 1000), running)
		if err != nil {
			return nil, err
		}
		list = append(list, got...)
		if token = next; len(token) == 0 || len(list) >= most {
			return list[:min(len(list), most)], nil
		}
	}
}

// ListPage is a part of List: the runs behind a token, about as many as count, and the
// token for the next ones; empty: there are no others. The first token is empty.
func (c *Client) ListPage(ctx context.Context, token []byte, count int, running bool) ([]Summary, []byte, error) {
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

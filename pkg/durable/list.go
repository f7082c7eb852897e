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
	// Status is "running", "completed", "failed", "canceled", "terminated" or
	// "timed out".
	Status       string
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

// List returns the latest runs, the newest first, and no more than most. Only running
// ones if running is true.
func (c *Client) List(ctx context.Context, most int, running bool) ([]Summary, error) {
	// A run that was continued is its latest workflow.
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus != 'ContinuedAsNew'", WorkflowType)
	if running {
		query = fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", WorkflowType)
	}
	var list []Summary
	var token []byte
	for {
		got, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: c.options.Namespace, Query: query, PageSize: int32(min(most-len(list), 1000)), NextPageToken: token,
		})
		if err != nil {
			return nil, known(err)
		}
		for _, info := range got.GetExecutions() {
			list = append(list, c.summary(info))
		}
		if token = got.GetNextPageToken(); len(token) == 0 || len(list) >= most {
			return list[:min(len(list), most)], nil
		}
	}
}

package durable

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

var phases = map[enums.WorkflowExecutionStatus]runs.Phase{
	enums.WORKFLOW_EXECUTION_STATUS_RUNNING: runs.Running, enums.WORKFLOW_EXECUTION_STATUS_COMPLETED: runs.Completed,
	enums.WORKFLOW_EXECUTION_STATUS_FAILED: runs.Failed, enums.WORKFLOW_EXECUTION_STATUS_CANCELED: runs.Canceled,
	enums.WORKFLOW_EXECUTION_STATUS_TERMINATED: runs.Terminated, enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT: runs.TimedOut,
	enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW: runs.Running,
}

// How many runs are read at a time.
const pageSize, maxPageSize = 50, 1000

// List implements [runs.Place]. Only the operator has lists: Temporal knows the callers
// of runs only by what it cannot search.
func (c *Client) List(ctx context.Context, w runs.Who, f runs.Filter) iter.Seq2[runs.Summary, error] {
	return func(yield func(runs.Summary, error) bool) {
		if !w.Operator {
			yield(runs.Summary{}, errors.ErrUnsupported)
			return
		}
		query, passed, err := c.listQuery(ctx, f)
		if err != nil {
			yield(runs.Summary{}, err)
			return
		}
		size := f.Limit
		if size <= 0 {
			size = pageSize
		}
		var token []byte
		for first := true; first || len(token) > 0; first = false {
			list, next, err := c.listPage(ctx, query, token, min(size, maxPageSize))
			if err != nil {
				yield(runs.Summary{}, err)
				return
			}
			if first {
				list = passed(list)
			}
			waitWithChildren(list)
			for i := range list {
				if f.Fits(&list[i]) && !yield(list[i], nil) {
					return
				}
			}
			token = next
		}
	}
}

// listQuery returns the query for the runs of a filter, and what drops those of its first
// answer that stand before them.
func (c *Client) listQuery(ctx context.Context, f runs.Filter) (query string, passed func([]runs.Summary) []runs.Summary, err error) {
	passed = func(list []runs.Summary) []runs.Summary { return list }
	// A run that was continued is its latest workflow.
	query = fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus != 'ContinuedAsNew'", WorkflowType)
	if f.Running {
		query = fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", WorkflowType)
	}
	if f.Before == "" {
		return query, passed, nil
	}
	at, err := c.summarize(ctx, f.Before)
	if err != nil {
		return "", nil, err
	}
	when := func(s *runs.Summary) time.Time { return s.Ended }
	if at.Status.Over() {
		query += fmt.Sprintf(" AND CloseTime <= '%s'", at.Ended.UTC().Format(time.RFC3339Nano))
	} else {
		when = func(s *runs.Summary) time.Time { return s.Began }
		query += fmt.Sprintf(" AND (ExecutionStatus != 'Running' OR StartTime <= '%s')", at.Began.UTC().Format(time.RFC3339Nano))
	}
	return query, func(list []runs.Summary) []runs.Summary {
		if i := slices.IndexFunc(list, func(s runs.Summary) bool { return s.ID == at.ID }); i >= 0 && when(&list[0]).Sub(when(&list[i])) < time.Second {
			return list[i+1:]
		}
		return list
	}, nil
}

// waitWithChildren marks runs whose children under way, as far as the list has them, all
// wait for people. Temporal knows that of a run which asks itself only.
func waitWithChildren(list []runs.Summary) {
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
			if s.Status == runs.Waiting || !s.Ended.IsZero() || len(own) == 0 {
				continue
			}
			if !slices.ContainsFunc(own, func(c int) bool { return list[c].Status != runs.Waiting }) {
				s.Status, again = runs.Waiting, true
			}
		}
	}
}

// listPage returns the runs of a query behind a token, and the token for the next ones;
// empty: there are no others. The first token is empty.
func (c *Client) listPage(ctx context.Context, query string, token []byte, count int) ([]runs.Summary, []byte, error) {
	got, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: c.options.Namespace, Query: query, PageSize: int32(count), NextPageToken: token,
	})
	if err != nil {
		return nil, nil, reached(ctx, err)
	}
	var list []runs.Summary
	for _, info := range got.GetExecutions() {
		list = append(list, c.summary(info))
	}
	return list, got.GetNextPageToken(), nil
}

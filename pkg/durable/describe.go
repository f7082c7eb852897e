package durable

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// saidBy returns what the server of a call under way has reported; nil: nothing.
func (c *Client) saidBy(a *workflowpb.PendingActivityInfo) *said {
	s := &said{}
	if a.GetHeartbeatDetails() == nil || c.data.FromPayloads(a.GetHeartbeatDetails(), s) != nil {
		return nil
	}
	return s
}

func (c *Client) summary(info *workflowpb.WorkflowExecutionInfo) runs.Summary {
	s := runs.Summary{
		ID: info.GetExecution().GetWorkflowId(), Status: phases[info.GetStatus()],
		Began: info.GetStartTime().AsTime(), Bytes: info.GetHistorySizeBytes(),
	}
	s.Parent = info.GetParentExecution().GetWorkflowId()
	if t := info.GetCloseTime(); t != nil {
		s.Ended = t.AsTime()
	}
	if p := info.GetMemo().GetFields()[memoWaiting]; p != nil && s.Status == runs.Running {
		waiting := false
		if _ = c.data.FromPayload(p, &waiting); waiting {
			s.Status = runs.Waiting
		}
	}
	for name, into := range map[string]*string{memoTool: &s.Tool, memoCaller: &s.Caller, memoDigest: &s.Version} {
		if p := info.GetMemo().GetFields()[name]; p != nil {
			_ = c.data.FromPayload(p, into) // sealed with another key: it stays empty
		}
	}
	return s
}

// summarize returns a run as lists have it. It needs no worker.
func (c *Client) summarize(ctx context.Context, id string) (runs.Summary, error) {
	got, err := c.described(ctx, id)
	if err != nil {
		return runs.Summary{}, reached(ctx, err)
	}
	return c.summary(got.GetWorkflowExecutionInfo()), nil
}

// described returns what Temporal knows of a run. Other workflows of the namespace are
// as if they were not there.
func (c *Client) described(ctx context.Context, id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	got, err := c.temporal.DescribeWorkflowExecution(ctx, id, "")
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &missing):
		return nil, runs.ErrNotFound
	case err != nil:
		return nil, err
	case got.GetWorkflowExecutionInfo().GetType().GetName() != WorkflowType:
		return nil, runs.ErrNotFound
	}
	return got, nil
}

// noteCalls adds the calls under way to a state.
func (c *Client) noteCalls(s *runs.State, got *workflowservice.DescribeWorkflowExecutionResponse) {
	for _, a := range got.GetPendingActivities() {
		if a.GetActivityType().GetName() != ActivityType {
			continue
		}
		call := runs.Upstream{Scheduled: a.GetScheduledTime().AsTime(), ID: a.GetActivityId(), Worker: a.GetLastWorkerIdentity()}
		if t := a.GetLastStartedTime(); t != nil {
			call.Began = t.AsTime()
		}
		if said := c.saidBy(a); said != nil {
			call.Progress, _ = parsed(said.progress()) // a worker wrote it
		}
		s.Calls = append(s.Calls, call)
	}
}

// noteServed adds to calls under way whether anybody can make them.
func (c *Client) noteServed(ctx context.Context, s *runs.State, queued map[string]string, queue string) {
	served := map[string]bool{}
	for i := range s.Calls {
		call := &s.Calls[i]
		if call.Server = queued[call.ID]; call.Server == "" || !call.Began.IsZero() {
			continue
		}
		if _, known := served[call.Server]; !known {
			served[call.Server] = c.isServed(ctx, queue, call.Server)
		}
		call.Unserved = !served[call.Server]
	}
}

// requestOf returns the arguments and the seed that a run began with. It needs no worker.
// The seed is 0 where the workflow chose it.
func (c *Client) requestOf(ctx context.Context, id string) (args value.Value, seed uint64, err error) {
	got, err := c.temporal.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: c.options.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id}, MaximumPageSize: 1,
	})
	if err != nil {
		return value.Undef, 0, reached(ctx, err)
	}
	events := got.GetHistory().GetEvents()
	if len(events) == 0 || events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName() != WorkflowType {
		return value.Undef, 0, runs.ErrNotFound
	}
	in := &request{}
	if err := c.data.FromPayloads(events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(), in); err != nil {
		return value.Undef, 0, fmt.Errorf("the arguments of run %s %w: %w", id, runs.ErrUnreadable, err)
	}
	if args, err = parsed(in.Args); err != nil {
		err = fmt.Errorf("the arguments of run %s %w: %w", id, runs.ErrUnreadable, err)
	}
	return args, in.Seed, err
}

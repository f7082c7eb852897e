package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Description is a run as it is now.
type Description struct {
	Summary
	// Seed and Args are those of the run. They and the members below are known while
	// a worker answers.
	Seed uint64
	Args json.RawMessage
	// Count is how many records there are.
	Count     int
	Questions []Question
	// Active are the executions under way, the first 100 of them.
	Active []executor.Activity
	// Children are the runs of detached calls under way. Questions has what they ask, of
	// the first 50 that can ask something.
	Children []Child
	// Calls are those under way.
	Calls []Call
	// Problem is why Temporal could not get the latest step done, empty if it could.
	Problem string
}

// Call is a call of an upstream tool under way.
type Call struct {
	// ID names the execution and attempt: that of an [executor.Activity] is FRAME:EXECUTION#TRY,
	// with .N behind it after the loss of N workers. Worker is who makes the call;
	// empty: nobody yet.
	ID, Worker string
	// Scheduled is when the call was given to the workers, Began when one of them took
	// it; zero: none has.
	Scheduled, Began time.Time
	// Server is set if only workers of that server make the call. Unserved is true if
	// none has asked for work lately.
	Server   string
	Unserved bool
	// Progress is what the server reported last: the params of
	// notifications/progress; nil: nothing.
	Progress json.RawMessage
}

// saidBy returns what the server of a call under way has reported; nil: nothing.
func (c *Client) saidBy(a *workflowpb.PendingActivityInfo) *said {
	s := &said{}
	if a.GetHeartbeatDetails() == nil || c.data.FromPayloads(a.GetHeartbeatDetails(), s) != nil {
		return nil
	}
	return s
}

func (c *Client) summary(info *workflowpb.WorkflowExecutionInfo) Summary {
	s := Summary{
		ID: info.GetExecution().GetWorkflowId(), Status: statusNames[info.GetStatus()],
		Began: info.GetStartTime().AsTime(), Events: info.GetHistoryLength(), Bytes: info.GetHistorySizeBytes(),
	}
	s.Parent = info.GetParentExecution().GetWorkflowId()
	if t := info.GetCloseTime(); t != nil {
		s.Ended = t.AsTime()
	}
	if p := info.GetMemo().GetFields()[memoWaiting]; p != nil && s.Status == "running" {
		_ = c.data.FromPayload(p, &s.Waiting)
	}
	for name, into := range map[string]*string{memoTool: &s.Tool, memoCaller: &s.Caller, memoDigest: &s.Digest} {
		if p := info.GetMemo().GetFields()[name]; p != nil {
			_ = c.data.FromPayload(p, into) // sealed with another key: it stays empty
		}
	}
	return s
}

// Summarize returns a run as lists have it. It needs no worker.
func (c *Client) Summarize(ctx context.Context, id string) (Summary, error) {
	got, err := c.described(ctx, id)
	if err != nil {
		return Summary{}, reached(ctx, err)
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
		return nil, ErrNotFound
	case err != nil:
		return nil, err
	case got.GetWorkflowExecutionInfo().GetType().GetName() != WorkflowType:
		return nil, ErrNotFound
	}
	return got, nil
}

// Describe returns a run as it is now. If no worker answers, the error is ErrNoWorker
// and the Description has what Temporal knows. Of a run that has ended there is nothing
// more, and no worker is asked.
func (c *Client) Describe(ctx context.Context, id string) (*Description, error) {
	got, err := c.described(ctx, id)
	if err != nil {
		return nil, reached(ctx, err)
	}
	d := &Description{Summary: c.summary(got.GetWorkflowExecutionInfo())}
	for _, a := range got.GetPendingActivities() {
		if a.GetActivityType().GetName() != ActivityType {
			continue
		}
		call := Call{Scheduled: a.GetScheduledTime().AsTime(), ID: a.GetActivityId(), Worker: a.GetLastWorkerIdentity()}
		if t := a.GetLastStartedTime(); t != nil {
			call.Began = t.AsTime()
		}
		if s := c.saidBy(a); s != nil {
			call.Progress = s.progress()
		}
		d.Calls = append(d.Calls, call)
	}
	if task := got.GetPendingWorkflowTask(); task.GetAttempt() > 1 {
		d.Problem = "the latest step was not done and is tried again; the log of the workers says why"
	}
	if !d.Ended.IsZero() {
		return d, nil
	}
	budget := maxFollowed
	s, err := c.stateOf(ctx, id, &budget)
	if err != nil {
		return d, err
	}
	served := map[string]bool{}
	for i := range d.Calls {
		call := &d.Calls[i]
		if call.Server = s.Queued[call.ID]; call.Server == "" || !call.Began.IsZero() {
			continue
		}
		if _, known := served[call.Server]; !known {
			served[call.Server] = c.isServed(ctx, got.GetWorkflowExecutionInfo().GetTaskQueue(), call.Server)
		}
		call.Unserved = !served[call.Server]
	}
	for _, child := range s.Children {
		d.Children = append(d.Children, Child{child.Run, child.Tool, child.Path})
	}
	d.Seed, d.Args, d.Count, d.Waiting, d.Questions, d.Active = s.Seed, s.Args, s.Count, s.Waiting || s.childrenWait, s.Questions, s.Active
	return d, nil
}

// Request returns the arguments and the seed that a run began with. It needs no worker.
// The seed is 0 where the workflow chose it.
func (c *Client) Request(ctx context.Context, id string) (args value.Value, seed uint64, err error) {
	got, err := c.temporal.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: c.options.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id}, MaximumPageSize: 1,
	})
	if err != nil {
		return value.Undef, 0, reached(ctx, err)
	}
	events := got.GetHistory().GetEvents()
	if len(events) == 0 || events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName() != WorkflowType {
		return value.Undef, 0, ErrNotFound
	}
	in := &request{}
	if err := c.data.FromPayloads(events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(), in); err != nil {
		return value.Undef, 0, fmt.Errorf("the arguments of run %s %w: %w", id, ErrUnreadable, err)
	}
	if args, err = parsed(in.Args); err != nil {
		err = fmt.Errorf("the arguments of run %s %w: %w", id, ErrUnreadable, err)
	}
	return args, in.Seed, err
}

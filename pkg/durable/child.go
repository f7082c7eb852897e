package durable

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// child is a run of a detached call under way.
type child struct {
	task   executor.Task
	id     string
	began  workflow.Future // nil if the workflow before has begun it
	cancel workflow.CancelFunc
	share  int  // how many executions it may have
	over   bool // nobody waits for it any more
}

// maxChildren is how many children of one run are under way at the same time. Temporal
// allows 2,000.
const maxChildren = 500

// childID returns the id of the run of a detached call. Nobody else makes the same one.
func childID(parent, attempt string) string {
	sum := sha256.Sum256([]byte("mcpgraph child\x00" + parent + "\x00" + attempt))
	return new(big.Int).SetBytes(sum[:12]).Text(36)
}

// childSeed returns what the randomness and the keys of a child derive from: the same
// for each attempt, so that servers know repeated calls.
func childSeed(parent uint64, execution string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "mcpgraph child\x00%d\x00%s", parent, execution))
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}

// detach begins the run of a detached call.
func (d *driving) detach(t executor.Task, a graph.Action) {
	args := raw(a.Value)
	if len(args) > d.in.MaxValue {
		d.settle(t, executor.Outcome{Err: tooLarge("the arguments", len(args), d.in.MaxValue)})
		return
	}
	own := workflow.GetInfo(d.ctx).WorkflowExecution.ID
	c := &child{task: t, id: childID(own, fmt.Sprintf("%s#%d", t.Instance(), t.Attempt()))}
	share, err := d.run.Detach(t, a, c.id, maxChildren, workflow.Now(d.ctx))
	if errors.Is(err, executor.ErrStale) {
		return
	} else if err != nil {
		d.settle(t, executor.Outcome{Err: err})
		return
	}
	c.share = share.Executions
	callee := t.Node().Callee.Name
	in := &request{
		Tool: callee, Digest: d.in.Digest, Args: args, Seed: childSeed(d.in.Seed, t.ID()),
		Caller: d.in.Caller, Trace: d.traceOf(t), MaxValue: d.in.MaxValue, HeartbeatMs: d.in.HeartbeatMs, Share: &share,
		Refused: d.in.Refused, Listening: d.in.Listening,
	}
	d.batch += len(args)
	ctx := workflow.WithChildOptions(d.ctx, workflow.ChildWorkflowOptions{
		WorkflowID: c.id, WorkflowTaskTimeout: taskTimeout,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		// Temporal closes the workflow also where it continues as a new one. What has
		// to end is cancelled by settle and end.
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON,
		Memo:              memoOf(callee, d.in.callerName(), d.in.Digest),
		StaticSummary:     callee,
	})
	f := workflow.ExecuteChildWorkflow(ctx, WorkflowType, in)
	c.began = f.GetChildWorkflowExecution()
	d.children[t] = c
	d.selector.AddFuture(f, func(f workflow.Future) {
		out := &outcome{}
		end := &childEnd{Outcome: out}
		if err := f.Get(d.ctx, out); err != nil {
			end.Why, err = outcomeFrom(err, out)
			if err != nil {
				out.Failure, out.Text = raw((&graph.Failure{Name: graph.FailInternal, Message: err.Error()}).Value()), err.Error()
			}
		}
		d.joined(c, end)
	})
}

// awaitChildren goes on to wait for the children that the workflow before has begun.
// Temporal does not tell this one of their end, so it asks.
func (d *driving) awaitChildren() {
	for _, one := range d.run.Detached() {
		c := &child{task: one.Task, id: one.Run, share: one.Share}
		ctx, cancel := workflow.WithCancel(d.ctx)
		c.cancel = cancel
		d.children[one.Task] = c
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			ActivityID: "result " + c.id, Summary: one.Task.Path(), StartToCloseTimeout: resultTimeout,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: maxAskInterval},
		})
		d.selector.AddFuture(workflow.ExecuteActivity(ctx, resultType, c.id), func(f workflow.Future) {
			end := &childEnd{}
			if err := f.Get(d.ctx, end); err != nil {
				end.Outcome = &outcome{Failure: raw((&graph.Failure{Name: graph.FailInternal, Message: err.Error()}).Value()), Text: err.Error()}
			}
			d.joined(c, end)
		})
	}
}

// maxAskInterval is how late the end of a child is known that the workflow before has
// begun, if the worker that asks waits for many others.
const maxAskInterval = 10 * time.Second

// joined takes what came of a child.
func (d *driving) joined(c *child, end *childEnd) {
	result, executions, failed := end.read(c)
	if c.over {
		if executions >= 0 {
			d.run.Refund(c.share - executions)
		}
		return
	}
	delete(d.children, c.task)
	if end.Outcome != nil {
		d.noteChild(c, end.Outcome.Said)
	}
	_ = d.run.Join(c.task, result, failed, executions, workflow.Now(d.ctx)) // stale: it was given up
}

// childEnd is what came of a child: the result of the activity of resultType.
type childEnd struct {
	Outcome *outcome `json:"outcome,omitempty"`
	// Why is how somebody has ended the child, which has not failed itself; else
	// empty.
	Why string `json:"why,omitempty"`
}

// read returns the result of the call, or why it failed, and how many executions it had,
// negative if nobody knows.
func (e *childEnd) read(c *child) (result value.Value, executions int, failed error) {
	out := e.Outcome
	if out == nil {
		out = &outcome{}
	}
	if executions = out.Executions; executions == 0 {
		executions = -1
	}
	if e.Why != "" {
		return value.Undef, executions, &graph.Failure{
			Name:    graph.FailUnknown,
			Message: fmt.Sprintf("run %s of %s was %s by itself, so it is unknown how much of it happened", c.id, graph.Quoted(c.task.Node().Callee.Name), e.Why),
		}
	}
	if len(out.Error) > 0 {
		v, err := parsed(out.Error)
		if err != nil {
			return v, executions, err
		}
		return value.Undef, executions, c.task.Failed(v)
	}
	read, err := out.read()
	switch {
	case err != nil:
		return value.Undef, executions, err
	case read.Failure != nil:
		return value.Undef, executions, read.Failure
	}
	return read.Value, executions, nil
}

// giveUp cancels a child that nobody waits for any more. This workflow must not end
// before that is done: Temporal would forget it.
func (d *driving) giveUp(c *child) {
	delete(d.children, c.task)
	c.over = true
	if c.cancel != nil {
		c.cancel()
	}
	d.ending++
	workflow.Go(d.ctx, func(ctx workflow.Context) {
		if c.began == nil || c.began.Get(ctx, nil) == nil {
			_ = workflow.RequestCancelExternalWorkflow(ctx, c.id, "").Get(ctx, nil) // it may have ended
		}
		d.ending--
	})
}

// awaitEnding waits until the children that were given up are cancelled.
func (d *driving) awaitEnding() error {
	return workflow.Await(d.ctx, func() bool { return d.ending == 0 })
}

// awaitBegun waits until all children have begun: Temporal forgets the others where this
// workflow continues as a new one.
func (d *driving) awaitBegun() error {
	return workflow.Await(d.ctx, func() bool {
		for _, c := range d.children {
			if c.began != nil && !c.began.IsReady() {
				return false
			}
		}
		return d.ending == 0
	})
}

// shares returns how many executions the children may have, by their ids.
func (d *driving) shares() map[string]int {
	shares := map[string]int{}
	for _, one := range d.run.Detached() {
		shares[one.Run] = one.Share
	}
	return shares
}

// childState is a child as a query tells of it.
type childState struct {
	Run  string `json:"run"`
	Tool string `json:"tool"`
	Path string `json:"path"`
	// Frame is before the ids of its questions, Asks true if it can have some.
	Frame string `json:"frame"`
	Asks  bool   `json:"asks,omitempty"`
}

func (d *driving) childStates() []childState {
	var list []childState
	for _, one := range d.run.Detached() {
		g := one.Task.Node().Callee
		list = append(list, childState{one.Run, g.Name, one.Task.Path(), one.Frame, g.Asks()})
	}
	return list
}

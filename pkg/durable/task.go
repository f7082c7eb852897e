package durable

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// calling is a call under way.
type calling struct {
	task   executor.Task
	action graph.Action
	in     *callRequest
	cancel workflow.CancelFunc
	id     string    // of the activity
	began  time.Time // when it was given to a worker
	lost   int       // workers that were lost with it
	over   bool      // nobody waits for it any more
}

// work does tasks until none is ready, or enough calls are under way.
func (d *driving) work() {
	for d.cut(); len(d.calls) < maxCalls && len(d.children) < maxChildren; d.cut() {
		if d.batch > maxBatch || d.draining() && len(d.calls) > 0 {
			break
		}
		t, ok := d.run.Take()
		if !ok {
			break
		}
		d.perform(t)
	}
	d.cut()
	if d.batch > maxBatch {
		// What waits goes with the next message.
		d.selector.AddFuture(workflow.NewTimer(d.ctx, time.Millisecond), func(workflow.Future) {})
	}
}

// cut cancels the calls that nobody waits for any more.
func (d *driving) cut() {
	for _, t := range d.run.Cut() {
		if c := d.calls[t]; c != nil {
			c.over = true
			c.cancel()
		}
		if c := d.children[t]; c != nil {
			d.giveUp(c)
		}
	}
}

func (d *driving) perform(t executor.Task) {
	if t.Concludes() {
		out, err := t.Conclude(d.eval)
		d.settle(t, executor.Outcome{Output: out, Err: err})
		return
	}
	a, err := t.Begin(d.eval)
	d.survive()
	switch {
	case err != nil:
		d.settle(t, executor.Outcome{Err: err})
	case a.Do == graph.Yield:
		d.settle(t, executor.Outcome{Output: graph.Output{Value: a.Value, Edge: a.Edge}})
	case a.Do == graph.CallTool:
		d.call(t, a)
	case a.Do == graph.Invoke && t.Node().Detached:
		d.detach(t, a)
	case a.Do == graph.Ask && a.Value.TextSize() > d.in.MaxValue:
		d.settle(t, executor.Outcome{Err: tooLarge("the question", a.Value.TextSize(), d.in.MaxValue)})
	default:
		if err := d.run.Open(t, a, workflow.Now(d.ctx)); err != nil && !errors.Is(err, executor.ErrStale) {
			d.settle(t, executor.Outcome{Err: err})
		}
	}
}

// settle puts what came of a task into the run.
func (d *driving) settle(t executor.Task, o executor.Outcome) {
	d.survive()
	var interrupted *executor.InterruptedError
	if errors.As(o.Err, &interrupted) || o.Err != nil && executor.FailureOf(o.Err).Name == graph.FailInterrupted && o.Attempts == 0 {
		panic(fmt.Sprintf("the evaluation of node %q was interrupted: %v", t.Path(), o.Err))
	}
	o.End = workflow.Now(d.ctx)
	o.Output.Value = o.Output.Value.Metered(d.account)
	if rec, err := d.run.Settle(d.eval, t, o); err == nil {
		if d.observer != nil {
			d.report(d.observer.Recorded(t, rec))
		}
		d.run.Release(t)
	}
}

// call begins the call of a tool.
func (d *driving) call(t executor.Task, a graph.Action) {
	if err := d.run.Call(t, a.Value); err != nil {
		d.settle(t, executor.Outcome{Err: err})
		return
	}
	args := raw(a.Value)
	if len(args) > d.in.MaxValue {
		d.returned(t, a, &callReply{}, tooLarge("the arguments", len(args), d.in.MaxValue))
		return
	}
	n := t.Node()
	c := &calling{task: t, action: a, in: &callRequest{
		Run: workflow.GetInfo(d.ctx).WorkflowExecution.ID, Node: t.Path(), Server: n.Server, Tool: n.Tool,
		Args: args, Key: t.Key(), Caller: d.in.Caller, Trace: d.traceOf(t), MaxValue: d.in.MaxValue,
		Listening: d.in.Listening,
	}}
	d.calls[t] = c
	d.begin(c)
}

// begin gives a call to a worker.
func (d *driving) begin(c *calling) {
	d.batch += len(c.in.Args)
	ctx, cancel := workflow.WithCancel(d.ctx)
	c.cancel, c.began = cancel, workflow.Now(d.ctx)
	id := fmt.Sprintf("%s#%d", c.task.Instance(), c.task.Attempt())
	if c.lost > 0 {
		id += fmt.Sprintf(".%d", c.lost)
	}
	c.id = id
	ctx = workflow.WithActivityOptions(ctx, d.toServer(c.in.Server, workflow.ActivityOptions{
		ActivityID:          id,
		StartToCloseTimeout: maxCall,
		HeartbeatTimeout:    time.Duration(d.in.HeartbeatMs) * time.Millisecond,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             c.in.Node,
	}))
	d.selector.AddFuture(workflow.ExecuteActivity(ctx, ActivityType, c.in), func(f workflow.Future) { d.ended(c, f) })
}

// ended takes what came of a call.
func (d *driving) ended(c *calling, f workflow.Future) {
	out := &callReply{}
	err := f.Get(d.ctx, out)
	var gone *temporal.CanceledError
	if isUnserved(err) {
		err = d.unserved(c.in)
	} else if err != nil && (isLost(err) || errors.As(err, &gone) && !c.over) {
		begun := mayHaveBegun(err)
		var late *temporal.TimeoutError
		if errors.As(err, &late) && begun && d.observer != nil {
			d.report(d.observer.Lost(c.task, c.id, c.began, workflow.Now(d.ctx)))
		}
		// A worker also gives a call up if it cannot give signs of life.
		c.in.Again = c.in.Again || begun
		if c.lost++; c.lost <= maxLost && !c.over {
			d.begin(c)
			return
		}
		if err = notBegunFailure(c.in); c.in.Again {
			err = unknownFailure(c.in)
		}
	} else if err != nil {
		out, err = failed(err)
	}
	delete(d.calls, c.task)
	if len(out.Secrets) > 0 {
		d.in.Caller = d.in.Caller.withSecrets(out.Secrets)
	}
	d.note(c, out.Reports)
	d.returned(c.task, c.action, out, err)
}

func (d *driving) returned(t executor.Task, a graph.Action, out *callReply, err error) {
	if d.run.Return(t) != nil {
		return // it was given up
	}
	o := executor.Outcome{Err: err, Attempts: out.Attempts, FromCache: out.FromCache, AttemptTimes: timesOf(out.Times)}
	if err == nil {
		var v value.Value
		if v, err = parsed(out.Reply); err == nil {
			v = v.Metered(d.account)
			o.Reply = v
			o.Output, o.Err = t.End(d.eval, a, v)
		} else {
			o.Err = err
		}
	}
	d.settle(t, o)
}

// failed returns what the error of an activity says.
func failed(err error) (*callReply, error) {
	out := &callReply{}
	var gone *temporal.CanceledError
	if errors.As(err, &gone) {
		return out, &graph.Failure{Name: graph.FailCancelled, Message: "the call was cancelled"}
	}
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return out, &graph.Failure{Name: graph.FailInternal, Message: err.Error()}
	}
	f := &graph.Failure{Name: app.Type(), Message: app.Message()}
	if app.HasDetails() && app.Details(out) == nil && len(out.Failure) > 0 {
		if v, bad := parsed(out.Failure); bad == nil {
			f = graph.FailureFrom(v)
		}
	}
	if !graph.IsFailure(f.Name) {
		f.Name = graph.FailInternal // not one of ours: the activity did not come to its end
	}
	return out, &callFailure{Failure: f, after: out.RetryAfter, errorType: out.ErrorType, exceptionType: out.ExceptionType}
}

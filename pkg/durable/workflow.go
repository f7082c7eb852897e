package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// walks runs workflows.
type walks struct {
	source    Source
	memory    *memory.Budget
	telemetry Telemetry // may be nil
}

// run is the workflow. Its error is an *ApplicationError or a *CanceledError whose
// details are an outcome, or continues it as a new one.
func (w *walks) run(ctx workflow.Context, in *request) (*outcome, error) {
	if in == nil { // other programs of the namespace can start anything
		return nil, refused(&graph.Failure{Name: graph.FailArguments, Message: "the workflow has no input"}, &outcome{})
	}
	if in.Digest != "" && in.Digest != w.source.Digest() {
		return nil, refused(&graph.Failure{
			Name:    graph.FailInternal,
			Message: fmt.Sprintf("the run is for version %.12s of the file, but this task queue is for version %.12s", in.Digest, w.source.Digest()),
		}, &outcome{})
	}
	g, err := w.source.Graph(in.Tool)
	if err != nil {
		return nil, refused(&graph.Failure{Name: graph.FailArguments, Message: err.Error()}, &outcome{})
	}
	account := w.memory.Account(in.callerName())
	defer account.Close()
	eval, release := memory.WithAccount(context.Background(), account)
	defer release()
	if args, err := parsed(in.Args); err == nil {
		in.Caller = in.Caller.withSecrets(w.source.SecretArguments(nil, "", in.Tool, args))
	}
	run, err := in.begin(eval, g, workflow.GetInfo(ctx))
	if err != nil {
		return nil, w.failed(in, err, &outcome{})
	}
	run.Mask(w.source.MaskArguments)
	run.CheckCalls(w.source.CheckLocked)
	own, _ := workflow.NewDisconnectedContext(ctx)
	d := &driving{walks: w, ctx: own, in: in, run: run, eval: eval, account: account, calls: map[executor.Task]*calling{}, children: map[executor.Task]*child{}}
	if err := d.observe(ctx); err != nil {
		return nil, refused(&graph.Failure{Name: graph.FailArguments, Message: err.Error()}, &outcome{})
	}
	out, err := d.drive(ctx)
	d.reported()
	return out, err
}

// redacted returns an info with the secret arguments of the run, to redact them.
func (in *request) redacted() *callinfo.Info {
	return &callinfo.Info{Caller: in.callerName(), SecretArguments: in.Caller.secrets()}
}

func (in *request) callerName() string {
	if in.Caller == nil {
		return ""
	}
	return in.Caller.Name
}

// begin returns the run of a workflow: a new one, or that of the workflow before.
func (in *request) begin(ctx context.Context, g *graph.Graph, info *workflow.Info) (*executor.Run, error) {
	if in.MaxValue <= 0 {
		in.MaxValue = MaxValue
	}
	if in.HeartbeatMs <= 0 {
		in.HeartbeatMs = DefaultHeartbeat.Milliseconds()
	}
	if in.Seed == 0 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(info.WorkflowExecution.ID + info.OriginalRunID))
		in.Seed = h.Sum64()
	}
	args, err := parsed(in.Args)
	if err != nil {
		return nil, &graph.Failure{Name: graph.FailArguments, Message: "the arguments are not JSON: " + err.Error()}
	}
	if args.IsUndefined() || args.IsNull() {
		args = value.FromEntries(nil)
	}
	if in.Records == nil {
		if args.Kind() != value.Object {
			return nil, &graph.Failure{Name: graph.FailArguments, Message: "invalid arguments: expected an object"}
		}
		if err := g.Input.ValidateContext(ctx, args); err != nil {
			return nil, &graph.Failure{Name: graph.FailArguments, Message: fmt.Sprintf("tool %q: invalid arguments: %s", g.Name, err)}
		}
	}
	run := executor.NewRun(g, args, in.Seed)
	if in.Share != nil {
		run.Confine(*in.Share)
	}
	var bad error
	for rec := range recordsOf(g, in.Records, &bad) {
		if err := run.Follow(rec); err != nil {
			return nil, err
		}
	}
	if in.Records != nil {
		run.Restore(in.Spent, in.Shares)
	}
	return run, bad
}

// recordsOf reads records of a run of g until one is wrong.
func recordsOf(g *graph.Graph, list []json.RawMessage, bad *error) iter.Seq[executor.Record] {
	return func(yield func(executor.Record) bool) {
		for _, text := range list {
			v, err := parsed(text)
			var rec executor.Record
			if err == nil {
				rec, err = executor.RecordFrom(g, v)
			}
			if *bad = err; err != nil || !yield(rec) {
				return
			}
		}
	}
}

// driving is one workflow that drives a run. Only one of its coroutines runs at a
// time.
type driving struct {
	*walks
	ctx     workflow.Context // is not cancelled with the workflow
	in      *request
	run     *executor.Run
	eval    context.Context // of evaluations
	account *memory.Account

	selector workflow.Selector
	changed  workflow.Channel // an update has changed the run
	calls    map[executor.Task]*calling
	children map[executor.Task]*child
	ending   int // children that were given up and are not cancelled yet
	batch    int // bytes of arguments since the last step
	canceled bool
	tooLong  bool // the records are too many to continue as a new workflow

	said []said // by servers in calls that are over

	began    time.Time // the run, with the first of its workflows
	observer Observer  // may be nil
	reports  []func()  // to be called at the end of the step

	armed  time.Time // when the timer fires; zero: there is none
	disarm workflow.CancelFunc
}

func (d *driving) drive(ctx workflow.Context) (*outcome, error) {
	if err := d.listen(ctx); err != nil {
		return nil, err
	}
	d.run.Begin(workflow.Now(ctx))
	d.run.Advance(workflow.Now(ctx))
	d.awaitChildren()
	first := d.run.NextIndex()
	for {
		if d.full() && len(d.calls) == 0 && d.run.NextIndex() > first && !d.run.Done() {
			if err := d.awaitBegun(); err != nil {
				return nil, err
			}
			if ctx.Err() != nil {
				d.cancel() // the next workflow would not be told
			} else if next, ok := d.next(); ok {
				return nil, workflow.NewContinueAsNewError(ctx, WorkflowType, next)
			} else {
				d.tooLong = true
			}
		}
		d.work()
		if d.refuse() {
			continue
		}
		if d.run.Done() {
			return d.end()
		}
		d.tellWaiting()
		d.arm()
		d.reported()
		d.selector.Select(d.ctx)
		d.batch = 0
		d.run.Advance(workflow.Now(ctx))
	}
}

// tellWaiting lets lists of runs show whether the run waits for people alone, without a
// worker being asked.
func (d *driving) tellWaiting() {
	if waiting := d.run.Parked(); waiting != d.in.Waiting {
		d.in.Waiting = waiting
		_ = workflow.UpsertMemo(d.ctx, map[string]any{memoWaiting: waiting, memoSince: workflow.Now(d.ctx).UTC()}) // fails for an empty memo alone
	}
}

// listen sets up what can happen from outside.
func (d *driving) listen(ctx workflow.Context) error {
	d.selector = workflow.NewSelector(ctx)
	d.changed = workflow.NewBufferedChannel(ctx, 1)
	d.selector.AddReceive(d.changed, func(c workflow.ReceiveChannel, _ bool) { c.Receive(d.ctx, nil) })
	gone, set := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		ctx.Done().Receive(ctx, nil)
		set.Set(nil, nil)
	})
	d.selector.AddFuture(gone, func(workflow.Future) { d.cancel() })
	if err := workflow.SetUpdateHandlerWithOptions(ctx, updateAnswer, func(_ workflow.Context, a reply) error {
		return d.answer(a)
	}, workflow.UpdateHandlerOptions{Validator: d.mayAnswer}); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandler(ctx, updateUse, func(_ workflow.Context, one runs.Use) (bool, error) {
		all, ok := runs.Used(d.in.Uses, one)
		d.in.Uses = all
		return ok, nil
	}); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, queryState, d.state); err != nil {
		return err
	}
	return workflow.SetQueryHandler(ctx, queryRecords, d.page)
}

// cancel ends the run for Temporal, again without effect.
func (d *driving) cancel() {
	d.canceled = true
	d.run.Stop(&graph.Failure{Name: graph.FailCancelled, Message: cancelledText})
}

// mayAnswer returns why a question cannot be answered.
func (d *driving) mayAnswer(a reply) error {
	if _, err := parsed(a.Answer); err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	for _, q := range d.run.Questions() {
		if q.ID == a.Question {
			return nil
		}
	}
	return temporal.NewNonRetryableApplicationError("the run does not ask that (any more)", notAsked, nil)
}

const notAsked = "mcpgraph.notAsked"

func (d *driving) answer(a reply) error {
	v, err := parsed(a.Answer)
	if err != nil {
		return err
	}
	var failed error
	if f, err := parsed(a.Failure); err != nil {
		return err
	} else if !f.IsUndefined() {
		failed = graph.FailureFrom(f)
	}
	if err := d.run.Answer(a.Question, v, failed, workflow.Now(d.ctx)); err != nil {
		return temporal.NewNonRetryableApplicationError("the run does not ask that (any more)", notAsked, nil)
	}
	d.changed.SendAsync(true)
	return nil
}

// full reports whether the run has to continue as a new workflow once it can.
func (d *driving) full() bool {
	return !d.tooLong && workflow.GetInfo(d.ctx).GetContinueAsNewSuggested()
}

// draining reports whether no call may begin until that has happened.
func (d *driving) draining() bool {
	info := workflow.GetInfo(d.ctx)
	return !d.tooLong && (info.GetCurrentHistoryLength() > drainEvents || info.GetCurrentHistorySize() > drainBytes)
}

// arm sets the timer to what happens next by itself. A timer that fires too early is
// cheaper than another one.
func (d *driving) arm() {
	at, ok := d.run.Wake()
	if !ok || !d.armed.IsZero() && !at.Before(d.armed) {
		return
	}
	if d.disarm != nil {
		d.disarm()
	}
	delay := max(at.Sub(workflow.Now(d.ctx)), 0)
	delay = (delay + time.Millisecond - 1).Truncate(time.Millisecond)
	ctx, cancel := workflow.WithCancel(d.ctx)
	d.armed, d.disarm = at, cancel
	d.selector.AddFuture(workflow.NewTimer(ctx, delay), func(f workflow.Future) {
		if f.Get(d.ctx, nil) != nil || !d.armed.Equal(at) {
			return // another one is set
		}
		d.armed, d.disarm = time.Time{}, nil
		d.run.Advance(later(at, workflow.Now(d.ctx)))
	})
}

// later returns the later one of two times: a timer may be early by the clock.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// end returns what came of the run.
func (d *driving) end() (*outcome, error) {
	if d.disarm != nil {
		d.disarm()
	}
	if err := d.awaitEnding(); err != nil {
		return nil, err
	}
	out, err := &outcome{Count: d.run.NextIndex(), Executions: d.run.Spent(), Said: d.said, Secrets: d.in.Caller.secrets(), Uses: d.in.Uses}, d.run.Err()
	result := d.run.Result()
	if err == nil && d.in.Share == nil { // a parent checks it
		err = executor.CheckResult(d.eval, d.run)
	}
	if text := raw(result); err == nil && len(text) > d.in.MaxValue {
		err = tooLarge("the result", len(text), d.in.MaxValue)
	} else if err == nil {
		out.Result = text
	}
	d.survive()
	if d.observer != nil {
		d.report(d.observer.Ended(err, workflow.Now(d.ctx)))
	}
	size := 0
	for rec := range d.run.Records(0) {
		text := raw(rec.Value())
		if size += len(text); size > maxInlineRecords {
			out.Records = nil
			break
		}
		out.Records = append(out.Records, text)
	}
	if err == nil {
		return out, nil
	}
	if d.in.Share != nil {
		out.Error = raw(shortenedError(d.source.RedactValue(d.in.redacted(), executor.FailureValue(err))))
	}
	failed := d.failed(d.in, err, out)
	if d.canceled {
		failed = temporal.NewCanceledError(out)
	}
	return nil, failed
}

// failed puts the failure of a run into its outcome, and returns the error with which the
// workflow ends for it. It redacts secrets, which graphs have from replies, before anything
// is cut.
func (w *walks) failed(in *request, err error, out *outcome) error {
	f, info := executor.FailureOf(err), in.redacted()
	out.Failure = raw(shortened(graph.FailureFrom(w.source.RedactValue(info, f.Value()))).Value())
	out.Text = textline.Prefix(w.source.Redact(info, err.Error()), maxMessage)
	return refused(&graph.Failure{Name: f.Name, Message: out.Text}, out)
}

// survive gives the step up where the process has too little memory for it: another
// worker, or this one later, does it again. What comes of a run must not depend on
// the machine.
func (d *driving) survive() {
	if err := d.account.Err(); err != nil {
		panic(fmt.Sprintf("too little memory to evaluate: %v", err))
	}
}

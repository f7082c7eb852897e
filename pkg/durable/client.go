package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Start is a run to be started.
type Start struct {
	// ID names the run among all runs of the namespace.
	ID string
	// Tool and Args are what is called, Digest is that of the file; see [Source].
	Tool, Digest string
	Args         value.Value
	// Seed is what the randomness of the run derives from; 0: the workflow chooses.
	Seed uint64
	// Info is what calls carry about the caller. Its header and _meta travel only if
	// they are sealed with a key, and of the header what Forwarded reports. So does its
	// Trace, but for the traceparent.
	Info      *callinfo.Info
	Forwarded func(header string) bool
	// Heartbeat is after how long without a sign of life a worker is lost; 0:
	// DefaultHeartbeat.
	Heartbeat time.Duration
}

// Errors of a Client.
var (
	// ErrNotFound is returned if there is no run with an id.
	ErrNotFound = errors.New("no such run")
	// ErrExists is returned if there is a run with this id already.
	ErrExists = errors.New("there is a run with this id already")
	// ErrNotAsked is returned for an answer to something that a run does not ask, or
	// not any more.
	ErrNotAsked = errors.New("the run does not ask that (any more)")
	// ErrNoWorker is returned if no worker has the version of the file that a run
	// needs.
	ErrNoWorker = errors.New("no worker for this version of the file answers")
)

// Start starts a run. Workers take it whenever they are there.
func (c *Client) Start(ctx context.Context, s Start) error {
	in := &request{
		Tool: s.Tool, Digest: s.Digest, Args: raw(s.Args), Seed: s.Seed,
		Trace: traceFor(s.Info, c.options.Key != nil), MaxValue: c.maxValue(), HeartbeatMs: s.Heartbeat.Milliseconds(),
	}
	if len(in.Args) > in.MaxValue {
		return tooLarge("the arguments", len(in.Args), in.MaxValue)
	}
	owner := ""
	if s.Info != nil {
		owner = s.Info.Caller
		in.Caller = &caller{Name: owner}
		if c.options.Key != nil {
			in.Caller = callerOf(s.Info, s.Forwarded)
		}
	}
	_, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: s.ID, TaskQueue: c.queue(s.Digest), WorkflowTaskTimeout: taskTimeout,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{memoTool: s.Tool, memoCaller: owner, memoDigest: s.Digest},
		StaticSummary:                            s.Tool,
	}, WorkflowType, in)
	var exists *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &exists) {
		return ErrExists
	}
	return err
}

// Members of the memo of a workflow, which lists of runs show. The first three are
// those of the start; the workflow sets the last one.
const (
	memoTool    = "tool"
	memoCaller  = "caller"
	memoDigest  = "digest"
	memoWaiting = "waiting"
)

// Outcome is what came of a run.
type Outcome struct {
	// Value is the result, undefined if the run failed.
	Value value.Value
	// Failure is why it failed, as graphs see it, and Text the whole text; nil if it
	// did not fail.
	Failure *graph.Failure
	Text    string
	records []json.RawMessage // nil if a query has them
	count   int
}

// Err returns the failure as an error, nil if the run did not fail.
func (o *Outcome) Err() error {
	if o.Failure == nil {
		return nil
	}
	return &RunError{o.Failure, o.Text}
}

// RunError is the failure of a run that workers drove.
type RunError struct {
	Failure *graph.Failure
	text    string
}

// Error returns the text as the worker had it.
func (e *RunError) Error() string { return e.text }

// Unwrap returns the failure.
func (e *RunError) Unwrap() error { return e.Failure }

// Result waits for the end of a run.
func (c *Client) Result(ctx context.Context, id string) (*Outcome, error) {
	out := &outcome{}
	err := c.temporal.GetWorkflow(ctx, id, "").Get(ctx, out)
	var app *temporal.ApplicationError
	var canceled *temporal.CanceledError
	var ended *temporal.TerminatedError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &app):
		out.Failure, out.Text = raw((&graph.Failure{Name: app.Type(), Message: app.Message()}).Value()), app.Message()
		if app.HasDetails() {
			if err := app.Details(out); err != nil {
				return nil, fmt.Errorf("the outcome of run %s cannot be read: %w", id, err)
			}
		}
	case errors.As(err, &canceled):
		out.Failure, out.Text = raw((&graph.Failure{Name: graph.FailCancelled, Message: cancelledText}).Value()), cancelledText
		if canceled.HasDetails() {
			if err := canceled.Details(out); err != nil {
				return nil, fmt.Errorf("the outcome of run %s cannot be read: %w", id, err)
			}
		}
	case errors.As(err, &ended):
		out.Failure, out.Text = raw((&graph.Failure{Name: graph.FailInterrupted, Message: terminatedText}).Value()), terminatedText
	default:
		return nil, known(err)
	}
	return out.read()
}

const (
	cancelledText  = "the run was cancelled"
	terminatedText = "the run was terminated on Temporal"
)

func (o *outcome) read() (*Outcome, error) {
	result, err := parsed(o.Result)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Value: result, Text: o.Text, records: o.Records, count: o.Count}
	if len(o.Failure) > 0 {
		v, err := parsed(o.Failure)
		if err != nil {
			return nil, err
		}
		out.Failure = graph.FailureFrom(v)
	}
	return out, nil
}

// known returns the errors of Temporal that this package has names for.
func known(err error) error {
	var missing *serviceerror.NotFound
	var app *temporal.ApplicationError
	var failed *serviceerror.QueryFailed
	var late *client.WorkflowUpdateServiceTimeoutOrCanceledError
	switch {
	case errors.As(err, &missing):
		return ErrNotFound
	case errors.As(err, &app) && app.Type() == notAsked:
		return ErrNotAsked
	case errors.As(err, &failed):
		return fmt.Errorf("the worker of the run cannot answer: %w", failed)
	case errors.As(err, &late), errors.Is(err, context.DeadlineExceeded):
		return ErrNoWorker
	}
	return err
}

// Cancel ends a run. Its calls end within seconds.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return known(c.temporal.CancelWorkflow(ctx, id, ""))
}

// Answer answers a question with the result of its request or, if failed is not nil,
// with why there is none. It needs a worker, and waits for one as long as ctx allows.
// The error is ErrNotAsked if the run does not ask that (any more).
func (c *Client) Answer(ctx context.Context, id, question string, answer value.Value, failed error) error {
	in := &reply{Question: question, Answer: raw(answer)}
	if failed != nil {
		in.Failure = raw(executor.FailureOf(failed).Value())
	}
	h, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: updateAnswer, WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{in},
	})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	if err != nil && ctx.Err() != nil {
		return known(ctx.Err())
	}
	return known(err)
}

// queryTimeout is how long a worker may take to answer a query.
const queryTimeout = 15 * time.Second

func (c *Client) query(ctx context.Context, id, name string, into any, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	v, err := c.temporal.QueryWorkflow(ctx, id, "", name, args...)
	if err == nil {
		err = v.Get(into)
	}
	if err != nil && ctx.Err() != nil {
		return known(ctx.Err())
	}
	return unanswered(err)
}

// unanswered is known for a query that the client has not given up. Temporal gives one
// up if its worker is lost, and takes none of a run that has lost several in a row.
func unanswered(err error) error {
	var late *serviceerror.DeadlineExceeded
	var canceled *serviceerror.Canceled
	var notReady *serviceerror.WorkflowNotReady
	if errors.As(err, &late) || errors.As(err, &canceled) || errors.As(err, &notReady) {
		return ErrNoWorker
	}
	return known(err)
}

// Records returns records of a run from an index on, as JSON, and the index of the
// next ones. Done is true if no others follow. It needs a worker.
func (c *Client) Records(ctx context.Context, id string, from int) (records []json.RawMessage, next int, done bool, err error) {
	p := &page{}
	if err := c.query(ctx, id, queryRecords, p, from); err != nil {
		return nil, from, false, err
	}
	return p.Records, p.Next, p.Done, nil
}

// followEvery is how often a run that is followed is asked for what is new: at once,
// then more and more rarely.
const followFirst, followLast = 100 * time.Millisecond, 2 * time.Second

// Watch is what somebody wants to know of a run that is followed.
type Watch struct {
	// Record is called for each record, after it was added to the run. It may be nil.
	Record func(executor.Record)
	// Changed is called after records were added; nothing follows if it reports false.
	Changed func() bool
}

// Follow adds to run what happens in the durable run with this id until that has ended,
// or the watch ends. Run must have been made of the same graph, arguments and seed. It
// returns what came of the run, nil where the watch ended. Without a watch all records
// are added at the end.
func (c *Client) Follow(ctx context.Context, id string, run *executor.Run, watch *Watch) (*Outcome, error) {
	return c.follow(ctx, id, watch != nil, run.NextIndex, func(list []json.RawMessage) (bool, error) {
		if err := added(run, list, watch); err != nil {
			return false, err
		}
		return len(list) == 0 || watch == nil || watch.Changed == nil || watch.Changed(), nil
	})
}

// follow hands records of a run to add until the run has ended, or add reports false.
// next returns the index of the next one that is wanted. Without poll, all come at the
// end.
func (c *Client) follow(ctx context.Context, id string, poll bool, next func() int, add func([]json.RawMessage) (bool, error)) (*Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type ended struct {
		out *Outcome
		err error
	}
	end := make(chan ended, 1)
	go func() {
		out, err := c.Result(ctx, id)
		end <- ended{out, err}
	}()
	var tick <-chan time.Time
	wait := followFirst
	if poll {
		tick = time.After(wait)
	}
	for {
		select {
		case e := <-end:
			if e.err != nil {
				return nil, e.err
			}
			list, err := c.all(ctx, id, next(), e.out)
			if err == nil {
				_, err = add(list)
			}
			return e.out, err
		case <-tick:
		}
		list, _, _, err := c.Records(ctx, id, next())
		if wait = min(2*wait, followLast); len(list) > 0 {
			wait = followFirst
		}
		tick = time.After(wait)
		switch {
		case ctx.Err() != nil, errors.Is(err, ErrNoWorker), errors.As(err, new(*serviceerror.QueryFailed)):
			continue // there may be a worker later that can answer
		case err != nil:
			return nil, err
		}
		if more, err := add(list); err != nil || !more {
			return nil, err
		}
	}
}

// added adds those records to run that it does not have.
func added(run *executor.Run, list []json.RawMessage, watch *Watch) error {
	var bad error
	for rec := range recordsOf(run.Graph(), list, &bad) {
		if rec.Index < run.NextIndex() {
			continue
		}
		if err := run.Follow(rec); err != nil {
			return err
		}
		if watch != nil && watch.Record != nil {
			watch.Record(rec)
		}
	}
	return bad
}

// Watch hands the records of a run to show, as JSON and as they come, until the run has
// ended. It returns what came of it, or the error of show.
func (c *Client) Watch(ctx context.Context, id string, show func([]json.RawMessage) error) (*Outcome, error) {
	seen := 0
	return c.follow(ctx, id, true, func() int { return seen }, func(list []json.RawMessage) (bool, error) {
		fresh := after(list, seen)
		if len(fresh) == 0 {
			return true, nil
		}
		seen = indexOf(fresh[len(fresh)-1]) + 1
		return true, show(fresh)
	})
}

// indexOf returns the index of a record.
func indexOf(text json.RawMessage) int {
	var rec struct{ Index int }
	_ = json.Unmarshal(text, &rec)
	return rec.Index
}

// after returns the records from an index on.
func after(list []json.RawMessage, from int) []json.RawMessage {
	for i, text := range list {
		if indexOf(text) >= from {
			return list[i:]
		}
	}
	return nil
}

// All returns the records of a run that has ended, as JSON. It needs a worker if they
// are long.
func (c *Client) All(ctx context.Context, id string, out *Outcome) ([]json.RawMessage, error) {
	return c.all(ctx, id, 0, out)
}

// all returns the records of a run that has ended, from an index on.
func (c *Client) all(ctx context.Context, id string, from int, out *Outcome) ([]json.RawMessage, error) {
	if out.records != nil || out.count == 0 {
		return out.records, nil
	}
	var all []json.RawMessage
	for {
		list, next, done, err := c.Records(ctx, id, from)
		if err != nil {
			return nil, err
		}
		if all, from = append(all, list...), next; done || len(list) == 0 {
			return all, nil
		}
	}
}

package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// launch is a run to be started.
type launch struct {
	// ID names the run among all runs of the namespace.
	ID string
	// Tool and Args are what is called, Digest is that of the file; see [Source].
	Tool, Digest string
	Args         value.Value
	// Seed is what the randomness of the run derives from; 0: the workflow chooses.
	Seed uint64
	// Info is what calls carry about the caller. Its header and _meta travel only if
	// they are sealed with a key, and of the header what Forwarded reports. So does its
	// Trace, but for the traceparent. Its Listener says what calls report; see
	// Watch.Notify.
	Info      *callinfo.Info
	Forwarded func(header string) bool
	// Heartbeat is after how long without a sign of life a worker is lost; 0:
	// DefaultHeartbeat.
	Heartbeat time.Duration
	// Claim lets the caller come back to the run; it may be nil.
	Claim *runs.Claim
	// Refuses are those of [runs.Call].
	Refuses map[string]*graph.Failure
}

// start starts a run. Workers take it whenever they are there. A run whose start was
// given up as ctx was done is cancelled.
func (c *Client) start(ctx context.Context, s launch) error {
	in := &request{
		Tool: s.Tool, Digest: s.Digest, Args: raw(s.Args), Seed: s.Seed,
		Trace: traceFor(s.Info, c.options.Key != nil), Listening: listeningOf(s.Info), MaxValue: c.maxValue(), HeartbeatMs: s.Heartbeat.Milliseconds(),
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
	memo := memoOf(s.Tool, owner, s.Digest)
	if s.Claim != nil {
		if err := c.bounds.allow(ctx, c, owner); err != nil {
			return err
		}
		in.Refused = refusals(s.Refuses)
		memo[memoClaim] = claimOf(s.Claim)
	}
	run, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: s.ID, TaskQueue: c.queue(s.Digest), WorkflowTaskTimeout: taskTimeout,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     memo,
		StaticSummary:                            s.Tool,
	}, WorkflowType, in)
	var exists *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case err == nil:
		c.began.add(s.ID, run.GetRunID())
		return nil
	case errors.As(err, &exists):
		return runs.ErrExists
	case ctx.Err() != nil:
		c.undo(ctx, s.ID)
	}
	return reached(ctx, err)
}

// Members of the memo of a workflow. The workflow sets the last two.
const (
	memoTool    = "tool"
	memoCaller  = "caller"
	memoDigest  = "digest"
	memoClaim   = "claim"
	memoWaiting = "waiting" // for answers of people alone
	memoSince   = "since"   // when that changed
)

// memoOf returns what lists of runs show.
func memoOf(tool, caller, digest string) map[string]any {
	return map[string]any{memoTool: tool, memoCaller: caller, memoDigest: digest}
}

// ending is what came of a run.
type ending struct {
	// Value is the result, undefined if the run failed.
	Value value.Value
	// Failure is why it failed, as graphs see it, and Text the whole text; nil if it
	// did not fail.
	Failure *graph.Failure
	Text    string
	records []json.RawMessage // nil if a query has them
	count   int
	said    []said
	secrets []string // see runs.State
	uses    []runs.Use
}

// inline returns the records of the run as JSON. It reports false if they are too long
// to be with the outcome; [Client.all] then gets them from a worker.
func (o *ending) inline() ([]json.RawMessage, bool) {
	return o.records, o.records != nil || o.count == 0
}

// Err returns the failure as an error, nil if the run did not fail.
func (o *ending) Err() error {
	if o.Failure == nil {
		return nil
	}
	return &runs.RunError{Failure: o.Failure, Text: o.Text}
}

// resultOf waits for the end of a run.
func (c *Client) resultOf(ctx context.Context, id string) (*ending, error) {
	end, err := c.end(ctx, id)
	if err != nil {
		return nil, err
	}
	return end.Outcome.read()
}

// end is resultOf for what came of the workflow itself.
func (c *Client) end(ctx context.Context, id string) (*childEnd, error) {
	end := &childEnd{Outcome: &outcome{}}
	err := c.temporal.GetWorkflow(ctx, id, c.began.take(id)).Get(ctx, end.Outcome)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		if end.Why, err = outcomeFrom(err, end.Outcome); err != nil {
			return nil, err
		}
	}
	return end, nil
}

// outcomeFrom reads what the error of a workflow says of its outcome. It returns how
// somebody has ended it, empty if it failed by itself.
func outcomeFrom(err error, out *outcome) (why string, _ error) {
	var app *temporal.ApplicationError
	var canceled *temporal.CanceledError
	var ended *temporal.TerminatedError
	switch {
	case errors.As(err, &app):
		out.Failure, out.Text = raw((&graph.Failure{Name: app.Type(), Message: app.Message()}).Value()), app.Message()
		if app.HasDetails() {
			if err := app.Details(out); err != nil {
				return "", fmt.Errorf("the outcome of the run %w: %w", runs.ErrUnreadable, err)
			}
		}
		return "", nil
	case errors.As(err, &canceled):
		out.Failure, out.Text = raw((&graph.Failure{Name: graph.FailCancelled, Message: cancelledText}).Value()), cancelledText
		if canceled.HasDetails() {
			if err := canceled.Details(out); err != nil {
				return "", fmt.Errorf("the outcome of the run %w: %w", runs.ErrUnreadable, err)
			}
		}
		return "cancelled", nil
	case errors.As(err, &ended):
		out.Failure, out.Text = raw((&graph.Failure{Name: graph.FailInterrupted, Message: terminatedText}).Value()), terminatedText
		return "terminated", nil
	}
	return "", known(err)
}

// Use implements [runs.Place]. It needs a worker. Workers of programs that did not know of
// this note nothing.
func (c *Client) Use(ctx context.Context, w runs.Who, id, asked, given string) error {
	at, err := c.Look(ctx, w, id, runs.Brief)
	if err != nil {
		return err
	}
	ok, one := true, runs.Use{Asked: asked, Given: given}
	if !at.Status.Over() {
		h, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: updateUse, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{one},
		})
		if err == nil {
			err = h.Get(ctx, &ok)
		}
		var unknown *temporal.ApplicationError
		switch {
		case err != nil && ctx.Err() != nil:
			return known(ctx.Err())
		case errors.As(err, &unknown):
			return nil
		case err != nil && !errors.Is(known(err), runs.ErrNotFound):
			return known(err)
		case err == nil && !ok:
			return runs.ErrUsed
		case err == nil:
			return nil
		}
	}
	out, err := c.resultOf(ctx, id) // it has ended
	if err != nil {
		return err
	}
	if _, ok = runs.Used(out.uses, one); !ok {
		return runs.ErrUsed
	}
	return nil
}

const (
	cancelledText  = "the run was cancelled"
	terminatedText = "the run was terminated on Temporal"
)

func (o *outcome) read() (*ending, error) {
	result, err := parsed(o.Result)
	if err != nil {
		return nil, err
	}
	out := &ending{Value: result, Text: o.Text, records: o.Records, count: o.Count, said: o.Said, secrets: o.Secrets, uses: o.Uses}
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
	var elsewhere *serviceerror.NamespaceNotFound
	switch {
	case errors.As(err, &elsewhere):
		return missingNamespace(elsewhere.Namespace)
	case isUnreachable(err):
		return &unavailableError{plainText(err)}
	case errors.As(err, &missing):
		return runs.ErrNotFound
	case errors.As(err, &app) && app.Type() == notAsked:
		return runs.ErrNotAsked
	case errors.As(err, &failed):
		return fmt.Errorf("the worker of the run cannot answer: %w", failed)
	case errors.As(err, &late), errors.Is(err, context.DeadlineExceeded):
		return runs.ErrNoWorker
	}
	return err
}

// cancel ends a run. Its calls end within seconds.
func (c *Client) cancel(ctx context.Context, id string) error {
	return reached(ctx, c.temporal.CancelWorkflow(ctx, id, ""))
}

// answer answers a question with the result of its request or, if failed is not nil,
// with why there is none. It needs a worker, and waits for one as long as ctx allows.
// The error is runs.ErrNotAsked if the run does not ask that (any more).
func (c *Client) answer(ctx context.Context, id, question string, answer value.Value, failed error) error {
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
	if err = known(err); errors.Is(err, runs.ErrNotAsked) && strings.Contains(question, ".") {
		return c.answerChild(ctx, id, question, answer, failed)
	}
	return err
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
		return runs.ErrNoWorker
	}
	return known(err)
}

// records returns records of a run from an index on, as JSON, and the index of the
// next ones. Done is true if no others follow. It needs a worker.
func (c *Client) records(ctx context.Context, id string, from int) (records []json.RawMessage, next int, done bool, err error) {
	p, err := c.page(ctx, id, from)
	return p.Records, p.Next, p.Done, err
}

func (c *Client) page(ctx context.Context, id string, from int) (*page, error) {
	p := &page{}
	if err := c.query(ctx, id, queryRecords, p, from); err != nil {
		return &page{Next: from}, err
	}
	return p, nil
}

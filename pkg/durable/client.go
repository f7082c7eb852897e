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
	// Trace, but for the traceparent. Its Listener says what calls report; see
	// Watch.Notify.
	Info      *callinfo.Info
	Forwarded func(header string) bool
	// Heartbeat is after how long without a sign of life a worker is lost; 0:
	// DefaultHeartbeat.
	Heartbeat time.Duration
	// Claim lets the caller come back to the run; it may be nil.
	Claim *Claim
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
	// ErrUnreachable is returned if a request did not come to Temporal.
	ErrUnreachable = errors.New("no connection to Temporal")
	// ErrNoWorker is returned if no worker has the version of the file that a run
	// needs.
	ErrNoWorker = errors.New("no worker for this version of the file answers")
	// ErrUnreadable is in errors about what Temporal has and this program cannot read,
	// such as values in a folder that it does not know.
	ErrUnreadable = errors.New("cannot be read")
)

// Start starts a run. Workers take it whenever they are there. A run whose start was
// given up as ctx was done is cancelled.
func (c *Client) Start(ctx context.Context, s Start) error {
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
		in.Refused = s.Claim.refused()
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
		return ErrExists
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
	said    []said
}

// Records returns the records of the run as JSON. It reports false if they are too long
// to be with the outcome; [Client.All] then gets them from a worker.
func (o *Outcome) Records() ([]json.RawMessage, bool) {
	return o.records, o.records != nil || o.count == 0
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
	end, err := c.end(ctx, id)
	if err != nil {
		return nil, err
	}
	return end.Outcome.read()
}

// end is Result for what came of the workflow itself.
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
				return "", fmt.Errorf("the outcome of the run %w: %w", ErrUnreadable, err)
			}
		}
		return "", nil
	case errors.As(err, &canceled):
		out.Failure, out.Text = raw((&graph.Failure{Name: graph.FailCancelled, Message: cancelledText}).Value()), cancelledText
		if canceled.HasDetails() {
			if err := canceled.Details(out); err != nil {
				return "", fmt.Errorf("the outcome of the run %w: %w", ErrUnreadable, err)
			}
		}
		return "cancelled", nil
	case errors.As(err, &ended):
		out.Failure, out.Text = raw((&graph.Failure{Name: graph.FailInterrupted, Message: terminatedText}).Value()), terminatedText
		return "terminated", nil
	}
	return "", known(err)
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
	out := &Outcome{Value: result, Text: o.Text, records: o.Records, count: o.Count, said: o.Said}
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
		return fmt.Errorf("%w: %s", ErrUnreachable, plainText(err))
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
	return reached(ctx, c.temporal.CancelWorkflow(ctx, id, ""))
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
	if err = known(err); errors.Is(err, ErrNotAsked) && strings.Contains(question, ".") {
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
		return ErrNoWorker
	}
	return known(err)
}

// Records returns records of a run from an index on, as JSON, and the index of the
// next ones. Done is true if no others follow. It needs a worker.
func (c *Client) Records(ctx context.Context, id string, from int) (records []json.RawMessage, next int, done bool, err error) {
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

package durable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

const (
	// stateTimeout bounds what a look takes whose context has no end, and askTimeout the
	// questions to a worker for callers, who ask again.
	stateTimeout = 20 * time.Second
	askTimeout   = 3 * time.Second
)

// Look implements [runs.Place]. Brief needs no worker, and neither does a run that is
// over. Runs of other deployments (Options.TaskQueue) are there for the operator alone.
func (c *Client) Look(ctx context.Context, w runs.Who, id string, detail runs.Detail) (*runs.State, error) {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	got, err := c.described(ctx, id)
	if err != nil {
		return nil, reached(ctx, err)
	}
	info := got.GetWorkflowExecutionInfo()
	memo := info.GetMemo().GetFields()
	caller, proof := "", claim{}
	// A name that cannot be read is not that of the caller without one.
	known := c.memo(memo, memoCaller, &caller) && c.memo(memo, memoClaim, &proof) && strings.HasPrefix(info.GetTaskQueue(), c.options.TaskQueue+":")
	if !w.Operator && (!known || !w.Owns(caller, proof.Check)) {
		return nil, runs.ErrNotFound
	}
	s := &runs.State{
		Summary: c.summary(info), Blocks: proof.Blocks, Created: proof.Created, Ending: got.GetWorkflowExtendedInfo().GetCancelRequested(),
	}
	if s.Created.IsZero() {
		s.Created = s.Began
	}
	s.Updated = s.Created
	c.memo(memo, memoSince, &s.Updated)
	c.noteCalls(s, got)
	if task := got.GetPendingWorkflowTask(); task.GetAttempt() > 1 {
		s.Problem = "the latest step was not done and is tried again; the log of the workers says why"
	}
	switch asks := s.Status == runs.Waiting || len(got.GetPendingChildren()) > 0; { // which can ask as well
	case s.Status.Over():
		err = c.ended(ctx, w, s, detail)
	case detail == runs.Whole && (w.Operator || !s.Ending), detail == runs.Status && asks && !s.Ending:
		err = c.ask(ctx, w, s, info.GetTaskQueue())
	}
	if detail == runs.Whole && s.Args.IsUndefined() && (err == nil || errors.Is(err, runs.ErrNoWorker)) {
		args, seed, bad := c.requestOf(ctx, id)
		if s.Args = args; s.Seed == 0 {
			s.Seed = seed
		}
		if bad != nil && !errors.Is(bad, runs.ErrUnreadable) {
			err = bad
		}
	}
	return s, err
}

// reached is known for what needs no worker.
func reached(ctx context.Context, err error) error {
	var late *serviceerror.DeadlineExceeded
	if errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &unavailableError{"it does not answer"}
	}
	return known(err)
}

// memo reads a part of a memo, and reports whether it could.
func (c *Client) memo(memo map[string]*commonpb.Payload, name string, into any) bool {
	p := memo[name]
	return p != nil && c.data.FromPayload(p, into) == nil
}

// ended reads what came of a run. What came of one that its caller cancelled does not
// matter to the caller.
func (c *Client) ended(ctx context.Context, w runs.Who, s *runs.State, detail runs.Detail) error {
	s.Updated = s.Ended
	if kept := c.kept.of(ctx, c); kept > 0 {
		s.Kept = s.Ended.Add(kept).Sub(s.Created)
	}
	if detail == runs.Brief || s.Ending && !w.Operator {
		return nil
	}
	out, err := c.resultOf(ctx, s.ID)
	if err != nil {
		if ctx.Err() != nil {
			err = reached(ctx, err)
		}
		return err
	}
	s.Result, s.Err, s.Count, s.Secrets = out.Value, out.Err(), out.count, out.secrets
	return nil
}

// ask lets a worker tell what a run does and asks.
func (c *Client) ask(ctx context.Context, w runs.Who, s *runs.State, queue string) error {
	if !w.Operator {
		limited, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		ctx = limited
	}
	budget := maxFollowed
	st, err := c.stateOf(ctx, s.ID, &budget)
	if err != nil {
		return err
	}
	if s.Args, err = parsed(st.Args); err != nil {
		return fmt.Errorf("the arguments of the run %w: %w", runs.ErrUnreadable, err)
	}
	for _, q := range st.Questions {
		one, err := q.read()
		if err != nil {
			return err
		}
		s.Questions = append(s.Questions, one)
	}
	if s.Status = runs.Running; st.Waiting || st.childrenWait {
		s.Status = runs.Waiting
	}
	s.Seed, s.Count, s.Active, s.Secrets = st.Seed, st.Count, st.Active, st.Secrets
	for _, child := range st.Children {
		s.Children = append(s.Children, runs.Child{ID: child.Run, Tool: child.Tool, Path: child.Path})
	}
	c.noteServed(ctx, s, st.Queued, queue)
	return nil
}

// retention is how long Temporal keeps runs that are over.
type retention struct {
	mu   sync.Mutex
	at   time.Time
	kept time.Duration
}

// retentionFor is how long the retention of a namespace is taken for granted.
const retentionFor = 10 * time.Minute

// of returns it, 0 if it is not known.
func (r *retention) of(ctx context.Context, c *Client) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) < retentionFor {
		return r.kept
	}
	got, err := c.temporal.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.options.Namespace})
	if err != nil && ctx.Err() != nil {
		return r.kept
	}
	r.at, r.kept = time.Now(), got.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	return r.kept
}

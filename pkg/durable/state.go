package durable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// Detail is how much a [State] has to say.
type Detail uint8

// What a State says. Less is cheaper.
const (
	// Brief needs no worker. It has what Temporal itself knows.
	Brief Detail = iota
	// Status adds the outcome of a run that is over, and of one that waits for answers
	// alone what a worker knows.
	Status
	// Whole adds what a worker knows of every run under way.
	Whole
)

// State is a run with a [Claim] at one moment.
type State struct {
	// Description has no questions and arguments if Problem says why no worker answers.
	Description
	Blocks  bool // of its Claim
	Created time.Time
	// Updated is when its status last changed.
	Updated time.Time
	// Ending is true if it is being cancelled, or was.
	Ending bool
	// Outcome is what came of it, nil while it is under way.
	Outcome *Outcome
	// Kept is how long after Created Temporal forgets it; 0 while it is under way, or if
	// that is not known.
	Kept time.Duration
}

const (
	// stateTimeout bounds what a State takes, and askTimeout its questions to a worker.
	stateTimeout = 10 * time.Second
	askTimeout   = 3 * time.Second
)

// State returns a run that was started with a Claim, if owns reports true for its caller
// and the check. The error is ErrNotFound if there is no such run, also one of another
// deployment (Options.TaskQueue).
func (c *Client) State(ctx context.Context, id string, owns func(caller, check string) bool, detail Detail) (*State, error) {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	got, err := c.temporal.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return nil, reached(ctx, err)
	}
	info := got.GetWorkflowExecutionInfo()
	memo := info.GetMemo().GetFields()
	caller, proof := "", claim{}
	// A name that cannot be read is not that of the caller without one.
	if !strings.HasPrefix(info.GetTaskQueue(), c.options.TaskQueue+":") ||
		!c.memo(memo, memoCaller, &caller) || !c.memo(memo, memoClaim, &proof) || !owns(caller, proof.Check) {
		return nil, ErrNotFound
	}
	s := &State{
		Description: Description{Summary: c.summary(info)}, Blocks: proof.Blocks, Created: proof.Created,
		Ending: got.GetWorkflowExtendedInfo().GetCancelRequested(),
	}
	s.Updated = s.Created
	c.memo(memo, memoSince, &s.Updated)
	if info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return s, c.ended(ctx, id, s, detail)
	}
	asks := s.Waiting || len(got.GetPendingChildren()) > 0 // which can ask as well
	if !s.Ending && (detail == Whole || detail == Status && asks) {
		err = c.ask(ctx, id, s)
	}
	return s, err
}

// reached is known for what needs no worker.
func reached(ctx context.Context, err error) error {
	var late *serviceerror.DeadlineExceeded
	if errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: it does not answer", ErrUnreachable)
	}
	return known(err)
}

// memo reads a part of a memo, and reports whether it could.
func (c *Client) memo(memo map[string]*commonpb.Payload, name string, into any) bool {
	p := memo[name]
	return p != nil && c.data.FromPayload(p, into) == nil
}

// ended reads what came of a run.
func (c *Client) ended(ctx context.Context, id string, s *State, detail Detail) (err error) {
	s.Waiting, s.Updated = false, s.Ended
	if kept := c.kept.of(ctx, c); kept > 0 {
		s.Kept = s.Ended.Add(kept).Sub(s.Created)
	}
	if detail != Brief && !s.Ending {
		if s.Outcome, err = c.Result(ctx, id); err != nil && ctx.Err() != nil {
			err = reached(ctx, err)
		}
	}
	return err
}

// ask lets a worker tell what a run asks.
func (c *Client) ask(ctx context.Context, id string, s *State) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	budget := maxFollowed
	switch st, err := c.stateOf(ctx, id, &budget); {
	case errors.Is(err, ErrNoWorker):
		s.Problem = ErrNoWorker.Error()
	case err != nil:
		return err
	default:
		s.Seed, s.Args, s.Count, s.Waiting, s.Questions = st.Seed, st.Args, st.Count, st.Waiting, st.Questions
	}
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

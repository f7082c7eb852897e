package cli

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// durableDriver lets workers drive the runs of calls.
type durableDriver struct {
	client *durable.Client
	// leave reports whether runs go on after the end of their calls, because this
	// process ends; nil: never.
	leave func() bool
}

var _ mcpgraph.Driver = &durableDriver{}

// endTimeout bounds what is said to Temporal after the end of a call.
const endTimeout = 5 * time.Second

// Drive implements mcpgraph.Driver.
func (d *durableDriver) Drive(ctx context.Context, call mcpgraph.RemoteCall) error {
	run := call.Run
	if !call.Again {
		if err := d.start(ctx, call); err != nil {
			return err
		}
	} else if run.Parked() && !d.client.Fresh(ctx, call.ID, run) {
		return executor.ErrParked // without a new answer
	}
	var watch *durable.Watch
	if call.Watched {
		q := &questions{driver: d, call: call, asked: map[string]context.CancelFunc{}}
		watch = &durable.Watch{Record: call.Record, Changed: func() bool { return q.changed(ctx) }}
		if to := call.Info.Listener; to != nil {
			watch.Notify = to.Notify
		}
	}
	out, err := d.client.Follow(ctx, call.ID, run, watch)
	switch {
	case ctx.Err() != nil:
		if d.leave == nil || !d.leave() {
			_ = d.End(ctx, call.ID)
		}
		run.Stop(context.Cause(ctx))
		return context.Cause(ctx)
	case err != nil:
		return forClients(err)
	case out == nil:
		return executor.ErrParked
	}
	if failed := out.Err(); failed != nil {
		run.Stop(failed) // where the records do not have it
		return failed
	}
	return nil
}

// startTimeout bounds how long Temporal may take to start a run.
const startTimeout = 10 * time.Second

func (d *durableDriver) start(ctx context.Context, call mcpgraph.RemoteCall) error {
	s := durable.Start{
		ID: call.ID, Tool: call.Run.Graph().Name, Digest: call.Digest, Args: call.Run.Args(), Seed: call.Run.Seed(),
		Info: call.Info, Forwarded: call.Forwarded,
	}
	if c := call.Claim; c != nil {
		s.Claim = &durable.Claim{Check: c.Check, Created: c.Created, Blocks: c.Blocks, Refused: c.Refused}
	}
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return forClients(d.client.Start(limited, s))
}

// forClients returns errDown for an error that says where Temporal is: that is for the
// operator alone.
func forClients(err error) error {
	if errors.Is(err, durable.ErrUnreachable) {
		return errDown
	}
	return err
}

// What clients learn if Temporal does not answer, or no worker.
var (
	errDown     = &graph.Failure{Name: graph.FailConnect, Message: durable.ErrUnreachable.Error()}
	errNoWorker = &graph.Failure{Name: graph.FailBusy, Message: durable.ErrNoWorker.Error()}
)

// Begin implements mcpgraph.Driver.
func (d *durableDriver) Begin(ctx context.Context, call mcpgraph.RemoteCall) error {
	return d.start(ctx, call)
}

// NewID implements mcpgraph.Driver.
func (d *durableDriver) NewID(caller string) string { return d.client.NewID(caller) }

// State implements mcpgraph.Driver.
func (d *durableDriver) State(ctx context.Context, id string, owns func(caller, check string) bool, detail mcpgraph.Detail) (*mcpgraph.RemoteState, error) {
	s, err := d.client.State(ctx, id, owns, durable.Detail(detail))
	switch {
	case errors.Is(err, durable.ErrNotFound):
		return nil, mcpgraph.ErrNoRun
	case errors.Is(err, durable.ErrUnreachable):
		return nil, errors.Join(errDown, err)
	case err != nil:
		return nil, err
	}
	state := &mcpgraph.RemoteState{
		Tool: s.Tool, Digest: s.Digest, Blocks: s.Blocks, Created: s.Created, Updated: s.Updated, Kept: s.Kept,
		Over: !s.Ended.IsZero(), Ending: s.Ending, Waiting: s.Waiting, Problem: s.Problem, Seed: s.Seed, Count: s.Count,
	}
	if s.Outcome != nil {
		state.Value, state.Err = s.Outcome.Value, s.Outcome.Err()
	}
	if s.Args != nil {
		if state.Args, err = value.ParseLazyBytes(s.Args); err != nil {
			return nil, err
		}
	}
	for _, q := range s.Questions {
		params, err := value.ParseLazyBytes(q.Params)
		if err != nil {
			return nil, err
		}
		state.Questions = append(state.Questions, executor.Question{
			ID: q.ID, Path: q.Path, Node: &graph.Node{ID: q.Node}, Method: q.Method, Value: params, Until: q.Until,
		})
	}
	return state, nil
}

// Answer implements mcpgraph.Driver.
func (d *durableDriver) Answer(ctx context.Context, id, question string, answer value.Value, failed error) error {
	switch err := d.client.Answer(ctx, id, question, answer, failed); {
	case errors.Is(err, durable.ErrNotAsked), errors.Is(err, durable.ErrNotFound):
		return nil
	case errors.Is(err, durable.ErrNoWorker):
		return errors.Join(errNoWorker, err)
	default:
		return err
	}
}

// End implements mcpgraph.Driver.
func (d *durableDriver) End(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return d.client.Cancel(ctx, id)
}

// questions asks what a run asks, each question once.
type questions struct {
	driver interface {
		Answer(ctx context.Context, id, question string, answer value.Value, failed error) error
	}
	call  mcpgraph.RemoteCall
	asked map[string]context.CancelFunc
}

// changed asks the questions that are new, and ends those that are not open any more.
// It reports false where the run is parked.
func (q *questions) changed(ctx context.Context) bool {
	open := map[string]bool{}
	for _, one := range q.call.Run.Questions() {
		open[one.ID] = true
		if q.asked[one.ID] != nil || q.call.Ask == nil {
			continue
		}
		asking, cancel := context.WithCancel(ctx)
		q.asked[one.ID] = cancel
		go q.ask(asking, one)
	}
	for id, cancel := range q.asked {
		if !open[id] {
			cancel()
			delete(q.asked, id)
		}
	}
	return q.call.Ask != nil || !q.call.Run.Parked()
}

func (q *questions) ask(ctx context.Context, one executor.Question) {
	answer, failed := q.call.Ask(ctx, q.call.Run, one)
	if ctx.Err() != nil {
		return
	}
	for wait := answerFirst; ; wait = min(2*wait, answerLast) {
		err := q.driver.Answer(ctx, q.call.ID, one.ID, answer, failed)
		lost := errors.Is(err, durable.ErrNoWorker) || errors.Is(err, durable.ErrUnreachable)
		switch {
		case err == nil, ctx.Err() != nil: // or nobody asks any more, or the run is over
			return
		case !lost && failed != nil:
			return
		case !lost: // such as one that is too long; nobody is asked again
			answer, failed = value.Undef, &graph.Failure{Name: graph.FailInternal, Message: "the answer cannot be given to the run"}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// answerFirst and answerLast are after how long an answer is given again that did not
// come to the run.
const answerFirst, answerLast = 100 * time.Millisecond, 5 * time.Second

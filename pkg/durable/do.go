package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var _ runs.Place = &Client{}

// Name implements [runs.Place].
func (c *Client) Name() string {
	if c.options.Namespace == DefaultNamespace {
		return "Temporal at " + c.options.Address
	}
	return fmt.Sprintf("Temporal at %s, namespace %s", c.options.Address, c.options.Namespace)
}

// startTimeout bounds how long Temporal may take to start a run, and endTimeout what is
// said to it after the end of a call.
const startTimeout, endTimeout = 10 * time.Second, 5 * time.Second

// name gives a new run its id.
func (c *Client) name(call *runs.Call) string {
	id := runs.NewID()
	if call.Claim != nil {
		id = c.newID(call.Info.OrNone().Caller)
	}
	call.Named(id)
	return id
}

// launched starts the run of a call.
func (c *Client) launched(ctx context.Context, call *runs.Call, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return c.start(ctx, launch{
		ID: id, Tool: call.Run.Graph().Name, Digest: call.Program.Digest(), Args: call.Run.Args(), Seed: call.Run.Seed(),
		Info: call.Program.Traced(ctx, call.Info), Forwarded: call.Program.Forwards, Claim: call.Claim, Refuses: call.Refuses,
	})
}

// Start implements [runs.Place]. A run that waits goes on by itself.
func (c *Client) Start(ctx context.Context, call *runs.Call) (*runs.State, error) {
	if call.Slot != nil {
		defer call.Slot.Release()
	}
	if call.ID != "" {
		return c.Look(ctx, call.Who(), call.ID, runs.Brief)
	}
	id := c.name(call)
	if err := c.launched(ctx, call, id); err != nil {
		return nil, err
	}
	return c.stateFor(call, id, runs.Running), nil
}

// stateFor returns what is known of the run of a call in this process.
func (c *Client) stateFor(call *runs.Call, id string, phase runs.Phase) *runs.State {
	run, now := call.Run, time.Now()
	s := &runs.State{
		Summary: runs.Summary{
			ID: id, Tool: run.Graph().Name, Caller: call.Info.OrNone().Caller, Version: call.Program.Digest(), Status: phase, Began: now,
		},
		Created: now, Updated: now, Args: run.Args(), Seed: run.Seed(), Count: run.NextIndex(),
	}
	if call.Claim != nil {
		s.Created, s.Updated, s.Blocks = call.Claim.Created, call.Claim.Created, call.Claim.Blocks
	}
	if phase == runs.Waiting {
		s.Questions = call.Asked()
	}
	return s
}

// Do implements [runs.Place]. A run outlives the process if Options.Leave says so. One of
// another version of the file goes on without the hooks of the call.
func (c *Client) Do(ctx context.Context, call *runs.Call) (s *runs.State, err error) {
	id := call.ID
	if again := id != ""; again {
		at, err := c.awaitState(ctx, call, runs.Whole)
		switch {
		case err != nil:
			return nil, err
		case at.Status.Over(), at.Version != call.Program.Digest():
			return c.await(ctx, call)
		}
		if err := call.Attach(at); err != nil {
			return nil, err
		}
	} else {
		id = c.name(call)
	}
	ctx, record, done, watched, err := call.Elsewhere(ctx)
	defer func() {
		failed := err
		if s != nil {
			if failed = s.Err; s.Status == runs.Waiting {
				failed = executor.ErrParked
			}
		}
		done(failed)
	}()
	if err != nil {
		return nil, err
	}
	if call.ID == "" {
		if err := c.launched(ctx, call, id); err != nil {
			return nil, err
		}
	}
	run := call.Run
	var w *watch
	if watched {
		q := &questions{answer: c.answer, call: call, id: id, asked: map[string]context.CancelFunc{}}
		w = &watch{Record: record, Changed: func() bool { return q.changed(ctx) }}
		if call.Info != nil && call.Info.Listener != nil {
			w.Notify = call.Info.Listener.Notify
		}
	}
	out, err := c.followed(ctx, id, run, w)
	switch {
	case ctx.Err() != nil:
		if c.options.Leave == nil || !c.options.Leave() {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
			defer cancel()
			_ = c.cancel(ending, id)
		}
		run.Stop(context.Cause(ctx))
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case out == nil:
		return c.stateFor(call, id, runs.Waiting), nil
	}
	s = c.stateFor(call, id, runs.Completed)
	s.Ended, s.Result, s.Err = time.Now(), out.Value, out.Err()
	if s.Err != nil {
		run.Stop(s.Err)                  // where the records do not have it
		s.Err = cmp.Or(run.Err(), s.Err) // the first one has the place in the file
	}
	return presented(call, s), nil
}

// presented makes the result of a run what the caller gets.
func presented(call *runs.Call, s *runs.State) *runs.State {
	g, err := call.Program.Graph(s.Tool)
	if s.Err == nil && err == nil {
		s.Result, s.Err = executor.PresentResult(g, s.Result, s.Args, call.URI)
	}
	if s.Err != nil {
		s.Status = runs.Failed
	}
	return s
}

// awaitFirst and awaitLast are after how long a run is asked for its state again.
const awaitFirst, awaitLast = 100 * time.Millisecond, 2 * time.Second

// awaitState is Look for a call that goes on with a run, and waits for a worker.
func (c *Client) awaitState(ctx context.Context, call *runs.Call, detail runs.Detail) (*runs.State, error) {
	for {
		s, err := c.Look(ctx, call.Who(), call.ID, detail)
		if !errors.Is(err, runs.ErrNoWorker) && (err != nil || s.Problem == "") {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(awaitLast):
		}
	}
}

// await waits for the end of a run that is over or of another version of the file, or
// for what it asks next.
func (c *Client) await(ctx context.Context, call *runs.Call) (*runs.State, error) {
	for wait := awaitFirst; ; wait = min(2*wait, awaitLast) {
		s, err := c.awaitState(ctx, call, runs.Status)
		switch {
		case err != nil:
			return nil, err
		case s.Status.Over():
			return presented(call, s), nil
		case len(s.Questions) > 0:
			s.Status = runs.Waiting
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// Answer implements [runs.Place]. It needs a worker, and waits for one as long as ctx
// allows.
func (c *Client) Answer(ctx context.Context, w runs.Who, id string, answers []runs.Answer) error {
	if _, err := c.Look(ctx, w, id, runs.Brief); err != nil {
		return err
	}
	for _, a := range answers {
		if err := c.answer(ctx, id, a.Question, a.Value, a.Err); err != nil {
			return err
		}
	}
	return nil
}

// Cancel implements [runs.Place]. The calls of the run end within seconds.
func (c *Client) Cancel(ctx context.Context, w runs.Who, id string) error {
	s, err := c.Look(ctx, w, id, runs.Brief)
	switch {
	case err != nil:
		return err
	case s.Status.Over():
		return fmt.Errorf("%w: %s", runs.ErrOver, s.Status)
	}
	return c.cancel(ctx, id)
}

// questions asks what a run asks, each question once.
type questions struct {
	answer func(ctx context.Context, id, question string, answer value.Value, failed error) error
	call   *runs.Call
	id     string
	asked  map[string]context.CancelFunc
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
		err := q.answer(ctx, q.id, one.ID, answer, failed)
		switch {
		case err == nil, ctx.Err() != nil, errors.Is(err, runs.ErrNotAsked), errors.Is(err, runs.ErrNotFound): // nobody asks any more
			return
		case isAway(err):
		case failed != nil:
			return
		default: // such as one that is too long; nobody is asked again
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

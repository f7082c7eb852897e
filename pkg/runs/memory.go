package runs

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Memory is the place of the runs of this process, which an [executor.Local] drives. What
// it keeps of them for people is in a [Store], without secrets. What a caller with a
// [Claim] comes back to it keeps as it is: runs that wait for answers, and what came of
// runs. See [Memory.Do] for the bounds.
type Memory struct {
	store  *Store
	budget *memory.Budget // may be nil
	log    *slog.Logger

	mu       sync.Mutex
	closed   bool
	claims   map[string]*claim // by the id of the run
	outcomes list.List         // of *claim: of runs of Do that are over, the oldest first
	working  sync.WaitGroup    // runs of Start

	waiting, started, kept, ended quota // runs of Do that wait; of Start under way, and kept; outcomes
	sessions                      map[*session]context.CancelCauseFunc
}

var _ Place = &Memory{}

// NewMemory returns the place around a Store. What it keeps for callers draws on budget,
// which may be nil.
func NewMemory(store *Store, budget *memory.Budget, log *slog.Logger) *Memory {
	return &Memory{
		store: store, budget: budget, log: log, claims: map[string]*claim{}, sessions: map[*session]context.CancelCauseFunc{},
		waiting: newQuota(MaxWaiting, MaxWaitingPerCaller), started: newQuota(MaxStarted, MaxStartedPerCaller),
		kept: newQuota(MaxKept, MaxKeptPerCaller), ended: newQuota(maxOutcomes, maxOutcomes),
	}
}

// Name implements [View].
func (m *Memory) Name() string { return "this process" }

// errCanceled is why a run ends that somebody else cancelled than its caller.
var errCanceled error = &graph.Failure{Name: graph.FailCancelled, Message: "the run was cancelled"}

// seen returns the run with an id for who asks: with its claim if that is the caller's.
func (m *Memory) seen(w Who, id string) (*Run, *claim, error) {
	if k := m.claimed(w, id); k != nil {
		if l := k.live(); l != nil {
			return l.show(), k, nil
		}
		r, _ := m.store.Find(id) // maybe it has been dropped
		return r, k, nil
	}
	r, ok := m.store.find(id, func(string) bool { return true })
	if !ok || !w.Operator && (r.check != "" || !w.Owns(r.caller, r.check)) {
		return nil, nil, ErrNotFound
	}
	return r, nil, nil
}

// Look implements [View].
func (m *Memory) Look(ctx context.Context, w Who, id string, d Detail) (*State, error) {
	r, k, err := m.seen(w, id)
	if err != nil {
		return nil, err
	}
	if k != nil {
		if st := k.state(d); st != nil {
			return st, nil
		}
		return m.Look(ctx, w, id, d) // it has ended meanwhile
	}
	st := &State{Summary: r.listed(), Created: r.Began, Updated: r.Began, Seed: r.seed, Count: r.next()}
	if r.live == nil {
		st.Updated, st.Err = r.Ended, r.Failure
		if d == Brief || r.Truncated {
			return st, nil
		}
		run, err := r.replay()
		if err != nil {
			return nil, fmt.Errorf("the run %w: %w", ErrUnreadable, err)
		}
		st.Args = run.Args()
		if run.Done() && st.Err == nil {
			st.Result = run.Result()
		}
		return st, nil
	}
	e := r.live.call
	st.Seed, st.Ending = e.Run.Seed(), e.Run.Stopped() != nil
	if d != Brief {
		st.Questions = e.questions()
	}
	if d == Whole {
		st.Args, st.Active = e.shown(e.Run.Args()), e.Run.Active(maxActive)
	}
	return st, nil
}

// listed returns the run as lists have it.
func (r *Run) listed() Summary {
	s := Summary{ID: r.ID, Tool: r.Tool, Caller: r.caller, Version: r.version, Status: Completed, Began: r.Began, Ended: r.Ended, Bytes: r.bytes}
	switch {
	case r.live != nil && r.live.call.Run.Parked():
		s.Status = Waiting
	case r.live != nil:
		s.Status = Running
	default:
		s.Status = phaseOf(r.Failure)
	}
	return s
}

// phaseOf returns how a run is over that ended with err.
func phaseOf(err error) Phase {
	switch {
	case err == nil:
		return Completed
	case executor.FailureOf(err).Name == graph.FailCancelled:
		return Canceled
	}
	return Failed
}

// next returns the index of the next record.
func (r *Run) next() int {
	if r.live != nil {
		return r.live.call.Run.NextIndex()
	}
	if n := len(r.steps); n > 0 {
		return int(r.steps[n-1].index) + 1
	}
	return 0
}

// shown returns a value of a run under way without secrets, apart from the account of its
// call.
func (c Entry) shown(v value.Value) value.Value {
	if v.IsUndefined() {
		return v
	}
	if value.Same(v, c.Run.Args()) { // many nodes hand them on
		v = c.Run.Masked("", "", v)
	}
	again, err := value.ParseLazy(v.JSON())
	if err != nil {
		return value.Undef
	}
	if redact := c.redactor(); redact != nil {
		again = again.Rewritten(redact)
	}
	return again
}

// questions returns what a run under way asks, without secrets.
func (c Entry) questions() (list []Question) {
	for _, q := range c.Run.Questions() {
		if q.Node.Approval != nil {
			q = q.WithArguments(c.shown(q.Arguments)) // before it is shortened
		}
		own := QuestionOf(q)
		own.Params = c.shown(own.Params)
		list = append(list, own)
	}
	return list
}

// recordOf returns a record of a run under way, without secrets.
func (c Entry) recordOf(rec executor.Record) value.Value {
	rec = c.Run.MaskedRecord(rec)
	rec.Output = c.shown(rec.Output)
	return c.shown(rec.Value())
}

// followEvery is how often a run under way is looked at that is followed.
const followEvery = 50 * time.Millisecond

// Follow implements [View].
func (m *Memory) Follow(ctx context.Context, w Who, id string, from int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		asked := map[string]bool{}
		for {
			r, _, err := m.seen(w, id)
			switch {
			case err != nil:
				yield(Event{}, err)
				return
			case r == nil || r.live == nil:
				m.tellEnd(ctx, w, id, r, from, yield)
				return
			}
			e := r.live.call
			for rec := range e.Run.Records(from) {
				from = rec.Index + 1
				if !yield(Event{Record: e.recordOf(rec)}, nil) {
					return
				}
			}
			for _, q := range e.questions() {
				if !asked[q.ID] && !yield(Event{Asked: &q}, nil) {
					return
				}
				asked[q.ID] = true
			}
			select {
			case <-ctx.Done():
				yield(Event{}, context.Cause(ctx))
				return
			case <-time.After(followEvery):
			}
		}
	}
}

// tellEnd tells of a run that is over.
func (m *Memory) tellEnd(ctx context.Context, w Who, id string, r *Run, from int, yield func(Event, error) bool) {
	if r != nil && !r.Truncated {
		run, err := r.replay()
		if err != nil {
			yield(Event{}, fmt.Errorf("the run %w: %w", ErrUnreadable, err))
			return
		}
		for rec := range run.Records(from) {
			if !yield(Event{Record: rec.Value()}, nil) {
				return
			}
		}
	}
	st, err := m.Look(ctx, w, id, Whole)
	yield(Event{Over: st}, err)
}

// Answer implements [View]. A run of Do that waits goes on when its caller comes back.
// Answers that there is no memory for are a *[graph.Failure] named "busy".
func (m *Memory) Answer(_ context.Context, w Who, id string, answers []Answer) error {
	r, _, err := m.seen(w, id)
	switch {
	case err != nil:
		return err
	case r == nil || r.live == nil:
		return ErrOver
	}
	l := r.live
	defer l.changed()
	for _, a := range answers {
		if k := l.claim.Load(); k != nil && !k.account.TryGrow(a.Value.Footprint(maxSize)) {
			return &graph.Failure{Name: graph.FailBusy, Message: "there is no memory for the answer"}
		}
		switch err := l.call.Run.Answer(a.Question, a.Value, a.Err, time.Now()); {
		case errors.Is(err, executor.ErrStale):
			return ErrNotAsked
		case err != nil:
			return err
		}
	}
	return nil
}

// Cancel implements [View].
func (m *Memory) Cancel(_ context.Context, w Who, id string) error {
	r, _, err := m.seen(w, id)
	switch {
	case err != nil:
		return err
	case r == nil:
		return ErrOver
	case r.live == nil:
		return fmt.Errorf("%w: %s", ErrOver, r.listed().Status)
	}
	if k := r.live.claim.Load(); k != nil {
		k.cancel(errCanceled)
	}
	r.live.call.Run.Stop(errCanceled)
	return nil
}

// List implements [View].
func (m *Memory) List(_ context.Context, w Who, f Filter) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		list := m.store.list(func(caller string) bool { return w.Operator || caller == w.Caller })
		passed := f.Before == ""
		for _, r := range list {
			if one := r.listed(); passed && f.Fits(&one) && !yield(one, nil) {
				return
			}
			passed = passed || r.ID == f.Before
		}
		if !passed {
			yield(Summary{}, ErrNotFound)
		}
	}
}

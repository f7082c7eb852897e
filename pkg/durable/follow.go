package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// followFirst and followLast are how often a run that is followed is asked for what is new: at once,
// then more and more rarely.
const followFirst, followLast = 100 * time.Millisecond, 2 * time.Second

// watch is what somebody wants to know of a run that is followed.
type watch struct {
	// Record is called for each record, after it was added to the run. It may be nil.
	Record func(executor.Record)
	// Changed is called after records were added; nothing follows if it reports false.
	Changed func() bool
	// Notify is called for the latest progress, and the latest log messages, of the
	// servers of calls under way: within seconds, and before Record of the execution.
	// It may be nil, and needs a Listener in [launch].
	Notify func(callinfo.Notification)
}

// followed adds to run what happens in the durable run with this id until that has ended,
// or the watch ends. Run must have been made of the same graph, arguments and seed. It
// returns what came of the run, nil where the watch ended. Without a watch all records
// are added at the end; with one, what the children of the run ask is known, too.
func (c *Client) followed(ctx context.Context, id string, run *executor.Run, watch *watch) (*ending, error) {
	var to *notifier
	if watch != nil && watch.Notify != nil {
		to = &notifier{to: watch.Notify, told: map[string]int{}, children: func() (ids []string) {
			for _, d := range run.Detached() {
				ids = append(ids, d.Run)
			}
			return ids
		}}
	}
	return c.follow(ctx, id, watch != nil, to, run.NextIndex, func(list []json.RawMessage) (bool, error) {
		if err := added(run, list, watch); err != nil || watch == nil {
			return true, err
		}
		budget := maxFollowed
		changed, err := c.followChildren(ctx, run, &budget)
		if err != nil {
			return false, err
		}
		return !changed && len(list) == 0 || watch.Changed == nil || watch.Changed(), nil
	})
}

// follow hands records of a run to add until the run has ended, or add reports false.
// next returns the index of the next one that is wanted. Without poll, all come at the
// end. To gets what servers report in calls; it may be nil.
func (c *Client) follow(ctx context.Context, id string, poll bool, to *notifier, next func() int, add func([]json.RawMessage) (bool, error)) (*ending, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type ended struct {
		out *ending
		err error
	}
	end := make(chan ended, 1)
	go func() {
		out, err := c.awaited(ctx, id)
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
			if to != nil {
				to.tell(saidSince(e.out.said, next()))
			}
			list, err := c.lastOf(ctx, id, next(), e.out)
			if err == nil {
				_, err = add(list)
			}
			return e.out, err
		case <-tick:
		}
		p, err := c.page(ctx, id, next())
		list := p.Records
		wait = min(2*wait, followLast)
		if to != nil && (to.tell(p.Said) || c.look(ctx, id, to)) {
			wait = lookEvery
		}
		if len(list) > 0 {
			wait = followFirst
		}
		tick = time.After(wait)
		switch {
		case ctx.Err() != nil, isAway(err), errors.As(err, new(*serviceerror.QueryFailed)):
			continue // there may be a worker later that can answer
		case err != nil:
			return nil, err
		}
		if more, err := add(list); err != nil || !more {
			return nil, err
		}
	}
}

// lastFor is how long the records of a run that has ended are asked for: its last worker
// may be lost, and another one has to begin first.
const lastFor = time.Minute

// isAway reports whether what did not answer can be there later.
func isAway(err error) bool {
	return errors.Is(err, runs.ErrNoWorker) || errors.Is(err, runs.ErrUnavailable)
}

// awaited is resultOf, and asks again for as long as Temporal is away: the run goes on when
// it is back.
func (c *Client) awaited(ctx context.Context, id string) (*ending, error) {
	for wait := followFirst; ; wait = min(2*wait, followLast) {
		out, err := c.resultOf(ctx, id)
		if !isAway(err) && !errors.As(err, new(*serviceerror.DeadlineExceeded)) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// lastOf is all, and asks again while no worker answers, or Temporal does not.
func (c *Client) lastOf(ctx context.Context, id string, from int, out *ending) ([]json.RawMessage, error) {
	began := time.Now()
	for wait := followFirst; ; wait = min(2*wait, followLast) {
		list, err := c.all(ctx, id, from, out)
		if !isAway(err) || errors.Is(err, runs.ErrNoWorker) && time.Since(began) > lastFor {
			return list, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// added adds those records to run that it does not have.
func added(run *executor.Run, list []json.RawMessage, watch *watch) error {
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

// Follow implements [runs.Place].
func (c *Client) Follow(ctx context.Context, w runs.Who, id string, from int) iter.Seq2[runs.Event, error] {
	return func(yield func(runs.Event, error) bool) {
		at, err := c.Look(ctx, w, id, runs.Brief)
		if err != nil {
			yield(runs.Event{}, err)
			return
		}
		f := &follower{client: c, who: w, id: id, next: from, yield: yield, asked: map[string]bool{}, again: true}
		if at.Status.Over() {
			err = f.ended(ctx)
		} else if f.known(ctx) {
			_, err = c.follow(ctx, id, true, nil, func() int { return f.next }, func(list []json.RawMessage) (bool, error) {
				more, err := f.records(list)
				return more && f.questions(ctx, len(list) > 0), err
			})
			if err == nil && !f.left {
				err = f.over(ctx)
			}
		}
		if err != nil && !f.left {
			yield(runs.Event{}, err)
		}
	}
}

// follower hands out what happens in a run.
type follower struct {
	client *Client
	who    runs.Who
	id     string
	next   int // record
	yield  func(runs.Event, error) bool
	left   bool // nobody wants to know any more
	asked  map[string]bool
	again  bool // questions may have changed without a record
}

func (f *follower) tell(e runs.Event) bool {
	f.left = f.left || !f.yield(e, nil)
	return !f.left
}

// known tells at once of the records that there are. It reports false as records does.
func (f *follower) known(ctx context.Context) bool {
	for {
		p, err := f.client.page(ctx, f.id, f.next)
		if err != nil || len(p.Records) == 0 {
			return ctx.Err() == nil // what is new comes later
		}
		if more, err := f.records(p.Records); err != nil || !more {
			return err == nil && more
		}
	}
}

// records tells of records. It reports false if nobody wants to know any more.
func (f *follower) records(list []json.RawMessage) (bool, error) {
	for _, text := range after(list, f.next) {
		v, err := parsed(text)
		if err != nil {
			return false, fmt.Errorf("record %d of the run %w: %w", f.next, runs.ErrUnreadable, err)
		}
		f.next = indexOf(text) + 1
		if !f.tell(runs.Event{Record: v}) {
			return false, nil
		}
	}
	return true, nil
}

// questions tells of those that are new. It reports false as records does.
func (f *follower) questions(ctx context.Context, fresh bool) bool {
	if !fresh && !f.again {
		return true
	}
	s, err := f.client.Look(ctx, f.who, f.id, runs.Whole)
	// What children ask changes no record of the run. An error that lasts ends the wait
	// for records.
	if f.again = err != nil || len(s.Children) > 0; err != nil {
		return true
	}
	for _, q := range s.Questions {
		if f.asked[q.ID] {
			continue
		}
		f.asked[q.ID] = true
		if !f.tell(runs.Event{Asked: &q}) {
			return false
		}
	}
	return true
}

// ended tells of a run that had ended before.
func (f *follower) ended(ctx context.Context) error {
	out, err := f.client.resultOf(ctx, f.id)
	if err != nil {
		return err
	}
	for {
		list, inline := out.inline()
		done := inline
		if !inline {
			if list, _, done, err = f.client.records(ctx, f.id, f.next); err != nil {
				return err
			}
		}
		if more, err := f.records(list); err != nil || !more {
			return err
		}
		if done || len(list) == 0 {
			return f.over(ctx)
		}
	}
}

// over tells of the end.
func (f *follower) over(ctx context.Context) error {
	s, err := f.client.Look(ctx, f.who, f.id, runs.Status)
	if err == nil {
		f.tell(runs.Event{Over: s})
	}
	return err
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

// all returns the records of a run that has ended, from an index on.
func (c *Client) all(ctx context.Context, id string, from int, out *ending) ([]json.RawMessage, error) {
	if list, ok := out.inline(); ok {
		return list, nil
	}
	var all []json.RawMessage
	for {
		list, next, done, err := c.records(ctx, id, from)
		if err != nil {
			return nil, err
		}
		if all, from = append(all, list...), next; done || len(list) == 0 {
			return all, nil
		}
	}
}

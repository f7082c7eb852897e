package durable

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// followEvery is how often a run that is followed is asked for what is new: at once,
// then more and more rarely.
const followFirst, followLast = 100 * time.Millisecond, 2 * time.Second

// Watch is what somebody wants to know of a run that is followed.
type Watch struct {
	// Record is called for each record, after it was added to the run. It may be nil.
	Record func(executor.Record)
	// Changed is called after records were added; nothing follows if it reports false.
	Changed func() bool
	// Notify is called for the latest progress, and the latest log messages, of the
	// servers of calls under way: within seconds, and before Record of the execution.
	// It may be nil, and needs a Listener in [Start].
	Notify func(callinfo.Notification)
}

// Follow adds to run what happens in the durable run with this id until that has ended,
// or the watch ends. Run must have been made of the same graph, arguments and seed. It
// returns what came of the run, nil where the watch ended. Without a watch all records
// are added at the end; with one, what the children of the run ask is known, too.
func (c *Client) Follow(ctx context.Context, id string, run *executor.Run, watch *Watch) (*Outcome, error) {
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
func (c *Client) follow(ctx context.Context, id string, poll bool, to *notifier, next func() int, add func([]json.RawMessage) (bool, error)) (*Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type ended struct {
		out *Outcome
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
func isAway(err error) bool { return errors.Is(err, ErrNoWorker) || errors.Is(err, ErrUnreachable) }

// awaited is Result, and asks again for as long as Temporal is away: the run goes on when
// it is back.
func (c *Client) awaited(ctx context.Context, id string) (*Outcome, error) {
	for wait := followFirst; ; wait = min(2*wait, followLast) {
		out, err := c.Result(ctx, id)
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
func (c *Client) lastOf(ctx context.Context, id string, from int, out *Outcome) ([]json.RawMessage, error) {
	began := time.Now()
	for wait := followFirst; ; wait = min(2*wait, followLast) {
		list, err := c.all(ctx, id, from, out)
		if !isAway(err) || errors.Is(err, ErrNoWorker) && time.Since(began) > lastFor {
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
// ended; none each time that there are no new ones. It returns what came of it, or the
// error of show.
func (c *Client) Watch(ctx context.Context, id string, show func([]json.RawMessage) error) (*Outcome, error) {
	seen := 0
	return c.follow(ctx, id, true, nil, func() int { return seen }, func(list []json.RawMessage) (bool, error) {
		fresh := after(list, seen)
		if len(fresh) > 0 {
			seen = indexOf(fresh[len(fresh)-1]) + 1
		}
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
	if list, ok := out.Records(); ok {
		return list, nil
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

package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of one look at a durable run.
const (
	describeTime   = 8 * time.Second // for a worker to answer; it may have to replay the run
	maxRemoteBytes = 64 << 20        // of the records of a run
)

// remoteRun is a durable run that somebody has looked at. A look adds what has happened
// since the last one.
type remoteRun struct {
	remotes *remotes
	id      string
	account *memory.Account
	looking sync.Mutex // one look at a time
	poked   chan struct{}

	mu      sync.Mutex
	at      runs.State    // as it was last
	run     *executor.Run // nil if the graph is not known
	bare    *bareRun      // in its place
	ended   *runs.State   // its end, once that is known
	bytes   int64
	full    bool // no others are read
	trouble trouble
	over    bool // nothing will change any more
	looked  time.Time
	used    time.Time // by a request, or while it was followed
	stop    context.CancelFunc
	crowded bool // it is not followed, as too many others are
}

// trouble is why a run cannot be shown as it is.
type trouble struct{ code, text string }

// Codes of troubles, for the page.
const (
	noWorker    = "no_worker"
	unreachable = "unreachable"
	unreadable  = "unreadable"
	tooLong     = "too_long"
	stuck       = "stuck"
	notFollowed = "not_followed"
)

// past returns the history of the run, nil before the first look that found it.
func (r *remoteRun) past() history {
	switch {
	case r.run != nil:
		return r.run
	case r.bare != nil:
		return r.bare
	}
	return nil
}

// next returns the index of the next record.
func (r *remoteRun) next() int {
	if r.run != nil {
		return r.run.NextIndex()
	}
	return r.bare.NextIndex()
}

// look finds out what has happened. The error is about the run as a whole: it is not
// there, or it was never reached.
func (r *remoteRun) look(ctx context.Context) error {
	r.looking.Lock()
	defer r.looking.Unlock()
	r.mu.Lock()
	over := r.over
	r.mu.Unlock()
	if over {
		return nil
	}
	found, err := r.describe(ctx)
	if found == nil {
		return err
	}
	if err == nil {
		err = r.read(ctx, found)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = time.Now()
	r.trouble = r.remotes.troubleOf(err)
	if errors.Is(err, errTooLong) || errors.Is(err, runs.ErrUnreadable) {
		r.over = !found.Ended.IsZero()
	}
	if r.trouble.code == "" && found.Problem != "" {
		r.trouble = trouble{stuck, found.Problem}
	}
	return nil
}

// describe notes how the run is. It returns nil for one that is not there or cannot be
// reached, and an error beside the run where its worker does not answer.
func (r *remoteRun) describe(ctx context.Context) (*runs.State, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	found, err := r.remotes.from.Look(ctx, operator, r.id, runs.Whole)
	r.mu.Lock()
	defer r.mu.Unlock()
	if found == nil {
		if r.trouble = r.remotes.troubleOf(err); errors.Is(err, runs.ErrNotFound) {
			r.over = true
		}
		return nil, err
	}
	before := r.at
	r.at = *found
	if err != nil && found.Ended.IsZero() {
		r.at.Count, r.at.Active, r.at.Questions = before.Count, before.Active, before.Questions
	}
	return found, err
}

// read adds the records that are new and, of a run that has ended, what came of it.
func (r *remoteRun) read(ctx context.Context, found *runs.State) error {
	if r.past() == nil {
		r.begin(found)
	}
	if r.full {
		return errTooLong
	}
	if !found.Status.Over() && r.next() >= found.Count {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	for e, err := range r.remotes.from.Follow(ctx, operator, r.id, r.next()) {
		switch {
		case err != nil:
			return err
		case e.Over != nil:
			r.end(e.Over)
			return nil
		case e.Record.IsUndefined():
			continue
		}
		if err := r.add(e.Record); err != nil {
			return err
		}
		if !found.Status.Over() && r.next() >= found.Count {
			return nil
		}
	}
	return nil
}

// end notes what came of the run.
func (r *remoteRun) end(s *runs.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.over = s, true
	if r.bare != nil {
		r.bare.end(s.Result)
	}
}

// begin makes the history of the run: with the graph, if the file has the version that
// it began with.
func (r *remoteRun) begin(found *runs.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.remotes.page.engine.Load(); e != nil && found.Args.Kind() == value.Object && e.Digest() == found.Version {
		if g, err := e.Graph(found.Tool); err == nil {
			r.run = executor.NewRun(g, found.Args, found.Seed)
			return
		}
	}
	r.bare = newBareRun(found.Tool, found.Args, found.Seed)
}

// add adds a record, unless it is there.
func (r *remoteRun) add(v value.Value) error {
	rec, err := executor.RecordFrom(r.past().Graph(), v)
	if err != nil {
		return fmt.Errorf("a record of the run %w: %w", runs.ErrUnreadable, err)
	}
	if rec.Index < r.next() {
		return nil
	}
	size := int64(v.TextSize())
	if r.bytes += size; r.bytes > maxRemoteBytes || r.account.Grow(size) != nil {
		r.full = true
		return errTooLong
	}
	if r.run != nil {
		err = r.run.Follow(rec)
	} else {
		err = r.bare.Follow(rec)
	}
	if err != nil {
		return fmt.Errorf("a record of the run %w: %w", runs.ErrUnreadable, err)
	}
	return nil
}

var errTooLong = errors.New("the run is too long to be shown here; mcpgraph runs show prints it")

// follow looks at the run again and again, and tells what has happened, until ctx is
// done or nothing will happen any more.
func (r *remoteRun) follow(ctx context.Context) {
	t := &remoteTeller{r: r, page: r.remotes.page}
	wait := followFirst
	for {
		_ = r.look(ctx)
		if ctx.Err() != nil {
			return
		}
		changed, over := t.tell()
		if over {
			return
		}
		if wait = min(2*wait, followLast); changed {
			wait = followFirst
		}
		select {
		case <-ctx.Done():
			return
		case <-r.poked:
			wait = followFirst
		case <-time.After(wait):
		}
	}
}

// poke lets the run, if it is followed, be looked at at once: a command has changed it.
func (r *remoteRun) poke() {
	select {
	case r.poked <- struct{}{}:
	default:
	}
}

// A run that is followed is looked at so often: soon after something has happened, and
// then more and more rarely.
const followFirst, followLast = 250 * time.Millisecond, 2 * time.Second

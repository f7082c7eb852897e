package cli

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
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
		if err := d.client.Start(ctx, startOf(call)); err != nil {
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
		return err
	case out == nil:
		return executor.ErrParked
	}
	if failed := out.Err(); failed != nil {
		run.Stop(failed) // where the records do not have it
		return failed
	}
	return nil
}

func startOf(call mcpgraph.RemoteCall) durable.Start {
	return durable.Start{
		ID: call.ID, Tool: call.Run.Graph().Name, Digest: call.Digest, Args: call.Run.Args(), Seed: call.Run.Seed(),
		Info: call.Info, Forwarded: call.Forwarded,
	}
}

// Answer implements mcpgraph.Driver.
func (d *durableDriver) Answer(ctx context.Context, id, question string, answer value.Value, failed error) error {
	return d.client.Answer(ctx, id, question, answer, failed)
}

// End implements mcpgraph.Driver.
func (d *durableDriver) End(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return d.client.Cancel(ctx, id)
}

// questions asks what a run asks, each question once.
type questions struct {
	driver *durableDriver
	call   mcpgraph.RemoteCall
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
	for {
		err := q.driver.Answer(ctx, q.call.ID, one.ID, answer, failed)
		if !errors.Is(err, durable.ErrNoWorker) || ctx.Err() != nil {
			return // nobody asks any more, or the run is over
		}
	}
}

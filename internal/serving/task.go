package serving

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/tasks"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// asksFirst reports whether a tool asks its client before it does anything else. It
// is asked in the call then, and the task begins with the answers.
func asksFirst(p *engine.Program, tool string) bool {
	g, err := p.Graph(tool)
	if err != nil || g.Entry == nil {
		return false
	}
	for _, e := range g.Entry.Edges {
		if e.To != nil && (e.To.Approval != nil || e.To.Kind.Asks != "") {
			return true
		}
	}
	return false
}

// taskStore keeps tasks and starts them.
type taskStore interface {
	server.Tasks
	// start lets a call go on as a task: a new one, or one that was asked first and goes
	// on with its answers. The error is what answers the call.
	start(ctx context.Context, p *engine.Program, r *server.Request, from *engine.Parked) error
}

// startTask lets a call go on as a task.
func (s *Servers) startTask(ctx context.Context, p *engine.Program, r *server.Request, from *engine.Parked) error {
	err := s.tasks.start(ctx, p, r, from)
	if task := (*server.TaskError)(nil); errors.As(err, &task) {
		return err
	}
	return s.failed(p, &r.Info, err)
}

// localTasks are tasks of this process.
type localTasks struct {
	*tasks.Store
	servers *Servers
}

func (t *localTasks) start(ctx context.Context, p *engine.Program, r *server.Request, from *engine.Parked) error {
	d, release := r.Detach(), p.Retain()
	leave := func() {
		d.Release()
		if release != nil {
			release()
		}
	}
	state, err := t.Start(ctx, r.Caller, d.Footprint(), r.Blocks(), func(ctx context.Context, task *tasks.Task) (value.Value, error) {
		defer leave()
		o := engine.CallOptions{Park: true}
		var result *engine.Result
		var err error
		if from != nil {
			result, err = from.Resume(ctx, &d.Info, o)
		} else {
			result, err = p.Call(ctx, &d.Info, d.Tool, d.Args, o)
		}
		for errors.Is(err, executor.ErrParked) {
			if err := ask(ctx, task, d, result.Parked); err != nil {
				result.Parked.End(err)
				return value.Undef, err
			}
			result, err = result.Parked.Resume(ctx, &d.Info, o)
		}
		if err != nil {
			return value.Undef, t.servers.failed(p, &d.Info, err)
		}
		return result.Value, nil
	})
	if err != nil {
		leave()
		return err
	}
	return &server.TaskError{Task: state}
}

// ask lets a task wait until the questions of its run are answered. Meanwhile it has no
// slot. The error is the cause with which ctx ended.
func ask(ctx context.Context, t *tasks.Task, d *server.Detached, k *engine.Parked) error {
	questions := k.Questions(&d.Info)
	if refuse(ctx, &d.Request, k, questions) {
		return nil
	}
	requests, asked, expires := requestsOf(questions, uniqueNamesOf(questions))
	d.Release()
	asking, wake := context.WithCancel(ctx)
	defer wake()
	k.Hold(wake)
	if run := k.Run(); !run.Parked() || len(run.Questions()) != len(questions) {
		wake() // somebody was faster
	}
	given := t.Ask(asking, requests, expires)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := d.Acquire(ctx); err != nil {
		return err
	}
	k.Run().Advance(time.Now()) // what was not answered in time has failed
	for name, answer := range given {
		answerQuestion(k, asked, name, answer)
	}
	return nil
}

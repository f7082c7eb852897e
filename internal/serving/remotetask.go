package serving

import (
	"context"
	"errors"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/tasks"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var _ taskStore = (*remoteRuns)(nil)

// start implements taskStore. A run that was asked first has begun already; see resume.
func (t *remoteRuns) start(ctx context.Context, p *engine.Program, r *server.Request, _ *engine.Parked) error {
	claim, refuses, secret := newClaim(r)
	s, err := p.Begin(ctx, &r.Info, r.Tool, r.Args, engine.CallOptions{Claim: claim, Refuses: refuses})
	if err != nil {
		return err
	}
	return &server.TaskError{Task: server.Task{
		ID: nameOf(s.ID, secret), Status: server.TaskWorking, Created: claim.Created, Updated: claim.Created, Blocks: claim.Blocks,
	}}
}

// Any implements server.Tasks. Other processes, and other versions of the file, may have
// begun tasks.
func (*remoteRuns) Any() bool { return true }

// Get implements server.Tasks.
func (t *remoteRuns) Get(ctx context.Context, info *callinfo.Info, name string) (server.Task, error) {
	ctx, leave, err := t.enter(ctx, info.Caller)
	if err != nil {
		return server.Task{}, err
	}
	defer leave()
	s, _, err := t.state(ctx, info, name, runs.Status)
	if err != nil {
		return server.Task{}, err
	}
	return t.task(info, name, s), nil
}

// task returns a run as the task that it is.
func (t *remoteRuns) task(info *callinfo.Info, name string, s *runs.State) server.Task {
	task := server.Task{
		ID: name, Status: server.TaskWorking, Created: s.Created, Updated: s.Updated, TTL: s.Kept, Blocks: s.Blocks, Message: s.Problem,
	}
	switch {
	case s.Ending:
		task.Status = server.TaskCancelled
	case s.Status.Over():
		task.Value, task.Err = s.Result, t.failed(info, s)
		task.Status = server.EndOfTask(task.Err)
	case len(s.Questions) > 0:
		task.Status = server.TaskInputRequired
		task.Requests, _, _ = requestsOf(s.Questions, uniqueNamesOf(s.Questions))
	}
	return task
}

// Update implements server.Tasks. Answers that are too long together are an error.
func (t *remoteRuns) Update(ctx context.Context, info *callinfo.Info, name string, responses value.Value) error {
	ctx, leave, err := t.enter(ctx, info.Caller)
	if err != nil {
		return err
	}
	defer leave()
	s, id, err := t.state(ctx, info, name, runs.Status)
	if err == nil {
		err = tasks.CheckSize(responses)
	}
	switch {
	case err != nil:
		return err
	case s.Problem != "":
		return &graph.Failure{Name: graph.FailBusy, Message: s.Problem}
	}
	_, secret, _ := strings.Cut(name, ".")
	return t.answer(ctx, who(info, secret), id, s.Questions, uniqueNamesOf(s.Questions), responses)
}

// Cancel implements server.Tasks.
func (t *remoteRuns) Cancel(ctx context.Context, info *callinfo.Info, name string) error {
	ctx, leave, err := t.enter(ctx, info.Caller)
	if err != nil {
		return err
	}
	defer leave()
	s, id, err := t.state(ctx, info, name, runs.Brief)
	if err != nil || s.Status.Over() || s.Ending {
		return err
	}
	_, secret, _ := strings.Cut(name, ".")
	if err = t.place.Cancel(ctx, who(info, secret), id); errors.Is(err, runs.ErrOver) {
		return nil
	}
	return err
}

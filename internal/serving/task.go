package serving

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var _ server.Tasks = (*claims)(nil)

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

// start lets a call go on as a task: a new one with the secret that its caller gets, or
// one that was asked first and goes on with its answers. The error is what answers the
// call.
func (t *claims) start(ctx context.Context, p *engine.Program, r *server.Request, id, secret string) error {
	o := engine.CallOptions{Claim: newClaim(r, secret, KeepTask), Refuses: refusedBy(r)}
	d := r.Detach()
	o.Slot = d
	s, err := p.Begin(ctx, &d.Info, id, d.Tool, d.Args, o)
	if r.RunID = d.RunID; err != nil {
		d.Release()
		return t.servers.failed(p, &r.Info, err)
	}
	t.begun.Store(true)
	s.Questions = nil // the next state has those that are left
	return &server.TaskError{Task: t.task(&r.Info, nameOf(s.ID, secret), s)}
}

// newSecret returns a secret of a caller.
func newSecret() string { return rand.Text() }

// Any implements server.Tasks. Other processes, and other versions of the file, may have
// begun tasks on a place that they share.
func (t *claims) Any() bool { return t.begun.Load() || t.servers.engine.Options().Place != nil }

// Get implements server.Tasks.
func (t *claims) Get(ctx context.Context, info *callinfo.Info, name string) (server.Task, error) {
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
func (t *claims) task(info *callinfo.Info, name string, s *runs.State) server.Task {
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
		task.Requests = requestsOf(s.Questions, uniqueNamesOf(s.Questions))
	}
	return task
}

// Update implements server.Tasks. Answers that are too long together are an error.
func (t *claims) Update(ctx context.Context, info *callinfo.Info, name string, responses value.Value) error {
	ctx, leave, err := t.enter(ctx, info.Caller)
	if err != nil {
		return err
	}
	defer leave()
	s, id, err := t.state(ctx, info, name, runs.Status)
	if err == nil {
		err = checkSize(responses)
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
func (t *claims) Cancel(ctx context.Context, info *callinfo.Info, name string) error {
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

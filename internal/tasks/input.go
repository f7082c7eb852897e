package tasks

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Ask lets the task wait for input: requests are the questions, an object by their
// names. It returns the answers that have come when there is one for each, at the
// time until, or when ctx is done.
func (t *Task) Ask(ctx context.Context, requests value.Value, until time.Time) map[string]value.Value {
	s, done := t.store, make(chan struct{})
	s.mu.Lock()
	if t.state.Status.Over() {
		s.mu.Unlock()
		return nil
	}
	t.set(server.TaskInputRequired)
	t.state.Requests, t.input, t.waiting = requests, map[string]value.Value{}, done
	input := t.input
	s.mu.Unlock()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.state.Status.Over() {
		t.set(server.TaskWorking)
	}
	return input
}

// Get implements server.Tasks.
func (s *Store) Get(_ context.Context, info *callinfo.Info, id string) (server.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(info.Caller, id)
	if t == nil {
		return server.Task{}, server.ErrUnknownTask
	}
	return t.state, nil
}

// of returns the task of a caller, nil if there is none; s.mu is held.
func (s *Store) of(caller, id string) *Task {
	if t := s.tasks[id]; t != nil && t.caller == caller {
		return t
	}
	return nil
}

// CheckSize returns a *server.InvalidParamsError if the answers of one request are
// longer together than MaxInput.
func CheckSize(responses value.Value) error {
	if !responses.LongerThan(MaxInput) {
		return nil
	}
	return &server.InvalidParamsError{Message: fmt.Sprintf("inputResponses have %d bytes; at most %d are accepted", responses.TextSize(), MaxInput)}
}

// Update implements server.Tasks. Answers that are too long together, or that there is
// no memory for, are an error, and none of them is kept.
func (s *Store) Update(_ context.Context, info *callinfo.Info, id string, responses value.Value) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(info.Caller, id)
	if t == nil {
		return server.ErrUnknownTask
	}
	if err := CheckSize(responses); err != nil || t.waiting == nil {
		return err
	}
	open := value.NewBuilder(t.state.Requests.Len())
	given, size := map[string]value.Value{}, int64(0)
	for _, q := range t.state.Requests.Entries() {
		if answer := responses.Get(q.Key); answer.IsUndefined() {
			open.Set(q.Key, q.Value)
		} else {
			given[q.Key] = answer
			size += answer.Footprint(maxSize)
		}
	}
	if !t.account.TryGrow(size) {
		return &graph.Failure{Name: graph.FailBusy, Message: "there is no memory for the answers; none of them is kept"}
	}
	maps.Copy(t.input, given)
	t.state.Requests, t.state.Updated = open.Value(), time.Now()
	if t.state.Requests.Len() == 0 {
		close(t.waiting)
		t.set(server.TaskWorking)
	}
	return nil
}

// Cancel implements server.Tasks.
func (s *Store) Cancel(_ context.Context, info *callinfo.Info, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(info.Caller, id)
	if t == nil {
		return server.ErrUnknownTask
	}
	if !t.state.Status.Over() {
		t.set(server.TaskCancelled)
		t.cancel(ErrCancelled)
	}
	return nil
}

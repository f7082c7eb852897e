package tasks

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
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

// Update implements server.Tasks. It ignores answers that are too long together.
func (s *Store) Update(_ context.Context, info *callinfo.Info, id string, responses value.Value) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(info.Caller, id)
	if t == nil {
		return server.ErrUnknownTask
	}
	if t.waiting == nil || responses.LongerThan(MaxInput) {
		return nil
	}
	open := value.NewBuilder(t.state.Requests.Len())
	for _, q := range t.state.Requests.Entries() {
		answer := responses.Get(q.Key)
		if answer.IsUndefined() || !t.account.TryGrow(answer.Footprint(maxSize)) {
			open.Set(q.Key, q.Value)
		} else {
			t.input[q.Key] = answer
		}
	}
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

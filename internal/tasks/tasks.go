// Package tasks keeps calls of tools that go on after they were answered, in the
// memory of this process (extension io.modelcontextprotocol/tasks of MCP 2026-07-28).
//
// A task is kept for [TTL] from its creation, with its result. Its id is random, and
// known to the caller that made it only.
package tasks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of a Store.
const (
	// TTL is how long a task is kept. One that is not over by then is cancelled.
	TTL = time.Hour
	// MaxTasks and MaxPerCaller bound the tasks that are not over: in all, and those
	// of one caller.
	MaxTasks     = 1000
	MaxPerCaller = 100
	// MaxKept and MaxKeptPerCaller bound those that are kept, over or not.
	MaxKept          = 10_000
	MaxKeptPerCaller = 1000
	// MaxInput bounds the answers of one request, in bytes.
	MaxInput = 1 << 20
)

// Why tasks end early, as causes of their contexts.
var (
	ErrCancelled = errors.New("the client cancelled the task")
	ErrExpired   = errors.New("the task was not over when its ttlMs was")
	errClosed    = errors.New("the server is shutting down")
)

var _ server.Tasks = (*Store)(nil)

// Store keeps tasks. It is safe for concurrent use.
type Store struct {
	budget *memory.Budget // may be nil
	log    *slog.Logger

	mu        sync.Mutex
	closed    bool
	tasks     map[string]*Task
	all       count
	perCaller map[string]*count
	running   sync.WaitGroup
}

// count is how many tasks run and how many are kept.
type count struct{ running, kept int }

// New returns an empty Store. What it keeps draws on budget, which may be nil.
func New(budget *memory.Budget, log *slog.Logger) *Store {
	return &Store{budget: budget, log: log, tasks: map[string]*Task{}, perCaller: map[string]*count{}}
}

// Task is a task that runs, for the code that runs it.
type Task struct {
	store   *Store
	caller  string
	cancel  context.CancelCauseFunc
	account *memory.Account
	expires *time.Timer

	// What follows is guarded by store.mu.
	ended   bool // the run has returned
	state   server.Task
	input   map[string]value.Value // the answers to open questions that have come
	waiting chan struct{}          // closed when all have come; nil if nothing is asked
}

// RunFunc runs a task. It returns soon after ctx is done.
type RunFunc func(ctx context.Context, t *Task) (value.Value, error)

// Start runs a call as a task of a caller. The context of the run has the values of
// ctx and goes on after it. The call holds so many bytes until it ends. blocks is that of
// the tool. If there are too many tasks,
// or no memory, the error is a *graph.Failure named "busy".
func (s *Store) Start(ctx context.Context, caller string, holds int64, blocks bool, run RunFunc) (server.Task, error) {
	now := time.Now()
	t := &Task{store: s, caller: caller, account: s.budget.Account(caller), state: server.Task{
		ID: rand.Text(), Status: server.TaskWorking, Created: now, Updated: now, TTL: TTL, Blocks: blocks,
	}}
	if err := t.account.Grow(taskBytes + holds); err != nil {
		t.account.Close()
		return server.Task{}, busy(err.Error())
	}
	ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.full(caller); err != nil {
		t.cancel(nil)
		t.account.Close()
		return server.Task{}, err
	}
	s.tasks[t.state.ID] = t
	of := s.perCaller[caller]
	if of == nil {
		of = &count{}
		s.perCaller[caller] = of
	}
	for _, c := range []*count{&s.all, of} {
		c.running++
		c.kept++
	}
	t.expires = time.AfterFunc(TTL, func() { s.forget(t) })
	s.running.Go(func() { t.run(ctx, run) })
	return t.state, nil
}

// taskBytes is roughly what a task takes beside its values, and keptBytes what it
// takes when it is over.
const (
	taskBytes = 16 << 10
	keptBytes = 2 << 10
)

// full returns why there can be no further task of a caller; s.mu is held.
func (s *Store) full(caller string) error {
	of := s.perCaller[caller]
	if of == nil {
		of = &count{}
	}
	switch {
	case s.closed:
		return busy(errClosed.Error())
	case s.all.running >= MaxTasks:
		return busy(fmt.Sprintf("%d tasks are under way", MaxTasks))
	case of.running >= MaxPerCaller:
		return busy(fmt.Sprintf("%d tasks of this caller are under way", MaxPerCaller))
	case s.all.kept >= MaxKept:
		return busy(fmt.Sprintf("%d tasks are kept, each for %v", MaxKept, TTL))
	case of.kept >= MaxKeptPerCaller:
		return busy(fmt.Sprintf("%d tasks of this caller are kept, each for %v", MaxKeptPerCaller, TTL))
	}
	return nil
}

func busy(why string) error {
	return &graph.Failure{Name: graph.FailBusy, Message: "the call cannot be a task: " + why}
}

// run runs the task to its end.
func (t *Task) run(ctx context.Context, run RunFunc) {
	var v value.Value
	var err error
	func() {
		ctx, cancel := memory.WithAccount(ctx, t.account)
		defer cancel()
		defer func() {
			if x := recover(); x != nil {
				t.store.log.ErrorContext(ctx, "a task panicked", "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
				err = &server.PanicError{}
			}
		}()
		v, err = run(ctx, t)
	}()
	t.end(v.Apart(), err) // without what else the replies had that it is from
	t.cancel(nil)
}

// end keeps what the run returned, if there is memory for it.
func (t *Task) end(v value.Value, err error) {
	s := t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ended = true
	of := s.perCaller[t.caller]
	s.all.running--
	of.running--
	t.account.Reset(0)
	if s.tasks[t.state.ID] != t {
		s.leave(t)
		return
	}
	if t.state.Status.Over() { // it was cancelled
		v, err = value.Undef, nil
	}
	if short := t.account.Grow(keptBytes + v.Footprint(maxSize)); short != nil && err == nil {
		v, err = value.Undef, busy(short.Error())
	}
	if !t.state.Status.Over() {
		t.set(server.EndOfTask(err))
		t.state.Value, t.state.Err = v, err
	}
}

// leave counts a task no more that has ended and is forgotten; s.mu is held.
func (s *Store) leave(t *Task) {
	of := s.perCaller[t.caller]
	s.all.kept--
	if of.kept--; of.kept == 0 {
		delete(s.perCaller, t.caller)
	}
	t.account.Close()
}

// maxSize is where the size of one value stops to be counted.
const maxSize = 1 << 40

// set changes the status; s.mu is held.
func (t *Task) set(status server.TaskStatus) {
	t.state.Status, t.state.Updated = status, time.Now()
	t.state.Requests, t.input, t.waiting = value.Undef, nil, nil
}

// forget removes a task, and cancels it if it is not over.
func (s *Store) forget(t *Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks[t.state.ID] != t {
		return
	}
	delete(s.tasks, t.state.ID)
	t.expires.Stop()
	t.cancel(ErrExpired)
	if t.ended {
		s.leave(t)
	}
}

// Any implements server.Tasks.
func (s *Store) Any() bool { return s.Len() > 0 }

// Len returns how many tasks are kept.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tasks)
}

// Close cancels all tasks and waits for their ends.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	var all []*Task
	for _, t := range s.tasks {
		t.cancel(errClosed)
		all = append(all, t)
	}
	s.mu.Unlock()
	s.running.Wait()
	for _, t := range all {
		s.forget(t)
	}
}

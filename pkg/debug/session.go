// Package debug controls runs: each [Session] is one run that can be paused before
// each task, looked into, changed and stopped. It knows nothing of HTTP or terminals.
//
// A session is made by mcpgraph.Engine.Debug. It changes what its own run does and
// nothing else: other runs of the same tool go their way.
package debug

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Session is one run under control. All methods are safe for concurrent use; commands
// return at once, and an event tells what came of them.
type Session struct {
	run    *executor.Run
	env    Environment
	nodes  nodeSet
	events *events
	began  time.Time
	cancel context.CancelCauseFunc
	done   chan struct{}

	mu          sync.Mutex
	clock       *clock // nil before the run is driven
	hold        *hold  // nil while the run goes on
	request     Why    // to pause at the next task; empty: none
	step        *step
	runTo       map[string]bool // the keys of nodes
	breakOn     BreakOn
	breakpoints []*breakpoint
	byKey       map[string][]*breakpoint // those that are enabled
	pins        map[string]pin           // by key
	pinBytes    int
	setBytes    int
	questions   map[string]*question
	failures    []string // the walks of failures that the run was paused at
	stopping    bool
	over        bool
	ended       time.Time
	result      value.Value
	err         error
}

// hold is where a run is paused.
type hold struct {
	pause   Pause
	scope   executor.Scope
	from    string // the walk that steps count from
	release chan struct{}
}

// Start begins a session of a run, which drive drives to its end with the driver that
// [Session.Control] was given. It is called in a goroutine of its own; when it returns
// the session is over. ctx bounds the whole session.
func Start(ctx context.Context, run *executor.Run, env Environment, o Options, drive func(context.Context, *Session) (value.Value, error)) (*Session, error) {
	s := &Session{
		run: run, env: env, nodes: newNodeSet(run.Graph(), env.Tools), events: newEvents(),
		done: make(chan struct{}), pins: map[string]pin{}, questions: map[string]*question{},
	}
	s.began = env.now()
	s.emit(Event{Type: Started, Record: -1, Text: run.Graph().Name})
	if err := s.setBreakpoints(o.BreakOn, o.Breakpoints); err != nil {
		return nil, err
	}
	for name, v := range o.Pins {
		if err := s.pin(name, v); err != nil {
			return nil, err
		}
	}
	if o.From != nil {
		for name, v := range o.From.Set {
			if err := s.setLast(name, v); err != nil {
				return nil, err
			}
		}
	}
	if o.StartPaused {
		s.request = AtStart
	}
	ctx, s.cancel = context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(ctx, s.halt)
	go func() {
		defer s.cancel(nil)
		v, err := drive(ctx, s)
		gone := ctx.Err() != nil
		if unwatch(); env.Over != nil {
			env.Over()
		}
		s.end(v, err, gone)
	}()
	return s, nil
}

// Control lets the session control a driver of its run, and returns the port that the
// driver has to use.
func (s *Session) Control(l *executor.Local, p executor.Port) executor.Port {
	l.Gate, l.Pin, l.Ask = s.gate, s.pinned, s.ask
	l.Hooks = append(l.Hooks[:len(l.Hooks):len(l.Hooks)], s.hooks())
	next := slog.Handler(slog.DiscardHandler)
	if l.Log != nil {
		next = l.Log.Handler()
	}
	l.Log = slog.New(logTee{next, s})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = newClock(p)
	return s.clock
}

// end ends the session.
func (s *Session) end(v value.Value, err error, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over, s.ended, s.result, s.err = true, s.env.now(), v, err
	s.stopping = s.stopping || gone
	s.unhold()
	e := Event{Type: Ended, Record: s.run.NextIndex() - 1, Status: s.status(false)}
	if err != nil {
		e.Text = err.Error()
	}
	s.emit(e)
	close(s.done)
}

// halt lets everything go on that is held, since the run is being stopped.
func (s *Session) halt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.stopping = true
		s.unhold()
	}
}

// ID returns the id of the run.
func (s *Session) ID() string { return s.env.ID }

// Graph returns the tool.
func (s *Session) Graph() *graph.Graph { return s.run.Graph() }

// Run returns the run, with its secrets: to begin another session from it ([From]).
// Show [Session.Records] instead.
func (s *Session) Run() *executor.Run { return s.run }

// Done returns a channel that is closed when the session is over.
func (s *Session) Done() <-chan struct{} { return s.done }

// Wait waits for the end and returns what the call of the tool returned. If ctx ends
// before, the error is its cause.
func (s *Session) Wait(ctx context.Context) (value.Value, error) {
	select {
	case <-s.done:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.result, s.err
	case <-ctx.Done():
		return value.Undef, context.Cause(ctx)
	}
}

// Records returns the records of the run from an index on, as they are now, without
// secrets.
func (s *Session) Records(from int) iter.Seq[executor.Record] {
	return func(yield func(executor.Record) bool) {
		for rec := range s.run.Records(from) {
			if !yield(s.env.Record(rec)) {
				return
			}
		}
	}
}

// Record returns the record with an index, without secrets. It reports false if there
// is none (any more).
func (s *Session) Record(index int) (executor.Record, bool) {
	for rec := range s.run.Records(index) {
		return s.env.Record(rec), rec.Index == index
	}
	return executor.Record{}, false
}

// Package debug controls runs: each [Session] is one run that can be paused before
// each task, looked into, changed and stopped. It knows nothing of HTTP or terminals.
//
// A session is made by mcpgraph.Engine.Debug. It changes what its own run does and
// nothing else: other runs of the same tool go their way.
package debug

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Session is one run under control. All methods are safe for concurrent use; commands
// return at once, and an event tells what came of them.
type Session struct {
	*inspector
	*events
	*breakpoints
	*pins
	*questions
	began  time.Time
	cancel context.CancelCauseFunc
	done   chan struct{}

	mu       sync.Mutex
	clock    *clock // nil before the run is driven
	hold     *hold  // nil while the run goes on
	request  Why    // to pause at the next task; empty: none
	step     *step
	runTo    map[string]bool // the keys of nodes
	setBytes int
	failures []string // the walks of failures that the run was paused at
	stopping bool
	over     bool
	ended    time.Time
	result   value.Value
	err      error
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
	s := &Session{inspector: &inspector{run, env, newNodeSet(run.Graph(), env.Tools)}, events: newEvents(&env), done: make(chan struct{})}
	s.breakpoints = &breakpoints{inspector: s.inspector, events: s.events}
	s.pins = &pins{inspector: s.inspector, events: s.events, allowed: s.allowed, by: map[string]pin{}}
	s.questions = &questions{inspector: s.inspector, events: s.events, now: s.now, open: map[string]*question{}}
	s.began = env.now()
	s.emit(Event{Type: Started, Record: -1, Text: run.Graph().Name})
	if err := s.setBreakpoints(o.BreakOn, o.Breakpoints); err != nil {
		return nil, err
	}
	for name, v := range o.Pins {
		if err := s.pins.pin(name, v); err != nil {
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
	l.Gate, l.Pin, l.Ask = s.gate, s.pinned, s.questions.ask
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

// now returns the time of the run.
func (s *Session) now() time.Time {
	s.mu.Lock()
	c := s.clock
	s.mu.Unlock()
	if c == nil {
		return s.env.now()
	}
	return c.Now()
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

// Here returns what expressions see where the run is paused; else at the end of the
// tool's own walk as it is now.
func (s *Session) Here() executor.Scope {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		return hold.scope.Latest()
	}
	return s.run.EndScope()
}

// Stack returns the executions from the one at which the run is paused outwards, to
// that of the tool's own walk. It is nil while the run goes on.
func (s *Session) Stack() []StackFrame {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold == nil {
		return nil
	}
	p := hold.pause
	n := s.nodeOf(p.Key)
	if n == nil {
		return nil
	}
	at := StackFrame{Frame: p.Frame, Path: p.Path, Node: n, Execution: p.Execution, Attempt: p.Attempt, Scope: hold.scope.Latest()}
	return append([]StackFrame{at}, s.around(p.Frame)...)
}

// State returns the session as it is now.
func (s *Session) State() State {
	st := State{
		ID: s.env.ID, Tool: s.run.Graph().Name, Caller: s.env.Caller, Began: s.began,
		Active: s.run.Active(maxActive), Questions: s.Questions(),
		Executions: s.run.Len(), Args: s.env.value(s.run.Args()),
	}
	waiting := s.run.Parked()
	st.BreakOn, st.Breakpoints = s.Breakpoints()
	st.Pins = slices.Sorted(maps.Keys(s.Pins()))
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Last, st.Records = s.events.last(), s.run.NextIndex()
	st.Status, st.Ended, st.Pausing = s.status(waiting), s.ended, s.request != "" && !s.over
	st.Result, st.Err = s.env.value(s.result), s.env.err(s.err)
	if s.hold != nil {
		pause := s.hold.pause
		pause.Text = s.env.text(pause.Text)
		st.Pause = &pause
	}
	st.Can = s.can(len(st.Questions) > 0)
	if s.over {
		st.Active, st.Questions = nil, nil
	}
	return st
}

// status returns the status; s.mu is held.
func (s *Session) status(waiting bool) Status {
	switch {
	case s.over && s.err == nil:
		return StatusDone
	case s.over && s.stopping:
		return StatusStopped
	case s.over:
		return StatusFailed
	case s.hold != nil:
		return StatusPaused
	case waiting:
		return StatusWaiting
	}
	return StatusRunning
}

// can returns the commands that do something now; s.mu is held.
func (s *Session) can(questions bool) []Command {
	if s.over || s.stopping {
		return nil
	}
	list := []Command{CanStop, CanSetBreakpoints, CanPin}
	switch {
	case s.hold != nil:
		list = append(list, CanResume, CanStep, CanStepInto, CanRunTo, CanSetOutput)
		if s.hold.from != "" {
			list = append(list, CanStepOut)
		}
	case s.request == "":
		list = append(list, CanPause)
	default:
		list = append(list, CanResume)
	}
	if questions {
		list = append(list, CanAnswer)
	}
	return list
}

// allowed returns an error if the session is over.
func (s *Session) allowed(c Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return s.refuse(c)
	}
	return nil
}

// refuse returns the error of a command that the state does not allow; s.mu is held.
func (s *Session) refuse(c Command) error {
	return &StateError{c, s.status(false), s.can(false)}
}

package debug

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// gate is called before each task of the run, in the goroutine that has the task.
func (s *Session) gate(ctx context.Context, _ *executor.Run, t executor.Task) error {
	looked, stop, text := false, false, ""
	for {
		s.mu.Lock()
		switch {
		case s.stopping || ctx.Err() != nil:
			s.mu.Unlock()
			return context.Cause(ctx)
		case s.hold != nil:
			release := s.hold.release
			s.mu.Unlock()
			if err := wait(ctx, release); err != nil {
				return err
			}
			continue
		case !looked && first(t) && s.breakpoints.at(t) != nil:
			s.mu.Unlock()
			text, stop = s.hit(ctx, t)
			looked = true
			continue
		}
		why := s.why(t, stop)
		if why == "" {
			s.begins(t)
			s.mu.Unlock()
			return nil
		}
		h := &hold{pause: Pause{
			Why: why, Key: t.Node().Key(), Path: t.Path(), Node: t.Node().ID, Frame: t.Frame(),
			Execution: t.Execution(), Attempt: t.Attempt(), Text: text,
		}, scope: t.Scope(), from: t.Frame()}
		s.pause(h)
		s.mu.Unlock()
		if err := wait(ctx, h.release); err != nil {
			return err
		}
		s.mu.Lock()
		s.begins(t)
		s.mu.Unlock()
		return nil
	}
}

// first reports whether an execution begins with a task.
func first(t executor.Task) bool { return t.Begins() && t.Attempt() == 1 }

// begins tells that an attempt begins; s.mu is held.
func (s *Session) begins(t executor.Task) {
	if t.Begins() {
		s.emit(Event{Type: TaskBegun}.ofTask(t))
	}
}

// wait waits until the run goes on.
func wait(ctx context.Context, release <-chan struct{}) error {
	select {
	case <-release:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// why returns why the run pauses before a task, empty if it does not; s.mu is held.
func (s *Session) why(t executor.Task, hit bool) Why {
	n := t.Node()
	switch {
	case hit:
		return AtBreakpoint
	case s.request != "":
		return s.request
	case !first(t):
		return ""
	case s.runTo[n.Key()], s.step != nil && s.step.stops(t.Frame()):
		return AtStep
	case s.breakOn().EnterTool && n.Kind.Role == graph.Entry && n.Graph.Owner == nil && t.Execution() == 0:
		return AtEnter
	}
	return ""
}

// hooks returns what observes the run.
func (s *Session) hooks() executor.Hooks {
	return executor.Hooks{NodeRetry: s.retried, NodeDone: s.nodeDone}
}

func (s *Session) retried(ctx context.Context, r *executor.Run, rec executor.Record) {
	s.emit(Event{Type: Retried, Text: rec.Err.Error(), Until: rec.Until}.of(&rec))
	s.failed(ctx, r, rec)
}

func (s *Session) nodeDone(ctx context.Context, r *executor.Run, rec executor.Record) {
	e := Event{Type: Done}
	switch {
	case rec.Event == executor.Opened: // parked, which a run under control never is
		return
	case rec.Event == executor.Cancelled:
		e.Type = Cancelled
	case rec.Pinned:
		e.Type = Pinned
	case rec.Err != nil && rec.Edge == graph.NoEdge:
		e.Type = Failed
	case rec.Err != nil:
		e.Type = Caught
	}
	if rec.Err != nil {
		e.Text = rec.Err.Error()
	}
	s.mu.Lock()
	if st := s.step; st != nil && rec.Frame == st.frame && rec.Edge == graph.NoEdge {
		st.frame = outer(st.frame)
	}
	s.emit(e.of(&rec))
	s.mu.Unlock()
	if rec.Err != nil && rec.Event == executor.Done {
		s.failed(ctx, r, rec)
	}
}

// failed pauses the run behind an execution that failed, if it breaks on that.
func (s *Session) failed(ctx context.Context, r *executor.Run, rec executor.Record) {
	ends := rec.Event == executor.Done && rec.Edge == graph.NoEdge
	uncaught := ends && !r.MayBeHandled(rec)
	for {
		s.mu.Lock()
		mode := s.breakOn().Failure
		breaks := mode == BreakOnAny || mode == BreakOnUncaught && uncaught
		if !breaks || s.stopping || ctx.Err() != nil || s.known(&rec) {
			s.mu.Unlock()
			return
		}
		if s.hold != nil {
			release := s.hold.release
			s.mu.Unlock()
			if wait(ctx, release) != nil {
				return
			}
			continue
		}
		scope, _ := r.ScopeAt(rec.Index)
		from := rec.Frame
		if ends {
			from = outer(from)
		}
		h := &hold{pause: Pause{
			Why: AtFailure, Key: rec.Key, Path: rec.NodePath(), Node: rec.Node, Frame: rec.Frame,
			Execution: rec.Execution, Attempt: rec.Try, Text: rec.Err.Error(),
		}, scope: scope, from: from}
		s.failures = append(s.failures, rec.Frame)
		s.pause(h)
		s.mu.Unlock()
		_ = wait(ctx, h.release)
		return
	}
}

// maxFailures is how many walks are remembered in which the run was paused at a
// failure.
const maxFailures = 100

// known reports whether a failure is that of a walk in the execution at which the run
// was paused before; s.mu is held.
func (s *Session) known(rec *executor.Record) bool {
	if n := len(s.failures) - maxFailures; n > 0 {
		s.failures = slices.Delete(s.failures, 0, n)
	}
	within := fmt.Sprintf("%d.", rec.Execution)
	if rec.Frame != "" {
		within = rec.Frame + "/" + within
	}
	i := slices.IndexFunc(s.failures, func(frame string) bool { return strings.HasPrefix(frame, within) })
	if i >= 0 {
		s.failures[i] = rec.Frame
	}
	return i >= 0
}

// logTee shows log records of the run as events, too.
type logTee struct {
	slog.Handler
	session *Session
}

// Enabled implements slog.Handler.
func (l logTee) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || l.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (l logTee) Handle(ctx context.Context, r slog.Record) error {
	e := Event{Type: Log, Record: -1, Level: strings.ToLower(r.Level.String()), Text: r.Message}
	var more []string
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "tool", "stack":
		case "node":
			e.Node = a.Value.String()
		case "value":
			e.Text = a.Value.String() // of the operator log
		default:
			more = append(more, a.Key+"="+a.Value.String())
		}
		return true
	})
	if len(more) > 0 {
		e.Text += ": " + strings.Join(more, ", ")
	}
	l.session.emit(e)
	if l.Handler.Enabled(ctx, r.Level) {
		return l.Handler.Handle(ctx, r)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l logTee) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logTee{l.Handler.WithAttrs(attrs), l.session}
}

// WithGroup implements slog.Handler.
func (l logTee) WithGroup(name string) slog.Handler {
	return logTee{l.Handler.WithGroup(name), l.session}
}

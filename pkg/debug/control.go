package debug

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// step is what the next pause waits for.
type step struct {
	// frame is the walk whose next execution is waited for. When it ends, the one
	// around it takes its place.
	frame string
	// into counts the walks in it, too.
	into bool
}

// stops reports whether the step ends before the next execution of a walk.
func (st *step) stops(frame string) bool {
	return inside(st.frame, frame) || st.into && inside(frame, st.frame)
}

// inside reports whether a walk is another one or part of it.
func inside(frame, of string) bool {
	return of == "" || frame == of || strings.HasPrefix(frame, of) && frame[len(of)] == '/'
}

// outer returns the walk around one; that of the tool is its own.
func outer(frame string) string {
	i := strings.LastIndexByte(frame, '/')
	return frame[:max(i, 0)]
}

// Pause pauses the run before its next task, in all of its branches. Calls under way
// end before. While the run only waits for times and people, it pauses at once. A
// Paused event tells when it is.
func (s *Session) Pause() error {
	s.mu.Lock()
	if s.over || s.stopping || s.hold != nil || s.request != "" {
		defer s.mu.Unlock()
		return s.refuse(CanPause)
	}
	s.request = AtPause
	s.emit(Event{Type: Pausing, Record: -1})
	s.mu.Unlock()
	s.pauseWaiting(firstLook)
	return nil
}

// A run that is to pause is looked at whether it only waits: first after this time, and
// then less and less often.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// pauseWaiting pauses a run that is to pause if it waits, and else looks again later.
func (s *Session) pauseWaiting(later time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.request == "" || s.hold != nil || s.over || s.stopping || s.clock == nil {
		return
	}
	if !s.run.Waiting() {
		s.clock.Port.AfterFunc(later, func() { s.pauseWaiting(min(2*later, lastLook)) })
		return
	}
	for _, a := range s.run.Active(maxActive * maxActive) {
		if a.State == "joining" {
			continue
		}
		if scope, ok := s.run.FrameScope(a.Frame); ok {
			s.pause(&hold{pause: Pause{
				Why: s.request, Key: a.Key, Path: a.Path, Node: a.Node, Frame: a.Frame, Execution: a.Execution, Attempt: a.Try,
			}, scope: scope, from: a.Frame})
			return
		}
	}
}

// pause pauses the run; s.mu is held.
func (s *Session) pause(h *hold) {
	h.pause.Record = s.run.NextIndex() - 1
	h.release = make(chan struct{})
	s.hold, s.request, s.step, s.runTo = h, "", nil, nil
	s.clock.pause()
	pause := h.pause
	pause.Text = s.env.text(pause.Text)
	s.emit(Event{
		Type: Paused, Record: pause.Record, Key: pause.Key, Path: pause.Path, Node: pause.Node, Frame: pause.Frame,
		Execution: pause.Execution, Attempt: pause.Attempt, Text: pause.Text, Pause: &pause,
	})
}

// unhold lets the run go on; s.mu is held.
func (s *Session) unhold() {
	if s.hold == nil {
		return
	}
	close(s.hold.release)
	s.hold = nil
	s.clock.resume()
}

// resume lets a paused run go on until a step is over or one of some nodes is reached.
func (s *Session) resume(c Command, st func(h *hold) (*step, map[string]bool)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold == nil || s.over || s.stopping {
		return s.refuse(c)
	}
	s.step, s.runTo = st(s.hold)
	e := Event{Type: Resumed, Record: -1, Text: string(c)}
	s.emit(e)
	s.unhold()
	return nil
}

// Resume lets a paused run go on. Of one that is only about to pause, it takes that
// back.
func (s *Session) Resume() error {
	s.mu.Lock()
	if s.request != "" && s.hold == nil && !s.over && !s.stopping {
		defer s.mu.Unlock()
		s.request = ""
		s.emit(Event{Type: Resumed, Record: -1, Text: string(CanResume)})
		return nil
	}
	s.mu.Unlock()
	return s.resume(CanResume, func(*hold) (*step, map[string]bool) { return nil, nil })
}

// Step lets a paused run go on until the next execution of the same walk begins or, at
// its end, of the walk around it. Bodies and called tools run meanwhile; breakpoints in
// them pause the run.
func (s *Session) Step() error {
	return s.resume(CanStep, func(h *hold) (*step, map[string]bool) { return &step{frame: h.from}, nil })
}

// StepInto is Step that also ends in the bodies of the node and in the tool that it
// calls.
func (s *Session) StepInto() error {
	return s.resume(CanStepInto, func(h *hold) (*step, map[string]bool) { return &step{frame: h.from, into: true}, nil })
}

var errOutermost = errors.New("cannot stepOut: the run is paused in the walk of the tool itself, and nothing is around it")

// StepOut lets a paused run go on until the next execution of the walk around the
// present one begins.
func (s *Session) StepOut() error {
	s.mu.Lock()
	if s.hold != nil && s.hold.from == "" {
		defer s.mu.Unlock()
		return errOutermost
	}
	s.mu.Unlock()
	return s.resume(CanStepOut, func(h *hold) (*step, map[string]bool) { return &step{frame: outer(h.from)}, nil })
}

// RunTo lets a paused run go on until an execution of a node begins, wherever. The
// name is as that of a [Breakpoint].
func (s *Session) RunTo(node string) error {
	found, err := s.nodes.find(node)
	if err != nil {
		return err
	}
	keys := map[string]bool{}
	for _, n := range found {
		keys[n.Key()] = true
	}
	return s.resume(CanRunTo, func(*hold) (*step, map[string]bool) { return nil, keys })
}

// errStopped is why a run ended that was stopped.
var errStopped error = &graph.Failure{Name: graph.FailCancelled, Message: "stopped by the debugger"}

// Stop ends the run: what is under way is cancelled, calls of upstream tools too. An
// Ended event tells when it is over.
func (s *Session) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.stopping {
		return s.refuse(CanStop)
	}
	s.stopping = true
	s.cancel(errStopped) // before another task asks the gate
	return nil
}

// SetOutput sets the output of a node for all that follows, while the run is paused:
// that of its latest execution which expressions see there. The way that the walk took
// stays as it is. A record of event [executor.Replaced] tells of it. The name is an id,
// a path or a key.
func (s *Session) SetOutput(node string, v value.Value) error {
	own, size, err := jsonOf(v)
	if err != nil {
		return fmt.Errorf("cannot set the output of %q: %w", node, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold == nil || s.over {
		return s.refuse(CanSetOutput)
	}
	rec, err := s.latest(node)
	if err != nil {
		return err
	}
	return s.set(node, rec, own, size)
}

// latest returns the record of the execution of a node that is set; s.mu is held.
func (s *Session) latest(node string) (executor.Record, error) {
	scope, id, key := s.hold.scope.Latest(), node, ""
	if !slices.Contains(scope.Nodes(), node) {
		n, err := s.nodes.one(node)
		if err != nil {
			return executor.Record{}, err
		}
		id, key = n.ID, n.Key()
	}
	rec, ok := scope.Last(id)
	if !ok || key != "" && rec.Key != key {
		return rec, fmt.Errorf("cannot set the output of %q: where the run is paused, no execution of it has yielded anything", node)
	}
	return rec, nil
}

// set replaces an output; s.mu is held.
func (s *Session) set(node string, rec executor.Record, v value.Value, size int) error {
	if s.setBytes+size > MaxPinned {
		return fmt.Errorf("cannot set the output of %q: the values that were set have more than %d MiB", node, MaxPinned>>20)
	}
	now := rec.End // before the run is driven
	if s.clock != nil {
		now = s.clock.Now()
	}
	if err := s.run.Replace(rec, v, now); err != nil {
		return fmt.Errorf("cannot set the output of %q: its walk is over or was cancelled", node)
	}
	s.setBytes += size
	rec.Index, rec.Err = s.run.NextIndex()-1, nil
	s.emit(Event{Type: Replaced}.of(&rec))
	return nil
}

// setLast sets the output of the latest execution of a node in a run that was
// replayed.
func (s *Session) setLast(node string, v value.Value) error {
	own, size, err := jsonOf(v)
	if err != nil {
		return fmt.Errorf("cannot set the output of %q: %w", node, err)
	}
	found, err := s.nodes.find(node)
	if err != nil {
		return err
	}
	var last *executor.Record
	for rec := range s.run.Records(0) {
		ours := slices.ContainsFunc(found, func(n *graph.Node) bool { return n.Key() == rec.Key })
		if ours && (rec.Event == executor.Done || rec.Event == executor.Replaced) {
			last = &rec
		}
	}
	if last == nil {
		return fmt.Errorf("cannot set the output of %q: it has no execution before the place where the run goes on", node)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(node, *last, own, size)
}

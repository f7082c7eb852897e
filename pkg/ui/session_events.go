package ui

import (
	"context"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
)

// tellSession turns what happens in a session into events, until it is over.
func tellSession(p *Page, s *session) {
	id, after := s.ID(), 0
	for {
		list, err := s.Next(context.Background(), after)
		if err != nil {
			break
		}
		sh, watched, changed := s.shower(), p.events.isWatched(id), false
		for _, e := range list {
			after = e.Number
			if e.Type == debug.Ended {
				// How it ended is known before anybody is told.
				p.sessions.over(id, string(e.Status))
			}
			changed = tellEvent(p, s, &e, sh, watched) || changed
		}
		if !changed {
			continue
		}
		// The end is told after all that happened before it: whoever sees that a run is
		// over has its records.
		if state, last := stateOfSession(s, sh); state.Ended == nil || last <= after {
			p.events.add(event{Type: "run", Run: state})
		}
	}
}

// tellEvent tells of one event; it reports true for one that changes the state of the
// session.
func tellEvent(p *Page, s *session, e *debug.Event, sh shower, watched bool) bool {
	id := s.ID()
	switch e.Type {
	case debug.TaskBegun:
		if watched {
			p.events.add(event{Type: "task", Run: id, Active: &activity{
				Key: e.Key, Path: e.Path, Execution: e.Execution, Attempt: e.Attempt, State: "running", Start: ptr(e.Time.UTC()),
				Server: e.Server, Tool: e.Tool,
			}})
		}
	case debug.Done, debug.Failed, debug.Caught, debug.Cancelled, debug.Pinned, debug.Replaced, debug.Retried:
		if rec, ok := s.Record(e.Record); ok && watched {
			p.events.add(event{Type: "record", Run: id, Record: recordOf(s.Graph(), &rec, sh)})
		}
	case debug.Log:
		if watched {
			p.events.add(event{Type: "log", Run: id, Key: e.Key, Level: e.Level, Text: sh.text(e.Text)})
		}
	case debug.Progress:
		if watched {
			progress := event{Type: "progress", Run: id, Progress: ptr(e.Progress), Message: sh.text(e.Text)}
			if e.Total > 0 {
				progress.Total = ptr(e.Total)
			}
			p.events.add(progress)
		}
	case debug.Gap:
		p.events.add(event{Type: "gap"})
	default:
		return true
	}
	return false
}

type paused struct {
	Why   string `json:"why" ts:"'breakpoint' | 'step' | 'pause' | 'failure' | 'start' | 'enter'"`
	Key   string `json:"key"`
	Path  string `json:"path"`
	At    int    `json:"at"` // the index of the record before; -1: none
	Frame string `json:"frame"`
	Text  string `json:"text,omitempty"`
}

// stateOfSession returns how a session is, and the number of its latest event.
func stateOfSession(s *session, sh shower) (state *runState, last int) {
	at := s.State()
	out := &runState{
		ID: at.ID, Tool: at.Tool, Caller: at.Caller, Session: true, State: string(at.Status), Pausing: at.Pausing, Began: at.Began.UTC(),
		Executions: at.Executions, Active: []activity{}, Questions: []question{}, Can: []string{}, Pins: at.Pins,
		BreakOn: &breakOn{Failure: "none", EnterTool: at.BreakOn.EnterTool},
	}
	if at.BreakOn.Failure != "" {
		out.BreakOn.Failure = string(at.BreakOn.Failure)
	}
	if !at.Ended.IsZero() {
		out.Ended = ptr(at.Ended.UTC())
	}
	if at.Pause != nil {
		out.Paused = &paused{
			Why: string(at.Pause.Why), Key: at.Pause.Key, Path: at.Pause.Path, At: at.Pause.Record, Frame: at.Pause.Frame, Text: sh.text(at.Pause.Text),
		}
	}
	for _, a := range at.Active {
		out.Active = append(out.Active, activityOf(s.Graph(), &a))
	}
	for _, q := range at.Questions {
		out.Questions = append(out.Questions, questionOf(s.Graph(), &q, sh))
	}
	for _, b := range at.Breakpoints {
		out.Breakpoints = append(out.Breakpoints, breakpoint(b))
	}
	for _, c := range at.Can {
		out.Can = append(out.Can, string(c))
	}
	if slices.Contains(out.Can, "pin") {
		out.Can = append(out.Can, "unpin")
	}
	if at.Err != nil {
		out.Error = failureOf(s.Graph(), at.Err, sh)
	}
	return out, at.Last
}

package dap

import (
	"fmt"
	"strings"

	dap "github.com/google/go-dap"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
)

// follow tells the editor what happens in a session, until it is over.
func (s *server) follow(t *target, session *debug.Session) {
	for e := range session.Events(s.ctx, 0) {
		s.turn.Lock()
		if s.current() == t { // else another one was launched
			s.event(t, e)
		}
		s.turn.Unlock()
	}
}

func (s *server) event(t *target, e debug.Event) {
	switch e.Type {
	case debug.Paused:
		s.paused(t, e.Pause)
	case debug.Retried:
		s.say(t, "stderr", e, "failed and is tried again: "+e.Text)
	case debug.Failed, debug.Caught:
		s.say(t, "stderr", e, "failed: "+e.Text)
	case debug.Log:
		s.say(t, "console", e, e.Text)
	case debug.Ask:
		s.say(t, "console", e, fmt.Sprintf("%s asks: %s\nAnswer here: /answer {…}, /decline or /cancel", e.Path, e.Text))
	case debug.Gap:
		s.say(t, "console", e, fmt.Sprintf("events up to %d are not shown: there were too many", e.Number))
	case debug.Ended:
		s.ended(t)
	}
}

// paused tells that the run is paused, but for the start that nobody asked for.
func (s *server) paused(t *target, p *debug.Pause) {
	s.mu.Lock()
	begun := t.begun
	s.mu.Unlock()
	if p.Why == debug.AtStart && (!begun || !t.StopOnEntry) {
		return
	}
	s.stopped(t, p)
}

var reasons = map[debug.Why]string{
	debug.AtStart: "entry", debug.AtBreakpoint: "breakpoint", debug.AtStep: "step", debug.AtPause: "pause",
	debug.AtFailure: "exception", debug.AtEnter: "function breakpoint",
}

func (s *server) stopped(t *target, p *debug.Pause) {
	s.mu.Lock()
	again := p.Why == debug.AtStart && t.told
	t.told = true
	body := dap.StoppedEventBody{
		Reason: reasons[p.Why], ThreadId: s.threads.id(p.Frame), AllThreadsStopped: true, Text: p.Text,
	}
	if p.Why == debug.AtBreakpoint {
		body.HitBreakpointIds = s.breakpoints.at(t, p.Key)
	}
	s.mu.Unlock()
	if !again {
		s.tell("stopped", body)
	}
}

// ended shows the result, and tells that the run is over.
func (s *server) ended(t *target) {
	st := t.session.State()
	code := 0
	switch {
	case st.Status == debug.StatusStopped:
		s.output("console", "the run was stopped\n")
		code = 1
	case st.Err != nil:
		s.output("stderr", st.Err.Error()+"\n")
		code = 1
	default:
		s.output("stdout", st.Result.Preview(maxShown)+"\n")
	}
	s.tell("exited", dap.ExitedEventBody{ExitCode: code})
	s.tell("terminated", nil)
}

// say shows a text and, if it is known, the place of its node.
func (s *server) say(t *target, category string, e debug.Event, text string) {
	body := dap.OutputEventBody{Category: category, Output: strings.TrimRight(text, "\n") + "\n"}
	for _, n := range t.nodes {
		if e.Key != "" && n.Key() == e.Key {
			body.Source, body.Line, body.Column = t.source(n), n.Pos.Line+s.lines, n.Pos.Col+s.columns
		}
	}
	s.tell("output", body)
}

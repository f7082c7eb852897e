package ui

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// command answers at a path of a session: do does it with the body.
func command[T any](p *Page, do func(s *session, body *T) error) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		body := new(T)
		if err := decode(w, r, maxText, body); err != nil {
			return err
		}
		id := r.PathValue("id")
		s := p.sessions.get(id)
		if s == nil {
			if p.sessions.ended(id) != "" {
				return refused("wrong_state", "the run is over")
			}
			return notFound("there is no session %q", id)
		}
		if err := do(s, body); err != nil {
			return commandError(err)
		}
		respond(w, struct{}{})
		return nil
	}
}

type none struct{}

type nodeBody struct {
	Node string `json:"node"`
}

type nodeValue struct {
	Node  string      `json:"node"`
	Value value.Value `json:"value"`
}

type pointsBody struct {
	Breakpoints []breakpoint `json:"breakpoints"`
	BreakOn     *breakOn     `json:"breakOn"`
}

type answerBody struct {
	Question string      `json:"question"`
	Action   string      `json:"action"`
	Content  value.Value `json:"content"`
}

// asker is a run that asks something.
type asker interface {
	Question(id string) (executor.Question, error)
}

// check returns an error for an action that is none.
func (b *answerBody) check() error {
	if b.Action != mcpgraph.Accept && b.Action != mcpgraph.Decline && b.Action != mcpgraph.Cancel {
		return badRequest("action is %q; expected accept, decline or cancel", b.Action)
	}
	return nil
}

// answer returns the result of the request that the question is: what the page sends is
// a form that was filled in, the text of a model, or a list of roots.
func (b *answerBody) answer(s asker) (value.Value, error) {
	if err := b.check(); err != nil {
		return value.Undef, err
	}
	q, err := s.Question(b.Question)
	if err != nil {
		return value.Undef, err
	}
	given := b.Content
	switch {
	case b.Action != mcpgraph.Accept:
		given = value.FromString(b.Action)
	case q.Method == graph.AskPerson:
		v := mcpgraph.Answer(b.Action, b.Content)
		if err := graph.CheckForm(context.Background(), q.Value, v); err != nil {
			return value.Undef, badRequest("content: %v", err)
		}
		return v, nil
	case q.Method == graph.AskModel && given.Kind() == value.String: // also if it is "decline"
		given = value.FromEntries([]value.Entry{{Key: "text", Value: given}})
	}
	v, err := q.Result(given)
	if err == nil {
		err = graph.CheckAnswer(q.Method, v)
	}
	if err != nil {
		return value.Undef, badRequest("content: %v", err)
	}
	return v, nil
}

// sessionCommands are the routes of sessions.
func sessionCommands(p *Page) []route {
	simple := func(do func(*debug.Session) error) func(http.ResponseWriter, *http.Request) error {
		return command(p, func(s *session, _ *none) error { return do(s.Session) })
	}
	const at = "POST /api/sessions/{id}/"
	return []route{
		{"POST /api/sessions", true, on(p, startSession)},
		{at + "pause", true, simple((*debug.Session).Pause)},
		{at + "resume", true, simple((*debug.Session).Resume)},
		{at + "step", true, simple((*debug.Session).Step)},
		{at + "stepInto", true, simple((*debug.Session).StepInto)},
		{at + "stepOut", true, simple((*debug.Session).StepOut)},
		{at + "stop", true, simple((*debug.Session).Stop)},
		{at + "runTo", true, command(p, func(s *session, b *nodeBody) error { return s.RunTo(b.Node) })},
		{at + "unpin", true, command(p, func(s *session, b *nodeBody) error { return s.Unpin(b.Node) })},
		{at + "pin", true, command(p, func(s *session, b *nodeValue) error { return s.Pin(b.Node, b.Value) })},
		{at + "setOutput", true, command(p, func(s *session, b *nodeValue) error { return s.SetOutput(b.Node, b.Value) })},
		{at + "breakpoints", true, command(p, func(s *session, b *pointsBody) error {
			points, err := pointsOf(b.Breakpoints)
			on, bad := b.BreakOn.mode()
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			return s.SetBreakpoints(on, points...)
		})},
		{at + "answer", true, command(p, func(s *session, b *answerBody) error {
			answer, err := b.answer(s.Session)
			if err != nil {
				return err
			}
			return s.Answer(b.Question, answer)
		})},
	}
}

// commandError returns why a command cannot be done.
func commandError(err error) error {
	var state *debug.StateError
	var point *debug.BreakpointError
	var known *apiError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &state):
		return refused("wrong_state", "%v", err)
	case errors.As(err, &point):
		e := &apiError{Status: http.StatusUnprocessableEntity, Code: "bad_breakpoint", Message: err.Error()}
		if point.Offset >= 0 {
			e.At = &span{point.Offset, max(point.Offset, point.End)}
		}
		return e
	}
	return &apiError{Status: http.StatusUnprocessableEntity, Code: "refused", Message: err.Error()}
}

type breakpoint struct {
	Node     string `json:"node"` // a key, or an id
	When     string `json:"when,omitempty"`
	Hits     int    `json:"hits,omitempty"`
	Log      string `json:"log,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

type breakOn struct {
	Failure   string `json:"failure,omitempty" ts:"'none' | 'any' | 'uncaught'"`
	EnterTool bool   `json:"enterTool,omitempty"`
}

func (b *breakOn) mode() (debug.BreakOn, error) {
	if b == nil {
		return debug.BreakOn{}, nil
	}
	on := debug.BreakOn{EnterTool: b.EnterTool}
	switch b.Failure {
	case "", "none":
	case "any":
		on.Failure = debug.BreakOnAny
	case "uncaught":
		on.Failure = debug.BreakOnUncaught
	default:
		return on, badRequest("breakOn.failure is %q; expected none, any or uncaught", b.Failure)
	}
	return on, nil
}

func pointsOf(list []breakpoint) ([]debug.Breakpoint, error) {
	if len(list) > maxPoints {
		return nil, badRequest("there are %d breakpoints; expected at most %d", len(list), maxPoints)
	}
	var points []debug.Breakpoint
	for _, b := range list {
		points = append(points, debug.Breakpoint(b))
	}
	return points, nil
}

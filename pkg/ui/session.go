package ui

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of sessions.
const (
	maxSessions = 32   // under way
	maxEnds     = 1000 // of those that are over, of which the end is known
	maxPoints   = 1000 // breakpoints of a session
)

// session is a run under control that the page began.
type session struct {
	*debug.Session
	known *runs.Run // as it was when it began; it knows the secrets of the run
}

// shower returns what shows values of the session.
func (s *session) shower() shower {
	_, redact, _ := s.known.Live()
	return shower{redact}
}

// sessions are those of a page.
type sessions struct {
	life context.Context // ends with the page
	end  context.CancelFunc
	wait sync.WaitGroup

	mu       sync.Mutex
	starting int                 // that count as under way
	live     map[string]*session // under way
	ends     map[string]string   // how others ended, by id
	old      []string            // the ids of ends, the oldest first
}

func newSessions() *sessions {
	s := &sessions{live: map[string]*session{}, ends: map[string]string{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// close stops all sessions and waits for their ends.
func (s *sessions) close() {
	s.end()
	s.wait.Wait()
}

// reserve makes room for one more session. It reports false if there is none.
func (s *sessions) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.live)+s.starting >= maxSessions {
		return false
	}
	s.starting++
	return true
}

func (s *sessions) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting--
}

func (s *sessions) add(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[one.ID()] = one
}

// get returns a session under way, or nil.
func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// has reports whether a run is or was one of the page's own.
func (s *sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id] != nil || s.ends[id] != ""
}

// ended returns how a session ended, or nothing if no session of the page has this id.
func (s *sessions) ended(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends[id]
}

// over notes how a session ended.
func (s *sessions) over(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, id)
	if s.old = append(s.old, id); len(s.old) > maxEnds {
		delete(s.ends, s.old[0])
		s.old = s.old[1:]
	}
	s.ends[id] = status
}

type breakpoint struct {
	Node     string `json:"node"`
	When     string `json:"when,omitempty"`
	Hits     int    `json:"hits,omitempty"`
	Log      string `json:"log,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

type breakOn struct {
	Failure   string `json:"failure,omitempty"`
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

type start struct {
	Tool        string                 `json:"tool"`
	Args        value.Value            `json:"args"`
	StartPaused bool                   `json:"startPaused"`
	Breakpoints []breakpoint           `json:"breakpoints"`
	BreakOn     *breakOn               `json:"breakOn"`
	Pins        map[string]value.Value `json:"pins"`
	From        *startFrom             `json:"from"`
}

type startFrom struct {
	Run  string `json:"run"`
	Step int    `json:"step"`
	Set  *struct {
		Node  string      `json:"node"`
		Value value.Value `json:"value"`
	} `json:"set"`
}

// startSession begins a run under control.
func (p *Page) startSession(w http.ResponseWriter, r *http.Request) error {
	var body start
	if err := decode(w, r, maxText, &body); err != nil {
		return err
	}
	e, err := p.program()
	if err != nil {
		return err
	}
	o := debug.Options{StartPaused: body.StartPaused, Pins: body.Pins}
	var bad error
	o.Breakpoints, err = pointsOf(body.Breakpoints)
	if o.BreakOn, bad = body.BreakOn.mode(); err != nil || bad != nil {
		return errors.Join(err, bad)
	}
	var args any
	switch {
	case body.From != nil:
		from, err := p.subject(body.From.Run)
		if err != nil {
			return err
		}
		if from.run == nil {
			return refused("no_history", "%v", errNoHistory)
		}
		o.From = &debug.From{Run: from.run, Before: body.From.Step}
		if set := body.From.Set; set != nil {
			o.From.Set = map[string]value.Value{set.Node: set.Value}
		}
		if body.Tool == "" {
			body.Tool = from.graph.Name
		}
	case body.Args.IsUndefined():
		args = value.FromEntries(nil)
	default:
		args = body.Args
	}
	if !p.sessions.reserve() {
		return errSessions
	}
	defer p.sessions.release()
	d, err := e.Debug(p.sessions.life, body.Tool, args, mcpgraph.WithDebug(o))
	if errors.Is(err, mcpgraph.ErrTooManySessions) {
		return errSessions
	}
	if err != nil {
		return startError(err)
	}
	known, ok := e.Runs().Find(d.ID())
	if !ok {
		_ = d.Stop()
		return errors.New("the run is not kept")
	}
	s := &session{d, known}
	p.sessions.add(s)
	p.events.watched(d.ID())
	p.sessions.wait.Go(func() { p.tellSession(s) })
	p.answer(w, map[string]string{"id": d.ID()})
	return nil
}

var errSessions = &apiError{Status: http.StatusTooManyRequests, Code: "too_many_sessions", Message: "too many runs are under control; stop one of them"}

// startError returns why a run cannot begin.
func startError(err error) error {
	var schema *graph.SchemaError
	if errors.As(err, &schema) {
		fields := []map[string]string{}
		for _, one := range schema.Problems {
			fields = append(fields, map[string]string{"path": one.Path, "message": "expected " + one.Expected + ", found " + one.Found})
		}
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "bad_arguments", Message: err.Error(), Fields: fields}
	}
	return commandError(err)
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

// tellSession turns what happens in a session into events, until it is over.
func (p *Page) tellSession(s *session) {
	id, after := s.ID(), 0
	for {
		list, err := s.Next(context.Background(), after)
		if err != nil {
			break
		}
		sh, watched := s.shower(), p.events.isWatched(id)
		changed := false
		for _, e := range list {
			after = e.Number
			if e.Type == debug.Ended {
				// How it ended is known before anybody is told.
				p.sessions.over(id, string(e.Status))
			}
			changed = p.tellEvent(s, &e, sh, watched) || changed
		}
		if changed {
			p.events.add(event{Type: "run", Run: p.stateOfSession(s, sh)})
		}
	}
}

// tellEvent tells of one event; it reports true for one that changes the state of the
// session.
func (p *Page) tellEvent(s *session, e *debug.Event, sh shower, watched bool) bool {
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
	Why   string `json:"why"`
	Key   string `json:"key"`
	Path  string `json:"path"`
	At    int    `json:"at"`
	Frame string `json:"frame"`
	Text  string `json:"text,omitempty"`
}

// stateOfSession returns how a session is.
func (p *Page) stateOfSession(s *session, sh shower) *runState {
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
	return out
}

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
		p.answer(w, struct{}{})
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

// answer returns the result of the request that the question is: what the page sends is
// a form that was filled in, the text of a model, or a list of roots.
func (b *answerBody) answer(s *debug.Session) (value.Value, error) {
	q, err := s.Question(b.Question)
	if err != nil {
		return value.Undef, err
	}
	given := b.Content
	switch {
	case b.Action != mcpgraph.Accept:
		given = value.FromString(b.Action)
	case q.Method == graph.AskPerson:
		return mcpgraph.Answer(b.Action, b.Content), nil
	case q.Method == graph.AskModel && given.Kind() == value.String: // also if it is "decline"
		given = value.FromEntries([]value.Entry{{Key: "text", Value: given}})
	}
	v, err := q.Result(given)
	if err != nil {
		return value.Undef, badRequest("content: %v", err)
	}
	return v, nil
}

// commands are the routes of sessions.
func (p *Page) commands() []route {
	simple := func(do func(*debug.Session) error) func(http.ResponseWriter, *http.Request) error {
		return command(p, func(s *session, _ *none) error { return do(s.Session) })
	}
	const at = "POST /api/sessions/{id}/"
	return []route{
		{"POST /api/sessions", true, p.startSession},
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
			if b.Action != mcpgraph.Accept && b.Action != mcpgraph.Decline && b.Action != mcpgraph.Cancel {
				return badRequest("action is %q; expected accept, decline or cancel", b.Action)
			}
			answer, err := b.answer(s.Session)
			if err != nil {
				return err
			}
			return s.Answer(b.Question, answer)
		})},
	}
}

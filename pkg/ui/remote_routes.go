package ui

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// durableState is what a page knows of the place of durable runs.
type durableState struct {
	Place   string `json:"place"`
	Problem string `json:"problem,omitempty"`
}

var errNoDurable = &apiError{Status: http.StatusNotFound, Code: "not_found", Message: "this page has no durable runs: start it with --engine temporal"}

// errNoGraph is returned for what needs the graph of a run that is not known.
var errNoGraph = refused("no_graph", "the run began with another version of the file, or is one of another file: only its records can be shown")

// maxCursor is how many bytes a cursor of a list may have.
const maxCursor = 4 << 10

// listDurable answers with a part of the durable runs. That they cannot be reached is
// no error: the page shows it, and the list comes later.
func listDurable(p *Page, w http.ResponseWriter, r *http.Request) error {
	m := p.remotes
	if m == nil {
		return errNoDurable
	}
	cursor := r.URL.Query().Get("cursor")
	if len(cursor) > maxCursor {
		return badRequest("cursor is too long")
	}
	var list []runs.Summary
	var next string
	var err error
	if cursor == "" {
		list, next, err = m.newest(r.Context())
	} else {
		ctx, cancel := context.WithTimeout(r.Context(), listTime)
		defer cancel()
		if list, next, err = m.behind(ctx, cursor); err == nil {
			m.note(list)
		} else if errors.Is(err, runs.ErrNotFound) {
			return notFound("the run that the list goes on behind is not there any more")
		}
	}
	states := []*runState{}
	for i := range list {
		states = append(states, m.stateOf(&list[i]))
	}
	answer := map[string]any{"runs": states}
	if next != "" {
		answer["next"] = next
	}
	if err != nil {
		answer["problem"] = p.redact(m.unreachable(err))
	}
	respond(w, answer)
	return nil
}

// startDurable starts a durable run.
func startDurable(p *Page, w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Tool string      `json:"tool"`
		Args value.Value `json:"args"`
	}
	if err := decode(w, r, maxText, &body); err != nil {
		return err
	}
	m := p.remotes
	if m == nil {
		return errNoDurable
	}
	e, err := p.program()
	if err != nil {
		return err
	}
	g, err := e.Graph(body.Tool)
	if err != nil {
		return notFound("there is no tool %q", body.Tool)
	}
	if body.Args.IsUndefined() {
		body.Args = value.FromEntries(nil)
	}
	if body.Args.Kind() != value.Object {
		return badRequest("args: expected an object")
	}
	if err := g.Input.ValidateContext(r.Context(), body.Args); err != nil {
		return startError(err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), listTime)
	defer cancel()
	program, release := e.Program()
	defer release()
	s, err := m.from.Start(ctx, &runs.Call{Run: executor.NewRun(g, body.Args, rand.Uint64()), Program: program})
	if err != nil {
		return m.failed(err)
	}
	p.events.watched(s.ID)
	if run, err := m.open(r.Context(), s.ID); err == nil {
		run.mu.Lock()
		state := run.state()
		run.mu.Unlock()
		p.events.add(event{Type: "run", Run: state})
	}
	respond(w, map[string]string{"id": s.ID})
	return nil
}

// failed returns the answer to a command that the place refused.
func (m *remotes) failed(err error) error {
	var failure *graph.Failure
	switch {
	case errors.Is(err, runs.ErrNotFound):
		return notFound("the run is not there (any more)")
	case errors.Is(err, runs.ErrNotAsked), errors.Is(err, runs.ErrOver):
		return refused("wrong_state", "%v", runs.ErrNotAsked)
	case errors.Is(err, runs.ErrNoWorker):
		return &apiError{Status: http.StatusServiceUnavailable, Code: noWorker, Message: noWorkerText}
	case !errors.Is(err, runs.ErrUnavailable) && errors.As(err, &failure):
		return &apiError{Status: http.StatusUnprocessableEntity, Code: "refused", Message: failure.Message}
	}
	return &apiError{Status: http.StatusServiceUnavailable, Code: unreachable, Message: m.from.Name() + " cannot be reached: " + err.Error()}
}

// durableCommand answers at a path of a durable run: do does it with the body.
func durableCommand[T any](p *Page, do func(ctx context.Context, r *remoteRun, body *T) error) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		body := new(T)
		if err := decode(w, r, maxText, body); err != nil {
			return err
		}
		if p.remotes == nil {
			return errNoDurable
		}
		// Only runs of mcpgraph are found: the place may have others under other ids.
		run, err := p.remotes.open(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		run.mu.Lock()
		ended := !run.at.Ended.IsZero()
		run.mu.Unlock()
		if ended {
			return refused("wrong_state", "the run is over")
		}
		ctx, cancel := context.WithTimeout(r.Context(), listTime)
		defer cancel()
		if err := do(ctx, run, body); err != nil {
			var known *apiError
			if errors.As(err, &known) {
				return err
			}
			return p.remotes.failed(err)
		}
		run.poke()
		respond(w, struct{}{})
		return nil
	}
}

// durableCommands are the routes of durable runs.
func durableCommands(p *Page) []route {
	return []route{
		{"GET /api/durable", false, on(p, listDurable)},
		{"POST /api/durable", true, on(p, startDurable)},
		{"POST /api/durable/{id}/cancel", true, durableCommand(p, func(ctx context.Context, r *remoteRun, _ *none) error {
			return r.remotes.from.Cancel(ctx, operator, r.id)
		})},
		{"POST /api/durable/{id}/answer", true, durableCommand(p, func(ctx context.Context, r *remoteRun, b *answerBody) error {
			answer, err := b.answer(r)
			if err == nil {
				err = r.remotes.from.Answer(ctx, operator, r.id, []runs.Answer{{Question: b.Question, Value: answer}})
			}
			return err
		})},
	}
}

// Question returns what the run asks under an id, as the page was told last.
func (r *remoteRun) Question(id string) (executor.Question, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.at.Questions {
		if q.ID == id {
			return questionIn(&q), nil
		}
	}
	return executor.Question{}, refused("wrong_state", "%v", runs.ErrNotAsked)
}

var _ asker = &remoteRun{}

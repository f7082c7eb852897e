package ui

import (
	"errors"
	"net/http"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type start struct {
	Tool        string                 `json:"tool"`
	Args        value.Value            `json:"args"`
	StartPaused bool                   `json:"startPaused" ts:"?"`
	Breakpoints []breakpoint           `json:"breakpoints" ts:"?"`
	BreakOn     *breakOn               `json:"breakOn" ts:"?"`
	Pins        map[string]value.Value `json:"pins" ts:"?"`
	From        *startFrom             `json:"from" ts:"?"`
}

type startFrom struct {
	Run  string     `json:"run"`
	Step int        `json:"step"` // the index of a record: those before it are kept
	Set  *nodeValue `json:"set" ts:"?"`
}

// startSession begins a run under control.
func startSession(p *Page, w http.ResponseWriter, r *http.Request) error {
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
		from, err := p.subject(r.Context(), body.From.Run)
		if err != nil {
			return err
		}
		switch {
		case from.history == nil:
			return refused("no_history", "%v", errNoHistory)
		case from.run == nil:
			return errNoGraph
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
	limit := sessionLimit(e.File().Server)
	if !p.sessions.reserve(limit) {
		if limit < maxSessions {
			return errSessionsOfFile
		}
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
	p.sessions.wait.Go(func() { tellSession(p, s) })
	respond(w, map[string]string{"id": d.ID()})
	return nil
}

var errSessions = &apiError{Status: http.StatusTooManyRequests, Code: "too_many_sessions", Message: "too many runs are under control; stop one of them"}

var errSessionsOfFile = &apiError{Status: http.StatusTooManyRequests, Code: "too_many_sessions",
	Message: "as many runs as the file allows at the same time are under control; stop one of them, or raise server.maxConcurrentCalls"}

// sessionLimit returns how many runs under control the file allows. The page is one
// caller.
func sessionLimit(s config.Server) int {
	limit := maxSessions
	for _, n := range []int{s.MaxConcurrentCalls, s.MaxConcurrentCallsPerCaller} {
		if n > 0 {
			limit = min(limit, n)
		}
	}
	return limit
}

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

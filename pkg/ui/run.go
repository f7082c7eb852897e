package ui

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of what is shown of a run.
const (
	maxActive  = 200
	maxRecords = 1000 // of one answer
)

type runState struct {
	ID          string       `json:"id"`
	Tool        string       `json:"tool"`
	Caller      string       `json:"caller,omitempty"`
	Durable     *durableInfo `json:"durable,omitempty"`
	Session     bool         `json:"session"` // it can be controlled
	Imported    bool         `json:"imported,omitempty"`
	State       string       `json:"state" ts:"'running' | 'paused' | 'done' | 'failed' | 'stopped' | 'cancelled' | 'waiting'"` // waiting: for a person
	Began       time.Time    `json:"began"`
	Ended       *time.Time   `json:"ended,omitempty"`
	Pausing     bool         `json:"pausing,omitempty"` // it pauses as soon as calls under way are over
	Paused      *paused      `json:"paused,omitempty"`
	Active      []activity   `json:"active"`
	Questions   []question   `json:"questions"`
	Breakpoints []breakpoint `json:"breakpoints,omitempty"`
	BreakOn     *breakOn     `json:"breakOn,omitempty"`
	Pins        []string     `json:"pins,omitempty"`
	Executions  int          `json:"executions"`
	Args        any          `json:"args,omitempty"`
	Result      any          `json:"result,omitempty"`
	Error       *failure     `json:"error,omitempty"`
	Can         []string     `json:"can"` // the commands that do something now
}

// subject is a run that somebody looks at.
type subject struct {
	id           string
	graph        *graph.Graph
	history      history       // nil if it was too large to be kept
	run          *executor.Run // nil if it has no history, or if its graph is not known
	began, ended time.Time
	failed       string
	shower       shower
	state        *runState
}

// stateOfRun returns how a run of the store is.
func (p *Page) stateOfRun(r *runs.Run) *runState {
	if s := p.sessions.get(r.ID); s != nil {
		state, _ := stateOfSession(s, s.shower())
		return state
	}
	s := &runState{
		ID: r.ID, Tool: r.Tool, Caller: r.Caller(), State: "done", Began: r.Began.UTC(), Executions: r.Executions,
		Active: []activity{}, Questions: []question{}, Can: []string{},
	}
	run, redact, live := r.Live()
	switch {
	case live:
		s.show(run, shower{redact})
	case r.Err != "":
		s.State, s.Error = "failed", failureOf(r.Graph(), r.Failure, shower{})
	}
	if !r.Ended.IsZero() {
		s.Ended = ptr(r.Ended.UTC())
	}
	if ended := p.sessions.ended(r.ID); ended != "" {
		s.Session, s.State = true, ended
	}
	return s
}

// show sets what is known of a run under way.
func (s *runState) show(run *executor.Run, sh shower) {
	g := run.Graph()
	s.State = "running"
	for _, a := range run.Active(maxActive) {
		s.Active = append(s.Active, activityOf(g, &a))
	}
	for _, q := range run.Questions() {
		s.Questions = append(s.Questions, questionOf(g, &q, sh))
	}
	if run.Parked() {
		s.State = "waiting"
	}
}

func (p *Page) listRuns(w http.ResponseWriter, r *http.Request) error {
	list := []*runState{}
	q := r.URL.Query()
	if e := p.engine.Load(); e != nil {
		var all []*runState
		for _, in := range slices.Backward(p.imports.all()) {
			all = append(all, in.state())
		}
		for _, run := range e.Runs().All() {
			all = append(all, p.stateOfRun(run))
		}
		for _, s := range all {
			if (q.Get("tool") == "" || q.Get("tool") == s.Tool) && (q.Get("state") == "" || q.Get("state") == s.State) &&
				(!q.Has("caller") || q.Get("caller") == s.Caller) {
				list = append(list, s)
			}
		}
	}
	respond(w, map[string]any{"runs": list})
	return nil
}

// subject returns a run.
func (p *Page) subject(ctx context.Context, id string) (*subject, error) {
	e, err := p.program()
	if err != nil {
		return nil, err
	}
	if in := p.imports.find(id); in != nil {
		return &subject{
			id: id, graph: in.run.Graph(), history: in.run, run: in.run, began: in.began, ended: in.ended, failed: in.failed,
			state: in.state(), shower: shower{p.redactor()},
		}, nil
	}
	kept, ok := e.Runs().Find(id)
	if p.remotes != nil && !p.sessions.has(id) {
		s, err := p.remotes.subject(ctx, id)
		if err == nil || !ok {
			return s, err
		}
	}
	if !ok {
		return nil, notFound("there is no run %q (any more)", id)
	}
	s := &subject{id: id, graph: kept.Graph(), began: kept.Began, ended: kept.Ended, failed: kept.Err, state: p.stateOfRun(kept)}
	if run, redact, live := kept.Live(); live {
		s.history, s.run, s.shower = run, run, shower{redact}
		return s, nil
	}
	if !kept.Truncated {
		if s.run, err = p.replayed.get(kept); s.run != nil {
			s.history = s.run
		}
	}
	return s, err
}

// failureFrom returns the failure of a run that is over, of which message is known: the
// last record with a failure that nothing handled says where.
func failureFrom(run history, message string, s shower) *failure {
	f := &failure{Message: s.text(message)}
	for rec := range run.Records(0) {
		if rec.Event == executor.Done && rec.Err != nil && rec.Via == "" {
			at := failureOf(run.Graph(), rec.Err, s)
			f.Name, f.Message, f.File, f.Span, f.Detail = at.Name, at.Message, at.File, at.Span, at.Detail
			if rec.Frame == "" || f.Path == "" {
				f.Path, f.Key = rec.NodePath(), keyOf(run.Graph(), rec.NodePath())
			}
		}
	}
	return f
}

// replays are the runs of the recent past that were read last.
type replays struct {
	mu   sync.Mutex
	list []replay // the latest first
}

type replay struct {
	kept *runs.Run
	run  *executor.Run
}

// maxReplays is how many of them are held.
const maxReplays = 4

func (r *replays) get(kept *runs.Run) (*executor.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, one := range r.list {
		if one.kept == kept {
			r.list = slices.Insert(slices.Delete(r.list, i, i+1), 0, one)
			return one.run, nil
		}
	}
	run, err := kept.Replay()
	if err == nil {
		r.list = append([]replay{{kept, run}}, r.list[:min(len(r.list), maxReplays-1)]...)
	}
	return run, err
}

func (p *Page) getRun(w http.ResponseWriter, r *http.Request) error {
	s, err := p.subject(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	list, dropped := []*record{}, 0
	if s.history != nil {
		list, dropped = s.records(0)
		s.state.Args = s.shower.short(s.history.Args())
		if s.history.Done() && s.state.State == "done" {
			s.state.Result = s.shower.short(s.history.Result())
		}
	}
	respond(w, map[string]any{"run": s.state, "records": list, "dropped": dropped})
	return nil
}

// getValue answers with a value of a run, or a part of it.
func (p *Page) getValue(w http.ResponseWriter, r *http.Request) error {
	s, err := p.subject(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if s.history == nil {
		return refused("no_history", "%v", errNoHistory)
	}
	from, err1 := number(r, "from", 0)
	count, err2 := number(r, "count", defaultItems)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	v, err := p.part(s, r)
	if err != nil {
		return err
	}
	v, err = at(s.shower.whole(v), r.URL.Query().Get("pointer"))
	if err != nil {
		return err
	}
	answer := map[string]any{"bytes": v.TextSize()}
	if !v.IsUndefined() {
		answer["value"] = bounded(v, from, min(count, maxItems))
	}
	respond(w, answer)
	return nil
}

// part returns the value that a request names.
func (p *Page) part(s *subject, r *http.Request) (value.Value, error) {
	part := r.URL.Query().Get("part")
	if !r.URL.Query().Has("record") {
		switch part {
		case "args":
			return s.history.Args(), nil
		case "result":
			return s.history.Result(), nil
		}
		return value.Undef, badRequest("part is %q; without record it is args or result", part)
	}
	if part == "document" || part == "variables" {
		at, err := scopeOf(p, s, r)
		if err != nil {
			return value.Undef, err
		}
		if part == "variables" {
			return variables(at), nil
		}
		return at.Document(), nil
	}
	index, err := number(r, "record", 0)
	if err != nil {
		return value.Undef, err
	}
	rec, ok := s.record(index)
	if !ok {
		return value.Undef, notFound("the run has no record %d (any more)", index)
	}
	switch part {
	case "output":
		return rec.Output, nil
	case "arguments":
		return rec.Arguments, nil
	case "reply":
		return rec.Reply, nil
	case "error":
		if rec.Err == nil {
			return value.Undef, nil
		}
		return executor.FailureOf(rec.Err).Value(), nil
	}
	return value.Undef, badRequest("part is %q; expected output, arguments, reply, error, document or variables", part)
}

// record returns one record.
func (s *subject) record(index int) (executor.Record, bool) {
	for rec := range s.history.Records(index) {
		return rec, rec.Index == index
	}
	return executor.Record{}, false
}

func (p *Page) getRecords(w http.ResponseWriter, r *http.Request) error {
	from, err := number(r, "from", 0)
	if err != nil {
		return err
	}
	s, err := p.subject(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	list := []*record{}
	if s.history != nil {
		list, _ = s.records(from)
	}
	respond(w, map[string]any{"records": list})
	return nil
}

// records returns records from an index on, and how many of these are missing.
func (s *subject) records(from int) (list []*record, dropped int) {
	list = []*record{}
	next := from
	for rec := range s.history.Records(from) {
		dropped += rec.Index - next
		next = rec.Index + 1
		if len(list) == maxRecords {
			break
		}
		list = append(list, recordOf(s.graph, &rec, s.shower))
	}
	return list, dropped
}

// errNoHistory is returned for a run that was too large to be kept.
var errNoHistory = errors.New("the run was too large to be kept; it has no history")

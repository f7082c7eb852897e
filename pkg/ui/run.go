package ui

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Bounds of what is shown of a run.
const (
	maxActive  = 200
	maxRecords = 1000 // of one answer
)

type runState struct {
	ID         string     `json:"id"`
	Tool       string     `json:"tool"`
	Caller     string     `json:"caller,omitempty"`
	Session    bool       `json:"session"`
	Imported   bool       `json:"imported,omitempty"`
	State      string     `json:"state"`
	Began      time.Time  `json:"began"`
	Ended      *time.Time `json:"ended,omitempty"`
	Active     []activity `json:"active"`
	Questions  []question `json:"questions"`
	Executions int        `json:"executions"`
	Args       any        `json:"args,omitempty"`
	Result     any        `json:"result,omitempty"`
	Error      *failure   `json:"error,omitempty"`
	Can        []string   `json:"can"`
}

// subject is a run that somebody looks at.
type subject struct {
	id     string
	graph  *graph.Graph
	run    *executor.Run // nil until it is replayed
	kept   *runs.Run     // as the store knows it
	shower shower
}

// stateOfRun returns how a run of the store is.
func (p *Page) stateOfRun(r *runs.Run) *runState {
	s := &runState{
		ID: r.ID, Tool: r.Tool, Caller: r.Caller(), State: "done", Began: r.Began.UTC(), Executions: r.Executions,
		Active: []activity{}, Questions: []question{}, Can: []string{},
	}
	run, redact, live := r.Live()
	switch {
	case live:
		s.show(run, shower{redact})
	case r.Err != "":
		s.State, s.Error = "failed", &failure{Message: r.Err}
	}
	if !r.Ended.IsZero() {
		s.Ended = ptr(r.Ended.UTC())
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
		for _, run := range e.Runs().All() {
			s := p.stateOfRun(run)
			if (q.Get("tool") == "" || q.Get("tool") == s.Tool) && (q.Get("state") == "" || q.Get("state") == s.State) &&
				(!q.Has("caller") || q.Get("caller") == s.Caller) {
				list = append(list, s)
			}
		}
	}
	p.answer(w, map[string]any{"runs": list})
	return nil
}

// subject returns a run.
func (p *Page) subject(id string) (*subject, error) {
	e, err := p.program()
	if err != nil {
		return nil, err
	}
	kept, ok := e.Runs().Find(id)
	if !ok {
		return nil, notFound("there is no run %q (any more)", id)
	}
	s := &subject{id: id, graph: kept.Graph(), kept: kept}
	if run, redact, live := kept.Live(); live {
		s.run, s.shower = run, shower{redact}
		return s, nil
	}
	if kept.Truncated {
		return s, nil
	}
	s.run, err = kept.Replay()
	return s, err
}

func (p *Page) getRun(w http.ResponseWriter, r *http.Request) error {
	s, err := p.subject(r.PathValue("id"))
	if err != nil {
		return err
	}
	state, list := p.stateOfRun(s.kept), []*record{}
	dropped := 0
	if s.run != nil {
		list, dropped = s.records(0)
		state.Args = s.shower.short(s.run.Args())
		if s.run.Done() && state.State == "done" {
			state.Result = s.shower.short(s.run.Result())
		}
	}
	p.answer(w, map[string]any{"run": state, "records": list, "dropped": dropped})
	return nil
}

func (p *Page) getRecords(w http.ResponseWriter, r *http.Request) error {
	from, err := number(r, "from", 0)
	if err != nil {
		return err
	}
	s, err := p.subject(r.PathValue("id"))
	if err != nil {
		return err
	}
	list := []*record{}
	if s.run != nil {
		list, _ = s.records(from)
	}
	p.answer(w, map[string]any{"records": list})
	return nil
}

// records returns records from an index on, and how many of these are missing.
func (s *subject) records(from int) (list []*record, dropped int) {
	list = []*record{}
	next := from
	for rec := range s.run.Records(from) {
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

package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// durableInfo is what a run has that is kept outside of this process.
type durableInfo struct {
	// Version is the beginning of the digest of its file; Known is true if that is the
	// file of the page as it is now.
	Version string `json:"version"`
	Known   bool   `json:"known"`
	// Parent is the run that waits for this one.
	Parent string `json:"parent,omitempty"`
	// Code and Problem are why the run cannot be shown as it is.
	Code    string `json:"code,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// shownVersion is how many characters of a digest are shown.
const shownVersion = 12

// listed returns a run as lists have it.
func (m *remotes) listed(d *runs.Summary) *runState {
	s := &runState{
		ID: d.ID, Tool: m.page.redact(d.Tool), Caller: m.page.redact(d.Caller), State: pageStates[d.Status], Began: d.Began.UTC(),
		Active: []activity{}, Questions: []question{}, Can: []string{},
		Durable: &durableInfo{Version: d.Version[:min(len(d.Version), shownVersion)], Parent: d.Parent},
	}
	if e := m.page.engine.Load(); e != nil && d.Version != "" && e.Digest() == d.Version {
		_, err := e.Graph(d.Tool)
		s.Durable.Known = err == nil
	}
	if d.Ended.IsZero() {
		s.Can = append(s.Can, "cancel")
	} else {
		s.Ended = ptr(d.Ended.UTC())
	}
	return s
}

// state returns how a run is. r.mu is held.
func (r *remoteRun) state() *runState {
	s := r.remotes.listed(&r.at.Summary)
	s.Executions = r.at.Count
	sh := shower{r.redactor()}
	s.Durable.Code, s.Durable.Problem = r.trouble.code, sh.text(r.trouble.text)
	if s.Durable.Code == "" && r.crowded && s.Ended == nil {
		s.Durable.Code, s.Durable.Problem = notFollowed, fmt.Sprintf("%d durable runs are followed already; this one is shown as it was when it was opened", maxFollowed)
	}
	past := r.past()
	if past == nil {
		return s
	}
	if r.run == nil {
		s.Durable.Known = false // the file may have come to this version since
	} else {
		s.Executions = r.run.Len()
	}
	g := past.Graph()
	for _, a := range r.at.Active {
		s.Active = append(s.Active, r.active(g, &a, sh))
	}
	for _, q := range r.at.Questions {
		one := questionIn(&q)
		s.Questions = append(s.Questions, questionOf(g, &one, sh))
	}
	if end := r.ended; end != nil && end.Err != nil && s.State == "failed" {
		s.Error = failureFrom(past, end.Err.Error(), sh)
		if s.Error.Name == "" {
			s.Error.Name = end.Failure().Name
		}
	}
	return s
}

// questionIn returns a question of a run as one of this process.
func questionIn(q *runs.Question) executor.Question {
	return executor.Question{ID: q.ID, Path: q.Path, Method: q.Method, Value: q.Params, Until: q.Until}
}

// pageStates are the states that pages know, by the phase of a run.
var pageStates = map[runs.Phase]string{
	runs.Running: "running", runs.Waiting: "waiting", runs.Completed: "done", runs.Failed: "failed", runs.TimedOut: "failed",
	runs.Canceled: "cancelled", runs.Terminated: "stopped",
}

// active returns an execution under way with what its server has reported.
func (r *remoteRun) active(g *graph.Graph, a *executor.Activity, sh shower) activity {
	out := activityOf(g, a)
	id := fmt.Sprintf("%s:%d#%d", a.Frame, a.Execution, a.Try)
	for _, c := range r.at.Calls {
		if c.ID != id && !strings.HasPrefix(c.ID, id+".") {
			continue
		}
		out.Worker = sh.text(c.Worker)
		if p := c.Progress.Get("progress"); p.Kind() == value.Number {
			out.Progress = ptr(p.Float())
		}
		if total := c.Progress.Get("total"); total.Kind() == value.Number && total.Float() > 0 {
			out.Total = ptr(total.Float())
		}
		message := c.Progress.Get("message").Str()
		out.Message = sh.text(strings.ToValidUTF8(message[:min(len(message), maxPreview)], ""))
	}
	return out
}

// noWorkerText says what to do about runs.ErrNoWorker.
const noWorkerText = "no worker for the version of the file that this run began with answers; start one with mcpgraph worker"

// troubleOf returns what an error means to somebody who looks at a run.
func (m *remotes) troubleOf(err error) trouble {
	switch {
	case err == nil:
		return trouble{}
	case errors.Is(err, runs.ErrNoWorker):
		return trouble{noWorker, noWorkerText}
	case errors.Is(err, runs.ErrNotFound):
		return trouble{"not_found", "the run is not there any more"}
	case errors.Is(err, errTooLong):
		return trouble{tooLong, errTooLong.Error()}
	case errors.Is(err, runs.ErrUnreadable):
		return trouble{unreadable, err.Error()}
	}
	return trouble{unreachable, m.unreachable(err)}
}

// unreachable says that the place of the runs cannot be reached.
func (m *remotes) unreachable(err error) string {
	return fmt.Sprintf("%s cannot be reached; trying again: %v", m.from.Name(), err)
}

// redactor takes the secrets of the page's file and those among the arguments of the run
// out of texts; nil if there is nothing to take out. r.mu is held.
func (r *remoteRun) redactor() func(string) string {
	of, secrets := r.remotes.page.redactor(), r.at.Secrets
	if e := r.remotes.page.engine.Load(); e != nil && r.at.Args.Kind() == value.Object {
		secrets = slices.Concat(secrets, e.SecretArguments(nil, "", r.at.Tool, r.at.Args))
	}
	own := upstream.Redactor(secrets)
	switch {
	case own == nil:
		return of
	case of == nil:
		return own
	}
	return func(text string) string { return own(of(text)) }
}

// subject returns the run for those who read its values. r.mu is held.
func (r *remoteRun) subject() *subject {
	s := &subject{id: r.id, began: r.at.Began, ended: r.at.Ended, state: r.state(), shower: shower{r.redactor()}}
	if past := r.past(); past != nil {
		s.history, s.run, s.graph = past, r.run, past.Graph()
	} else {
		s.graph = &graph.Graph{Name: r.at.Tool}
	}
	if r.ended != nil && r.ended.Err != nil {
		s.failed = r.ended.Err.Error()
	}
	return s
}

// remoteTeller tells the pages what has happened in a run that is followed.
type remoteTeller struct {
	r    *remoteRun
	page *Page
	next int    // record
	last string // state
}

// tell reports whether there was something, and whether nothing will follow.
func (t *remoteTeller) tell() (changed, over bool) {
	r := t.r
	r.mu.Lock()
	past, state, over, redact := r.past(), r.state(), r.over, r.redactor()
	r.mu.Unlock()
	if past != nil {
		sh := shower{redact}
		for rec := range past.Records(t.next) {
			t.next, changed = rec.Index+1, true
			t.page.events.add(event{Type: "record", Run: r.id, Record: recordOf(past.Graph(), &rec, sh)})
		}
	}
	text, _ := json.Marshal(state)
	if string(text) != t.last {
		t.last, changed = string(text), true
		t.page.events.add(event{Type: "run", Run: state})
	}
	return changed, over
}

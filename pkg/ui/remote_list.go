package ui

import (
	"context"
	"errors"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// newest returns the newest runs and those under way, the newest first, and the cursor
// for the runs behind the newest ones. It tells the pages what is new in it. The error
// is that of the place of the runs.
func (m *remotes) newest(ctx context.Context) ([]runs.Summary, string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	list, next, err := m.behind(ctx, "")
	if err == nil && next != "" {
		var running []runs.Summary
		running, _, err = runs.ListSome(ctx, m.from, operator, runs.Filter{Running: true}, runningRuns)
		list = merged(running, list) // the first one knows of more children what their parents wait for
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return nil, "", ctx.Err()
	}
	m.reached(err)
	if err != nil {
		return nil, "", err
	}
	m.note(list)
	m.missing(ctx, list)
	return list, next, nil
}

// behind returns the runs of the list behind one of them; empty: the first ones. Next is
// the last of them, empty if no others follow.
func (m *remotes) behind(ctx context.Context, id string) (list []runs.Summary, next string, err error) {
	list, more, err := runs.ListSome(ctx, m.from, operator, runs.Filter{Before: id}, newestRuns)
	if more {
		next = list[len(list)-1].ID
	}
	return list, next, err
}

// merged returns the runs of two lists, each once, the newest first.
func merged(list, more []runs.Summary) []runs.Summary {
	known := map[string]bool{}
	for _, d := range list {
		known[d.ID] = true
	}
	for _, d := range more {
		if !known[d.ID] {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b runs.Summary) int { return b.Began.Compare(a.Began) })
	return list
}

// reached notes whether the place of the runs can be reached, and tells the pages if
// that has changed.
func (m *remotes) reached(err error) {
	problem := ""
	if err != nil {
		problem = m.page.redact(m.unreachable(err))
	}
	m.mu.Lock()
	changed := (problem == "") != (m.problem == "")
	m.problem = problem
	m.mu.Unlock()
	if changed {
		m.page.events.add(event{Type: "durable", Text: problem})
	}
}

// troubled returns why there is no list; empty: there is one.
func (m *remotes) troubled() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.problem
}

// note tells the pages which runs are new or have changed. Those that are followed tell
// it themselves.
func (m *remotes) note(list []runs.Summary) {
	for i := range list {
		d := &list[i]
		m.mu.Lock()
		before, known := m.seen[d.ID]
		if known || len(m.seen) < maxSeenRuns {
			m.seen[d.ID] = *d
		}
		r := m.runs[d.ID]
		m.mu.Unlock()
		if known && before.Status == d.Status || r != nil && r.followed() {
			continue
		}
		m.page.events.add(event{Type: "run", Run: m.stateOf(d)})
	}
}

// stateOf returns how a run of a list is. Lists are late, and have no questions: what is
// known of a run that is followed, or is over, is newer.
func (m *remotes) stateOf(d *runs.Summary) *runState {
	m.mu.Lock()
	r := m.runs[d.ID]
	m.mu.Unlock()
	if r == nil {
		return m.listed(d)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.ID != "" && (r.over || r.stop != nil || r.at.Status == d.Status) {
		return r.state()
	}
	s := m.listed(d)
	s.Durable.Known = s.Durable.Known && r.bare == nil
	return s
}

// maxAsked is how many runs are asked for after a list that has them no more.
const maxAsked = 5

// missing asks for some of those runs that were under way and that a list of all of
// these has no more: they have ended.
func (m *remotes) missing(ctx context.Context, list []runs.Summary) {
	m.mu.Lock()
	var gone []string
	for id, d := range m.seen {
		if slices.ContainsFunc(list, func(d runs.Summary) bool { return d.ID == id }) {
			continue
		}
		if d.Ended.IsZero() {
			gone = append(gone, id)
		} else {
			delete(m.seen, id) // nothing will change any more
		}
	}
	slices.Sort(gone)
	if m.turn += maxAsked; m.turn >= len(gone) {
		m.turn = 0
	}
	gone = gone[m.turn:min(m.turn+maxAsked, len(gone))]
	m.mu.Unlock()
	for _, id := range gone {
		s, err := m.from.Look(ctx, operator, id, runs.Brief)
		switch {
		case s != nil:
			m.note([]runs.Summary{s.Summary})
		case errors.Is(err, runs.ErrNotFound):
			m.mu.Lock()
			delete(m.seen, id)
			m.mu.Unlock()
		default:
			return
		}
	}
}

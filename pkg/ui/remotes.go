package ui

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Bounds of durable runs that are looked at.
const (
	maxRemotes     = 48 // that are held
	maxFollowed    = 32 // that are followed at the same time, for all pages
	maxFollowedFor = 8  // of them for one stream
	newestRuns     = 50 // of a list
	runningRuns    = 100
	maxSeenRuns    = 1000
	listTime       = 10 * time.Second       // for an answer
	listEvery      = 3 * time.Second        // while a page is open
	attendEvery    = 200 * time.Millisecond // whether pages want other runs
	freshTime      = 250 * time.Millisecond // a run is not looked at again within
	maxRunID       = 500
)

// remotes are the durable runs that a page knows.
type remotes struct {
	page *Page
	from runs.Place
	life context.Context // ends with the page
	end  context.CancelFunc
	wait sync.WaitGroup

	mu      sync.Mutex
	runs    map[string]*remoteRun
	seen    map[string]runs.Summary // as lists and events told them
	turn    int                     // of those that lists have no more
	problem string                  // why there is no list
}

func newRemotes(p *Page, from runs.Place) *remotes {
	m := &remotes{page: p, from: from, runs: map[string]*remoteRun{}, seen: map[string]runs.Summary{}}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// operator sees the runs of all callers.
var operator = runs.Who{Operator: true}

func (m *remotes) close() {
	m.end()
	m.mu.Lock()
	for _, r := range m.runs {
		m.drop(r)
	}
	m.mu.Unlock()
	m.wait.Wait()
}

// has reports whether somebody has looked at a run.
func (m *remotes) has(id string) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs[id] != nil
}

// open returns a run as it is now: one that is followed as it was when it was looked at
// last.
func (m *remotes) open(ctx context.Context, id string) (*remoteRun, error) {
	if id == "" || len(id) > maxRunID {
		return nil, notFound("there is no run %q (any more)", id[:min(len(id), maxRunID)])
	}
	m.mu.Lock()
	r := m.runs[id]
	if r == nil {
		r = &remoteRun{remotes: m, id: id, poked: make(chan struct{}, 1), account: m.page.opts.Memory.Account("")}
	}
	m.mu.Unlock()
	r.mu.Lock()
	r.used = time.Now()
	fresh := r.past() != nil && (r.stop != nil || time.Since(r.looked) < freshTime)
	r.mu.Unlock()
	var err error
	if !fresh {
		err = r.look(ctx)
	}
	r.mu.Lock()
	known := r.at.ID != "" // also if it cannot be reached now
	r.mu.Unlock()
	switch {
	case errors.Is(err, runs.ErrNotFound):
		return nil, notFound("there is no run %q (any more)", id)
	case !known && err != nil:
		return nil, &apiError{Status: http.StatusServiceUnavailable, Code: unreachable, Message: m.unreachable(err)}
	}
	return m.keep(r), nil
}

// keep holds a run, in the place of the one that was used the longest ago.
func (m *remotes) keep(r *remoteRun) *remoteRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	if other := m.runs[r.id]; other != nil {
		if other != r {
			r.account.Close() // somebody else was faster
		}
		return other
	}
	m.runs[r.id] = r
	for len(m.runs) > maxRemotes {
		var oldest *remoteRun
		var since time.Time
		for _, one := range m.runs {
			one.mu.Lock()
			free, used := one.stop == nil && one != r, one.used
			one.mu.Unlock()
			if free && (oldest == nil || used.Before(since)) {
				oldest, since = one, used
			}
		}
		if oldest == nil {
			break
		}
		m.drop(oldest)
	}
	return r
}

// drop forgets a run. m.mu is held.
func (m *remotes) drop(r *remoteRun) {
	delete(m.runs, r.id)
	m.wait.Go(func() { // somebody may look at it now
		r.looking.Lock()
		defer r.looking.Unlock()
		r.full = true
		r.account.Close()
	})
}

// subject returns a run for those who read its values.
func (m *remotes) subject(ctx context.Context, id string) (*subject, error) {
	r, err := m.open(ctx, id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.subject(), nil
}

// attend lets those runs be followed that streams name, within the bounds, and no
// others. Those that are followed already go first.
func (m *remotes) attend() {
	m.mu.Lock()
	defer m.mu.Unlock()
	streams := m.page.events.named()
	wanted, taken := map[string]bool{}, make([]int, len(streams))
	for _, followed := range []bool{true, false} {
		for i, ids := range streams {
			for _, id := range ids {
				r := m.runs[id]
				if r == nil || r.followed() != followed || taken[i] == maxFollowedFor {
					continue
				}
				if wanted[id] || len(wanted) < maxFollowed {
					wanted[id] = true
					taken[i]++
				}
			}
		}
	}
	for _, ids := range streams {
		for _, id := range ids {
			if r := m.runs[id]; r != nil {
				r.crowd(!wanted[id])
			}
		}
	}
	for id, r := range m.runs {
		m.turnTo(r, wanted[id])
	}
}

// turnTo follows a run, or lets it be.
func (m *remotes) turnTo(r *remoteRun, wanted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case wanted && r.stop == nil && !r.over:
		ctx, stop := context.WithCancel(m.life)
		r.stop = stop
		m.wait.Go(func() {
			r.follow(ctx)
			stop()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.stop = nil
		})
	case !wanted && r.stop != nil:
		r.stop()
	}
}

func (r *remoteRun) followed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop != nil
}

// crowd notes whether there is no room to follow the run, and tells the pages.
func (r *remoteRun) crowd(crowded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.crowded != crowded && !r.over {
		r.crowded = crowded
		r.remotes.page.events.add(event{Type: "run", Run: r.state()})
	}
}

// run tells the pages of durable runs until it is stopped.
func (m *remotes) run(stop chan struct{}) {
	ctx, cancel := context.WithCancel(m.life)
	defer cancel()
	m.mu.Lock()
	for id, d := range m.seen {
		d.Status = "" // is told again; runs that have ended meanwhile are missed
		m.seen[id] = d
	}
	m.mu.Unlock()
	m.wait.Go(func() {
		for {
			_, _, _ = m.newest(ctx)
			select {
			case <-ctx.Done():
				return
			case <-time.After(listEvery):
			}
		}
	})
	tick := time.NewTicker(attendEvery)
	defer tick.Stop()
	for {
		m.attend()
		select {
		case <-stop:
			m.leave()
			return
		case <-m.life.Done():
			return
		case <-tick.C:
		}
	}
}

// leave lets all runs be.
func (m *remotes) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		m.turnTo(r, false)
	}
}

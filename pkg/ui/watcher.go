package ui

import (
	"reflect"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// Bounds of what is looked at.
const (
	lingerTime = time.Minute // how long to go on for a reader who may come back
	serverTime = time.Second // between looks at the figures of servers
	maxChanged = 20          // runs whose change is told at a time
	maxPending = 1000        // runs whose change waits to be told
)

// watcher looks at the runs of the program while streams are open, and turns what has
// happened into events. Runs do not know of it.
type watcher struct {
	page *Page

	mu      sync.Mutex
	readers int
	stop    chan struct{} // nil if nothing looks
	linger  *time.Timer
	done    sync.WaitGroup
}

func newWatcher(p *Page) *watcher { return &watcher{page: p} }

// joined notes that a stream was opened. It returns the latest event before those that
// come of it.
func (w *watcher) joined() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readers++
	if w.linger != nil {
		w.linger.Stop()
		w.linger = nil
	}
	if w.stop != nil {
		return w.page.events.last()
	}
	w.page.events.skip()
	last := w.page.events.last()
	w.stop = make(chan struct{})
	stop, l := w.stop, &looking{page: w.page, runs: map[string]*followed{}}
	l.begin() // what happens from now on is seen
	w.done.Go(func() { l.run(stop) })
	if w.page.remotes != nil {
		w.done.Go(func() { w.page.remotes.run(stop) })
	}
	return last
}

// left notes that a stream was closed.
func (w *watcher) left() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readers--; w.readers == 0 {
		w.linger = time.AfterFunc(lingerTime, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.readers == 0 {
				w.end()
			}
		})
	}
}

func (w *watcher) end() {
	if w.stop != nil {
		close(w.stop)
		w.stop = nil
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	w.end()
	w.mu.Unlock()
	w.done.Wait()
}

// run looks until it is stopped.
func (l *looking) run(stop chan struct{}) {
	defer l.end()
	tick := time.NewTicker(batchTime)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			l.look()
		}
	}
}

// looking is what the watcher has seen so far.
type looking struct {
	page    *Page
	store   *runs.Store
	watch   *runs.Watch
	pending []string
	runs    map[string]*followed
	servers []upstream.Stats // as they were last
	asked   time.Time        // when that was
}

// followed is a run that a stream names.
type followed struct {
	known  *runs.Run // as it was when it was found; it knows the secrets of the run
	run    *executor.Run
	next   int // record
	active map[string]activity
	shape  shape
}

// shape is what of a run under way is told as its state.
type shape struct {
	parked    bool
	questions string
}

func (l *looking) end() {
	if l.watch != nil {
		l.watch.Close()
	}
}

// begin begins to note what happens, if there is a program. It reports whether there is.
func (l *looking) begin() bool {
	e := l.page.engine.Load()
	if e == nil {
		return false
	}
	if store := e.Runs(); store != l.store {
		l.end()
		l.store, l.watch = store, store.Watch()
	}
	return true
}

// look tells what has happened since the last time.
func (l *looking) look() {
	if !l.begin() {
		return
	}
	named := l.page.events.attached()
	for id := range named {
		if l.page.remotes.has(id) {
			delete(l.runs, id) // what is outside of this process is told from there
			continue
		}
		if l.runs[id] != nil || l.page.sessions.has(id) {
			continue
		}
		if r, ok := l.store.Find(id); ok {
			if run, _, live := r.Live(); live {
				l.runs[id] = &followed{known: r, run: run, active: map[string]activity{}}
			}
		}
	}
	over := map[string]bool{}
	for id, f := range l.runs {
		r, known := l.store.Find(id)
		ended := !known || !r.Running
		l.tell(id, f)
		if ended {
			over[id] = true
		} else if !named[id] {
			delete(l.runs, id)
		}
	}
	l.changes()
	l.figures()
	for id := range over {
		delete(l.runs, id)
	}
}

// tell tells what happened in a run that is followed.
func (l *looking) tell(id string, f *followed) {
	g := f.run.Graph()
	_, redact, _ := f.known.Live()
	sh := shower{redact}
	for rec := range f.run.Records(f.next) {
		f.next = rec.Index + 1
		l.page.events.add(event{Type: "record", Run: id, Record: recordOf(g, &rec, sh)})
	}
	active := map[string]activity{}
	for _, a := range f.run.Active(maxActive) {
		if a.Start.IsZero() {
			continue
		}
		entry := activityOf(g, &a)
		active[a.Path] = entry
		if before, ok := f.active[a.Path]; !ok || !reflect.DeepEqual(before, entry) {
			l.page.events.add(event{Type: "task", Run: id, Active: &entry})
		}
	}
	f.active = active
	s := shape{parked: f.run.Parked()}
	for _, q := range f.run.Questions() {
		s.questions += q.ID + " " + q.Until.String() + " " // a second attempt asks again
	}
	if s != f.shape {
		f.shape = s
		l.pending = append(l.pending, id)
	}
}

// figures tells that those of servers have changed.
func (l *looking) figures() {
	now := time.Now()
	pool := l.page.engine.Load().Upstreams()
	if pool == nil || now.Sub(l.asked) < serverTime {
		return
	}
	stats := pool.Stats()
	if !l.asked.IsZero() && !reflect.DeepEqual(stats, l.servers) {
		l.page.events.add(event{Type: "servers", Openings: openingsOf(pool)})
	}
	l.servers, l.asked = stats, now
}

// changes tells which runs began, ended or wait for a person.
func (l *looking) changes() {
	ids, lost := l.watch.Take()
	l.pending = append(l.pending, ids...)
	if lost || len(l.pending) > maxPending {
		l.pending = nil
		l.page.events.add(event{Type: "runs"})
		return
	}
	told := map[string]bool{}
	for len(l.pending) > 0 && len(told) < maxChanged {
		id := l.pending[0]
		l.pending = l.pending[1:]
		if told[id] || l.page.sessions.has(id) || l.page.remotes.has(id) {
			continue
		}
		told[id] = true
		if r, ok := l.store.Find(id); ok {
			l.page.events.add(event{Type: "run", Run: l.page.stateOfRun(r)})
		}
	}
}

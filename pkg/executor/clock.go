package executor

import (
	"container/heap"
	"time"
)

// clock is the time of a run, which the driver sets. It has two readings: the
// driver's time, by which sleeps and questions end; and the working time, by
// which limits end, which stands still while the run only waits for people and for
// runs of their own.
type clock struct {
	began, now instant
	paused     time.Duration // while only they were waited for
	since      instant       // when that began; 0 where something else goes on
	active     int           // frames that wait for anything but people, bodies or runs
	asking     int           // frames that wait for people
	runs       int           // frames that wait for runs of their own, which count their time
}

// advance sets the time; it never goes back.
func (c *clock) advance(now instant) { c.now = max(c.now, now) }

// work returns the time of work.
func (c *clock) work() instant {
	now := c.now
	if c.since != 0 {
		now = c.since
	}
	return now.add(-c.paused)
}

// elapsed returns for how long the run has worked.
func (c *clock) elapsed() time.Duration { return time.Duration(c.work() - c.began) }

// changed takes note of whether only people and other runs are waited for. It reports whether
// that is new.
func (c *clock) changed() bool {
	switch people := c.active == 0 && c.asking+c.runs > 0; {
	case people && c.since == 0:
		c.since = c.now
		return true
	case !people && c.since != 0:
		c.paused += time.Duration(c.now - c.since)
		c.since = 0
		return true
	}
	return false
}

// set changes what a frame waits for.
func (r *Run) set(f *frame, to state) {
	r.clock.count(f.state, -1)
	r.clock.count(to, 1)
	f.state = to
	if r.clock.changed() {
		r.changed.Store(true)
	}
}

func (c *clock) count(s state, n int) {
	switch s {
	case ready, held, calling, settled, delayed, sleeping:
		c.active += n
	case asking:
		c.asking += n
	case detached:
		c.runs += n
	}
}

// time returns the time that the driver set last.
func (r *Run) time() instant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock.now
}

// timers holds the timer events of a run, for each reading of the clock.
type timers struct{ wall, work timerQueue }

// timerEvent is one event. It is void once the frame has another task.
type timerEvent struct {
	at    instant
	frame *frame
	task  uint32
	what  timerKind
}

type timerKind uint8

const (
	goOn     timerKind = iota // a delay or sleep is over
	deadline                  // of an attempt
	expiry                    // of a question
	abandon                   // tasks that were cancelled and do not end
	runLimit
)

// void reports whether nothing is to happen any more.
func (a *timerEvent) void() bool {
	return a.frame.state == ended || a.what != runLimit && a.frame.task != a.task
}

// timerQueue is a heap, the earliest first. Void events are dropped as they
// come up, or when most events are void.
type timerQueue struct {
	list  []timerEvent
	full  int           // the length at which void events are dropped
	first [1]timerEvent // is enough for the limit of a run
}

func (h *timerQueue) Len() int           { return len(h.list) }
func (h *timerQueue) Less(i, j int) bool { return h.list[i].at < h.list[j].at }
func (h *timerQueue) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *timerQueue) Push(x any)         { h.list = append(h.list, x.(timerEvent)) }
func (h *timerQueue) Pop() any {
	end := len(h.list) - 1
	a := h.list[end]
	h.list[end], h.list = timerEvent{}, h.list[:end]
	return a
}

func (h *timerQueue) add(a timerEvent) {
	if len(h.list) >= max(h.full, 64) {
		kept := h.list[:0]
		for _, one := range h.list {
			if !one.void() {
				kept = append(kept, one)
			}
		}
		clear(h.list[len(kept):])
		h.list = kept
		h.full = 2 * len(kept)
		heap.Init(h)
	}
	if h.list == nil {
		h.list = h.first[:0]
	}
	if len(h.list) == 0 {
		h.list = append(h.list, a)
		return
	}
	heap.Push(h, a)
}

func (r *Run) schedule(h *timerQueue, a timerEvent) {
	h.add(a)
	r.changed.Store(true)
}

// next returns the earliest timerEvent that is not void.
func (h *timerQueue) next() (timerEvent, bool) {
	for len(h.list) > 0 {
		if !h.list[0].void() {
			return h.list[0], true
		}
		heap.Pop(h)
	}
	return timerEvent{}, false
}

// Wake returns when something happens by itself: a delay or a sleep ends, or a
// limit is reached. Advance makes it happen. It reports false where nothing does.
func (r *Run) Wake() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.wake()
	return at.time(), ok
}

func (r *Run) wake() (instant, bool) {
	if r.done {
		return 0, false
	}
	wall, ok := r.timers.wall.next()
	if r.clock.since != 0 {
		return wall.at, ok // the time of work stands
	}
	work, has := r.timers.work.next()
	if at := work.at.add(r.clock.paused); has && (!ok || at < wall.at) {
		return at, true
	}
	return wall.at, ok
}

// Advance sets the time and does what is due by then.
func (r *Run) Advance(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(instantOf(now))
	for !r.done {
		at, ok := r.wake()
		if !ok || at > r.clock.now {
			return
		}
		h := &r.timers.wall
		if a, ok := h.next(); !ok || a.at != at {
			h = &r.timers.work
		}
		a, _ := h.next()
		heap.Pop(h)
		r.fire(a)
	}
}

func (r *Run) fire(a timerEvent) {
	f := a.frame
	switch a.what {
	case goOn:
		if f.state == sleeping {
			f.phase = conclude
		}
		r.push(f)
	case deadline:
		if f.state != asking && f.state != detached { // neither the time of people nor that of other runs counts
			r.timeout(f)
		}
	case expiry:
		r.timeout(f)
	case abandon:
		r.abandon(f)
	case runLimit:
		limit := r.graph.Limits.MaxExecutionTime
		r.stop(&LimitError{MaxTime: limit, Elapsed: max(limit, r.clock.elapsed())})
	}
}

// timeout ends the attempt of a frame.
func (r *Run) timeout(f *frame) {
	if f.cancelled != nil {
		return
	}
	err := timeoutError(f.node)
	if f.state == asking && f.node.Approval != nil {
		err = unapprovedError(f.node)
	}
	switch f.state {
	case settled: // in time
		return
	case held: // an evaluation, which ends soon
		f.pending = err
		r.interrupt(f)
		return
	case detached:
		r.interrupt(f)
	case calling:
		r.interrupt(f)
		r.held--
		f.called(1, false) // how often the server was asked, nobody says any more
	case joining:
		if !f.opened.closing {
			f.opened.err = err
			r.close(f.opened)
		}
		return
	}
	r.unask(f)
	f.pending, f.phase = err, conclude
	r.push(f)
}

// abandon goes on without the cancelled tasks beneath an execution.
func (r *Run) abandon(f *frame) {
	if f.state != joining {
		return
	}
	for _, body := range f.opened.live {
		if body.state == joining {
			r.abandon(body)
		} else if body.state == calling {
			r.held--
			body.pending, body.phase = body.cancelled, conclude
			r.push(body)
		}
	}
}

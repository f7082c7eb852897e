package scheduler

import (
	"container/list"
	"context"
	"runtime"
	"time"
)

// Task is one computation at a time: a tool call with the expressions that it
// evaluates one after the other. Its methods must not be called concurrently.
type Task struct {
	scheduler *Scheduler
	name      string
	caller    *caller // nil where it is not registered

	used    time.Duration // of computing, up to since
	since   time.Time     // zero while it does not compute; else it is free or has a slot
	free    bool          // runs without a slot
	held    bool          // has a slot
	turn    time.Time     // when its turn began
	goTurn  time.Time     // when it last let other goroutines run
	place   *list.Element // in the queue of its caller
	granted chan struct{}
}

// Yield is to be called regularly by a computation, and returns when that may
// go on: at once, or once the task has got a slot, or ctx is done.
func (t *Task) Yield(ctx context.Context) {
	now := time.Now()
	if t.since.IsZero() {
		t.begin(ctx, now)
		return
	}
	t.used += now.Sub(t.since)
	t.since = now
	switch {
	case t.free:
		if t.used >= freeTime {
			t.acquire(ctx)
		}
	case now.Sub(t.turn) >= turnTime:
		t.turnOver(ctx, now)
	case now.Sub(t.goTurn) >= goTime:
		t.goTurn = now
		runtime.Gosched()
	}
}

// begin begins or resumes a computation. Of one caller no more tasks run freely
// than there are processors.
func (t *Task) begin(ctx context.Context, now time.Time) {
	t.since = now
	s := t.scheduler
	s.mu.Lock()
	t.register()
	if t.used < freeTime && t.caller.free < s.processors() {
		t.free = true
		t.caller.free++
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	t.acquire(ctx)
}

func (t *Task) register() {
	if t.caller == nil {
		t.caller = t.scheduler.caller(t.name)
	}
}

// Acquire is called before work of many milliseconds that cannot yield, and
// returns when that may begin or ctx is done. The returned function ends the
// work; the task keeps its slot. All callers together do one piece of such work
// less at a time than there are processors, so that others need not wait until
// Go interrupts it.
func (t *Task) Acquire(ctx context.Context) (end func()) {
	t.Release() // others compute while it waits
	work := t.scheduler.unyielding.Task(t.name)
	work.acquire(ctx)
	t.acquire(ctx)
	return work.Release
}

// acquire waits for a slot, unless the task has one, whatever it has computed
// so far. It returns without one when ctx is done.
func (t *Task) acquire(ctx context.Context) {
	if t.held {
		return
	}
	s := t.scheduler
	s.mu.Lock()
	t.register()
	t.unfree()
	if s.ready.Len() == 0 && s.taken < s.processors() {
		s.take(t)
		s.mu.Unlock()
		t.begun(time.Now())
		return
	}
	s.enqueue(t)
	s.grant()
	s.mu.Unlock()
	t.wait(ctx)
}

func (t *Task) unfree() {
	if t.free {
		t.free = false
		t.caller.free--
	}
}

// wait waits for the slot that the task is queued for.
func (t *Task) wait(ctx context.Context) {
	select {
	case <-t.granted:
	case <-ctx.Done():
		s := t.scheduler
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.place != nil {
			s.unqueue(t)
			s.forget(t.caller)
			t.caller, t.since = nil, time.Time{}
			return
		}
		<-t.granted // it came at the same time
	}
	t.begun(time.Now())
}

func (t *Task) begun(now time.Time) { t.since, t.turn, t.goTurn = now, now, now }

// turnOver lets those who wait have the slot of a task whose turn is over.
func (t *Task) turnOver(ctx context.Context, now time.Time) {
	s := t.scheduler
	s.mu.Lock()
	if s.taken >= s.processors() && now.Sub(s.rested) >= turnTime {
		s.rested = now
		s.mu.Unlock()
		time.Sleep(restTime)
		s.mu.Lock()
	}
	if s.ready.Len() == 0 {
		s.mu.Unlock()
		t.begun(time.Now())
		runtime.Gosched()
		return
	}
	s.giveBack(t)
	s.enqueue(t)
	s.ready.MoveToBack(t.caller.place) // it just had a turn
	s.grant()
	s.mu.Unlock()
	t.wait(ctx)
}

// Release ends or pauses the computation: it returns the slot of the task to
// others. The next Yield resumes it.
func (t *Task) Release() {
	if t.since.IsZero() && t.caller == nil {
		return
	}
	if !t.since.IsZero() {
		t.used += time.Since(t.since)
		t.since = time.Time{}
	}
	s := t.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.caller == nil {
		return
	}
	t.unfree()
	if t.held {
		s.giveBack(t)
		s.grant()
	}
	s.forget(t.caller)
	t.caller = nil
}

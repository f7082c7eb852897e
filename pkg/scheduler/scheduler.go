// Package scheduler shares the processors between long computations, fairly by
// caller: who computes much slows down others only as far as one caller may.
//
// A computation is a [Task] that calls Yield every few thousand steps. For its
// first milliseconds it runs freely. After them it runs in one of as many slots
// as there are processors, for one turn after the other, and between its turns
// those of other callers come. What a computation results in does not depend on
// when it runs.
package scheduler

import (
	"container/list"
	"runtime"
	"sync"
	"time"
)

const (
	// freeTime is how long a task computes without a slot.
	freeTime = 2 * time.Millisecond
	// turnTime is how long a task keeps its slot where others wait.
	turnTime = 4 * time.Millisecond
	// goTime is how long a task computes before it lets other goroutines run.
	goTime = 500 * time.Microsecond
	// restTime is how long a slot is left unused, at most once in a turnTime,
	// where all are taken: Go looks for input from the network only where a
	// processor has nothing else to do, or every 10 ms.
	restTime = 50 * time.Microsecond
)

// Scheduler shares slots between tasks. It is safe for concurrent use.
type Scheduler struct {
	processors func() int
	unyielding *Scheduler // of work that cannot yield

	mu      sync.Mutex
	taken   int                // slots
	callers map[string]*caller // those with registered tasks
	ready   list.List          // of *caller: those with waiting tasks, the one whose turn was longest ago first
	rested  time.Time          // when a slot was last left unused
}

// caller is what the tasks of one caller have in common.
type caller struct {
	name    string
	free    int           // tasks that run without a slot
	held    int           // slots
	waiting list.List     // of *Task
	place   *list.Element // in Scheduler.ready, nil where none waits
}

// New returns a scheduler with as many slots as there are processors for Go
// code at the time (GOMAXPROCS).
func New() *Scheduler {
	s := newScheduler(func() int { return runtime.GOMAXPROCS(0) })
	s.unyielding = newScheduler(func() int { return max(1, s.processors()-1) })
	return s
}

func newScheduler(processors func() int) *Scheduler {
	return &Scheduler{processors: processors, callers: map[string]*caller{}}
}

// Task returns a new task of a caller. It costs nothing until its first Yield.
func (s *Scheduler) Task(caller string) *Task { return &Task{scheduler: s, name: caller} }

func (s *Scheduler) caller(name string) *caller {
	c := s.callers[name]
	if c == nil {
		c = &caller{name: name}
		s.callers[name] = c
	}
	return c
}

func (s *Scheduler) forget(c *caller) {
	if c.free == 0 && c.held == 0 && c.place == nil {
		delete(s.callers, c.name)
	}
}

// enqueue lets a task wait for a slot.
func (s *Scheduler) enqueue(t *Task) {
	c := t.caller
	if t.granted == nil {
		t.granted = make(chan struct{}, 1)
	}
	t.place = c.waiting.PushBack(t)
	if c.place == nil {
		c.place = s.ready.PushBack(c)
	}
}

// unqueue ends the waiting of a task. Its caller's next task waits behind those
// of all others.
func (s *Scheduler) unqueue(t *Task) {
	c := t.caller
	c.waiting.Remove(t.place)
	t.place = nil
	if c.waiting.Len() > 0 {
		s.ready.MoveToBack(c.place)
		return
	}
	s.ready.Remove(c.place)
	c.place = nil
}

// take assigns a task a slot.
func (s *Scheduler) take(t *Task) {
	s.taken++
	t.caller.held++
	t.held = true
}

func (s *Scheduler) giveBack(t *Task) {
	s.taken--
	t.caller.held--
	t.held = false
}

// grant assigns free slots to waiting tasks: of the callers with the fewest
// slots first, and of these to the one that has waited longest.
func (s *Scheduler) grant() {
	if s.ready.Len() == 0 {
		return
	}
	for slots := s.processors(); s.taken < slots && s.ready.Len() > 0; {
		next := s.ready.Front()
		for e := next.Next(); e != nil && next.Value.(*caller).held > 0; e = e.Next() {
			if e.Value.(*caller).held < next.Value.(*caller).held {
				next = e
			}
		}
		t := next.Value.(*caller).waiting.Front().Value.(*Task)
		s.unqueue(t)
		s.take(t)
		t.granted <- struct{}{}
	}
}

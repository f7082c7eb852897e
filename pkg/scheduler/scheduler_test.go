package scheduler

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// withSlots returns a scheduler with n slots.
func withSlots(n int) *Scheduler {
	s := New()
	s.processors = func() int { return n }
	return s
}

// idle checks that nothing is left of tasks that have ended.
func (s *Scheduler) idle(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken != 0 || len(s.callers) != 0 || s.ready.Len() != 0 {
		t.Errorf("%d slots are taken, %d callers known, %d wait; want none", s.taken, len(s.callers), s.ready.Len())
	}
}

// load is computations of a caller that go on until a time.
type load struct {
	caller   string
	tasks    int
	computed time.Duration // by all
}

// compute runs loads for so long, by the clock of the bubble, and returns the
// greatest number of tasks that computed at the same time after their free time.
func compute(s *Scheduler, d time.Duration, loads ...*load) int {
	const step = 100 * time.Microsecond
	var computing, most, total atomic.Int64
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var wg sync.WaitGroup
	for _, l := range loads {
		var sum atomic.Int64
		for range l.tasks {
			wg.Go(func() {
				task := s.Task(l.caller)
				defer task.Release()
				for ctx.Err() == nil {
					n := computing.Add(1)
					if total.Load() > 0 {
						most.Store(max(most.Load(), n))
					}
					time.Sleep(step)
					sum.Add(int64(step))
					computing.Add(-1)
					task.Yield(ctx)
				}
			})
		}
		defer func() { l.computed = time.Duration(sum.Load()) }()
	}
	time.AfterFunc(10*freeTime, func() { total.Add(1) })
	wg.Wait()
	return int(most.Load())
}

func TestLongComputationsShareTheProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withSlots(2)
		most := compute(s, time.Second, &load{caller: "a", tasks: 12})
		if most != 2 {
			t.Errorf("%d tasks computed at the same time, want 2", most)
		}
		s.idle(t)
	})
}

func TestCallersGetEqualShares(t *testing.T) {
	for name, test := range map[string]struct {
		slots int
		loads []*load
		want  []float64 // share of one slot
	}{
		"one against twelve, one slot":  {1, []*load{{caller: "a", tasks: 12}, {caller: "b", tasks: 1}}, []float64{0.5, 0.5}},
		"one against twelve, two slots": {2, []*load{{caller: "a", tasks: 12}, {caller: "b", tasks: 1}}, []float64{1, 1}},
		"three callers, two slots":      {2, []*load{{caller: "a", tasks: 30}, {caller: "b", tasks: 1}, {caller: "c", tasks: 5}}, []float64{0.67, 0.67, 0.67}},
		"one against many, four slots":  {4, []*load{{caller: "a", tasks: 40}, {caller: "b", tasks: 1}}, []float64{3, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := withSlots(test.slots)
				compute(s, 2*time.Second, test.loads...)
				for i, l := range test.loads {
					// The rests of slots, and the free time of the first tasks.
					if got := l.computed.Seconds() / 2; got < 0.8*test.want[i] || got > 1.2*test.want[i] {
						t.Errorf("caller %s computed for %.2f of the time, want %.2f", l.caller, got, test.want[i])
					}
				}
				s.idle(t)
			})
		})
	}
}

func TestTasksOfOneCallerTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withSlots(1)
		loads := []*load{{caller: "a", tasks: 1}, {caller: "a", tasks: 1}, {caller: "a", tasks: 1}}
		compute(s, time.Second, loads...)
		for _, l := range loads {
			if got := l.computed.Seconds(); got < 0.25 {
				t.Errorf("a task computed for %.2f of the time, want a third", got)
			}
		}
	})
}

func TestShortComputationsNeedNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withSlots(1)
		ctx := context.Background()
		long := s.Task("a")
		long.acquire(ctx)
		short := s.Task("b")
		for range 19 {
			short.Yield(ctx)
			time.Sleep(freeTime / 20)
		}
		if short.held {
			t.Error("it has a slot")
		}
		short.Release()
		long.Release()
		s.idle(t)
	})
}

func TestOneCallerStartsFewTasksFreely(t *testing.T) {
	s := withSlots(2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var tasks []*Task
	free := 0
	for range 10 {
		task := s.Task("a")
		task.Yield(ctx)
		tasks = append(tasks, task)
		if task.free {
			free++
		}
	}
	if free != 2 || s.taken != 2 {
		t.Errorf("%d tasks run freely and %d in slots, want 2 of each", free, s.taken)
	}
	other := s.Task("b")
	if other.Yield(ctx); !other.free {
		t.Error("the first task of another caller does not start freely")
	}
	for _, task := range append(tasks, other) {
		task.Release()
	}
	s.idle(t)
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withSlots(1)
		first, second := s.Task("a"), s.Task("b")
		first.acquire(context.Background())
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		second.acquire(ctx) // a deadlock of the bubble if it does not return
		if second.held || ctx.Err() == nil {
			t.Error("it got the slot that another task has")
		}
		second.Release()
		first.Release()
		s.idle(t)
	})
}

func TestAReleasedSlotIsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withSlots(1)
		ctx := context.Background()
		first, second := s.Task("a"), s.Task("b")
		first.acquire(ctx)
		got := make(chan struct{})
		go func() {
			second.acquire(ctx)
			close(got)
		}()
		synctest.Wait()
		first.Release() // before it blocks
		<-got
		go func() {
			time.Sleep(time.Second)
			second.Release()
		}()
		before := time.Now()
		first.used = freeTime
		first.Yield(ctx)
		if waited := time.Since(before); waited != time.Second || !first.held {
			t.Errorf("it waited for %v and has a slot: %v; want 1s, true", waited, first.held)
		}
		first.Release()
		s.idle(t)
	})
}

// TestNoSlotIsLost lets tasks do everything at once, with contexts that end.
func TestNoSlotIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withSlots(3)
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				task := s.Task(string(rune('a' + i%5)))
				defer task.Release()
				for range 200 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(3000))*time.Microsecond)
					for range rand.IntN(20) {
						time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
						task.Yield(ctx)
					}
					switch rand.IntN(3) {
					case 0:
						task.Release()
					case 1:
						end := task.Acquire(ctx)
						time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
						end()
					}
					cancel()
				}
			})
		}
		wg.Wait()
		s.idle(t)
		s.unyielding.idle(t)
	})
}

func TestWorkThatCannotYieldLeavesAProcessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withSlots(3)
		var working, most atomic.Int64
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				task := s.Task(string(rune('a' + i%2)))
				defer task.Release()
				end := task.Acquire(context.Background())
				most.Store(max(most.Load(), working.Add(1)))
				time.Sleep(time.Second)
				working.Add(-1)
				end()
			})
		}
		wg.Wait()
		if most.Load() != 2 {
			t.Errorf("%d worked at the same time, want 2", most.Load())
		}
		s.idle(t)
		s.unyielding.idle(t)
	})
}

func BenchmarkYield(b *testing.B) {
	s := New()
	task := s.Task("a")
	defer task.Release()
	for b.Loop() {
		task.Yield(context.Background())
	}
}

// BenchmarkTask is what a run pays that evaluates little, and one that yields.
func BenchmarkTask(b *testing.B) {
	s := New()
	b.Run("short", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Task("a").Release()
		}
	})
	b.Run("yields", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			task := s.Task("a")
			task.Yield(context.Background())
			task.Release()
		}
	})
}

package server

import (
	"container/heap"
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Limits bound the calls of tools, prompts, resources and completions that run at the
// same time. Further calls wait and start in the order in which they arrived. A caller
// that has reached its own limit does not hold up other callers. A call that waits
// longer than Wait, or that finds the queue full, gets an error that says so: for a
// tool a result with isError.
type Limits struct {
	Calls     int           // of all callers together; 0 means no limit
	PerCaller int           // of each caller; 0 means no limit
	Wait      time.Duration // longest wait for a slot; 0 means DefaultCallWait
}

// DefaultCallWait is how long a call waits for a slot if Limits.Wait is 0.
const DefaultCallWait = 30 * time.Second

// How many calls may wait for a slot: of one caller, and of all callers.
const (
	maxWaiting    = 1000
	maxWaitingAll = 10_000
)

// callLimiter bounds the calls that run at the same time. A nil
// *callLimiter does not limit anything. It is safe for concurrent use.
type callLimiter struct {
	log *slog.Logger

	mu           sync.Mutex
	limits       Limits
	running      int
	waiting      int
	lastSequence uint64                  // sequence number of the latest slot that had to wait
	byCaller     map[string]*callerQueue // callers with running or waiting calls
	ready        readyQueues             // queues whose first call waits only for Limits.Calls
	refusing     bool                    // the warning was logged, and calls are still waiting
}

// callSlot is the permission of one call to run, or its place in the queue. A
// nil *callSlot lets the call run at once.
type callSlot struct {
	limiter  *callLimiter
	queue    *callerQueue
	sequence uint64
	element  *list.Element // in queue.waiting; nil unless the call waits
	enqueued time.Time
	granted  chan struct{} // closed when the call may run; nil if it never had to wait
	err      error         // why the call may not run
}

func (l *callLimiter) setLimits(limits Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits
	for _, q := range l.byCaller {
		l.updateReady(q)
	}
	l.startWaiting()
}

// enqueue returns a slot that is free, or one that waits in the caller's queue.
// It does not block. The slot must be released, whatever wait returns.
func (l *callLimiter) enqueue(caller string) *callSlot {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.byCaller[caller]
	if q == nil {
		q = &callerQueue{caller: caller, heapIndex: -1}
		l.byCaller[caller] = q
	}
	t := &callSlot{limiter: l, queue: q}
	switch {
	case q.waiting.Len() == 0 && l.callerHasCapacity(q) && l.hasCapacity():
		l.start(t)
	case q.waiting.Len() >= maxWaiting || l.waiting >= maxWaitingAll:
		t.err = l.overloaded(q, 0)
		l.dropIdle(q)
	default:
		l.lastSequence++
		t.sequence, t.enqueued, t.granted = l.lastSequence, time.Now(), make(chan struct{})
		t.element = q.waiting.PushBack(t)
		l.waiting++
		l.updateReady(q)
	}
	return t
}

// hasCapacity reports whether Limits.Calls allows one more call.
func (l *callLimiter) hasCapacity() bool { return l.limits.Calls <= 0 || l.running < l.limits.Calls }

// callerHasCapacity reports whether Limits.PerCaller allows one more call of
// this caller.
func (l *callLimiter) callerHasCapacity(q *callerQueue) bool {
	return l.limits.PerCaller <= 0 || q.running < l.limits.PerCaller
}

func (l *callLimiter) start(t *callSlot) {
	l.running++
	t.queue.running++
}

// updateReady adds the queue to the heap of ready queues, moves it, or removes
// it, according to its first call.
func (l *callLimiter) updateReady(q *callerQueue) {
	belongs := q.waiting.Len() > 0 && l.callerHasCapacity(q)
	switch {
	case belongs && q.heapIndex < 0:
		heap.Push(&l.ready, q)
	case belongs:
		heap.Fix(&l.ready, q.heapIndex)
	case q.heapIndex >= 0:
		heap.Remove(&l.ready, q.heapIndex)
	}
}

// startWaiting starts the waiting calls that the limits allow.
func (l *callLimiter) startWaiting() {
	for len(l.ready) > 0 && l.hasCapacity() {
		q := l.ready[0]
		t := q.first()
		l.dequeue(t)
		l.start(t)
		close(t.granted)
		l.updateReady(q)
	}
}

// dequeue removes a slot from its queue.
func (l *callLimiter) dequeue(t *callSlot) {
	t.queue.waiting.Remove(t.element)
	t.element = nil
	if l.waiting--; l.waiting == 0 {
		l.refusing = false
	}
}

func (l *callLimiter) dropIdle(q *callerQueue) {
	if q.running == 0 && q.waiting.Len() == 0 {
		delete(l.byCaller, q.caller)
	}
}

// wait blocks until the call may run. It returns an error if ctx ends, or if
// the call would have to wait too long.
func (t *callSlot) wait(ctx context.Context) error {
	switch {
	case t == nil:
		return nil
	case t.granted == nil:
		return t.err
	}
	l := t.limiter
	timer := time.NewTimer(max(0, orDefault(l.maxWait(), DefaultCallWait)-time.Since(t.enqueued)))
	defer timer.Stop()
	var why error
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.element == nil && why == nil {
		return nil // granted just before the timeout
	}
	if t.element != nil {
		if why == nil {
			why = l.overloaded(t.queue, time.Since(t.enqueued))
		}
		l.dequeue(t)
		l.updateReady(t.queue)
		l.dropIdle(t.queue)
		t.err = why
	}
	return why
}

func (l *callLimiter) maxWait() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limits.Wait
}

// release frees the slot.
func (t *callSlot) release() {
	if t == nil {
		return
	}
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case t.err != nil:
		return // it never held a slot
	case t.element != nil:
		l.dequeue(t) // wait was not called
	default:
		l.running--
		t.queue.running--
	}
	l.updateReady(t.queue)
	l.dropIdle(t.queue)
	l.startWaiting()
}

// overloaded returns the error of a call that is refused after waiting for this
// long, and logs a warning for the first refused call.
func (l *callLimiter) overloaded(q *callerQueue, waited time.Duration) error {
	if !l.refusing {
		l.refusing = true
		l.log.Warn("calls are refused: too many run or wait at the same time",
			"running", l.running, "waiting", l.waiting, "maxConcurrentCalls", l.limits.Calls, "maxConcurrentCallsPerCaller", l.limits.PerCaller)
	}
	text := fmt.Sprintf("the server is busy: %s running", describeCalls(l.running))
	if !l.callerHasCapacity(q) {
		text = fmt.Sprintf("this caller is at its limit: %s running", describeCalls(q.running))
	}
	if waited == 0 {
		return fmt.Errorf("%s and %d are waiting; the call was not run, try again later", text, l.waiting)
	}
	return fmt.Errorf("%s; the call was not run, it waited for %v; try again later", text, waited.Round(time.Millisecond))
}

func describeCalls(n int) string {
	if n == 1 {
		return "1 call is"
	}
	return fmt.Sprintf("%d calls are", n)
}

package server

import (
	"container/heap"
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Limits bound the tool calls that run at the same time. Further ones wait for
// their turn in the order in which they came; who waits only for a call of the
// same caller holds up no other. A call that has waited for too long, or that
// finds too many waiting, is answered with a result that is an error and says
// so.
type Limits struct {
	Calls     int           // of all callers together; 0 is no limit
	PerCaller int           // of each caller; 0 is no limit
	Wait      time.Duration // longest time for a turn to come; 0 means DefaultCallWait
}

// DefaultCallWait is how long a call waits for its turn where Limits.Wait is 0.
const DefaultCallWait = 30 * time.Second

// How many calls may wait for their turn, of one caller and of all.
const (
	maxWaiting    = 1000
	maxWaitingAll = 10_000
)

// limiter gives calls their turns. A nil one lets every call run.
type limiter struct {
	log *slog.Logger

	mu       sync.Mutex
	limits   Limits
	running  int
	waiting  int
	issued   uint64           // turns that had to wait, so far
	byCaller map[string]*line // of those that run or wait
	ready    readyLines       // lines whose first turn waits for nothing of its own caller
	refusing bool             // since a turn was refused, some have been waiting
}

// turn is the right of one call to run, or a place in line for it. A nil one
// is the right to run at once.
type turn struct {
	limiter *limiter
	line    *line
	number  uint64
	place   *list.Element // nil unless it waits
	since   time.Time
	granted chan struct{} // closed when the call may run; nil where it may at once
	err     error         // why it may not
}

// limit sets the limits of calls. Calls that wait run where they now may.
func (s *Server) limit(limits Limits) {
	if l := s.limiter.Load(); l != nil {
		l.change(limits)
	} else if limits.Calls > 0 || limits.PerCaller > 0 {
		s.limiter.Store(&limiter{log: s.log, limits: limits, byCaller: map[string]*line{}})
	}
}

// enqueue takes a turn for a call, which answer leaves. Calls that are enqueued
// one after the other run in that order where they have to wait.
func (s *Server) enqueue(r *Request) {
	if r.Method == string(mcp.MethodToolsCall) {
		r.turn = s.limiter.Load().join(r.Caller)
	}
}

func (l *limiter) change(limits Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits
	for _, of := range l.byCaller {
		l.offer(of)
	}
	l.advance()
}

// join takes a turn, or a place in line for one. It does not wait. The turn has
// to be left, whatever wait says.
func (l *limiter) join(caller string) *turn {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.byCaller[caller]
	if of == nil {
		of = &line{caller: caller, at: -1}
		l.byCaller[caller] = of
	}
	t := &turn{limiter: l, line: of}
	switch {
	case of.waiting.Len() == 0 && l.free(of) && l.room():
		l.grant(t)
	case of.waiting.Len() >= maxWaiting || l.waiting >= maxWaitingAll:
		t.err = l.refusal(of, 0)
		l.forget(of)
	default:
		l.issued++
		t.number, t.since, t.granted = l.issued, time.Now(), make(chan struct{})
		t.place = of.waiting.PushBack(t)
		l.waiting++
		l.offer(of)
	}
	return t
}

// room reports whether one more call may run.
func (l *limiter) room() bool { return l.limits.Calls <= 0 || l.running < l.limits.Calls }

// free reports whether one more call of the line may run as far as its caller's
// limit goes.
func (l *limiter) free(of *line) bool {
	return l.limits.PerCaller <= 0 || of.running < l.limits.PerCaller
}

func (l *limiter) grant(t *turn) {
	l.running++
	t.line.running++
}

// offer puts a line among those that wait for nothing of their own, or takes it
// out, or to another place, according to its first turn.
func (l *limiter) offer(of *line) {
	belongs := of.waiting.Len() > 0 && l.free(of)
	switch {
	case belongs && of.at < 0:
		heap.Push(&l.ready, of)
	case belongs:
		heap.Fix(&l.ready, of.at)
	case of.at >= 0:
		heap.Remove(&l.ready, of.at)
	}
}

// advance lets run what may.
func (l *limiter) advance() {
	for len(l.ready) > 0 && l.room() {
		of := l.ready[0]
		t := of.first()
		l.unqueue(t)
		l.grant(t)
		close(t.granted)
		l.offer(of)
	}
}

// unqueue takes a turn out of its line.
func (l *limiter) unqueue(t *turn) {
	t.line.waiting.Remove(t.place)
	t.place = nil
	if l.waiting--; l.waiting == 0 {
		l.refusing = false
	}
}

func (l *limiter) forget(of *line) {
	if of.running == 0 && of.waiting.Len() == 0 {
		delete(l.byCaller, of.caller)
	}
}

// wait returns nil when the call may run. The error says why it may not: ctx
// has ended, or it would have to wait for too long.
func (t *turn) wait(ctx context.Context) error {
	switch {
	case t == nil:
		return nil
	case t.granted == nil:
		return t.err
	}
	l := t.limiter
	timer := time.NewTimer(max(0, orDefault(l.patience(), DefaultCallWait)-time.Since(t.since)))
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
	if t.place == nil && why == nil {
		return nil // its turn came at the last moment
	}
	if t.place != nil {
		if why == nil {
			why = l.refusal(t.line, time.Since(t.since))
		}
		l.unqueue(t)
		l.offer(t.line)
		l.forget(t.line)
		t.err = why
	}
	return why
}

func (l *limiter) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limits.Wait
}

// leave ends the turn.
func (t *turn) leave() {
	if t == nil {
		return
	}
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case t.err != nil:
		return // it had none
	case t.place != nil:
		l.unqueue(t) // nobody waited for it
	default:
		l.running--
		t.line.running--
	}
	l.offer(t.line)
	l.forget(t.line)
	l.advance()
}

// refusal is the error for a call that is not to run after having waited for
// that long.
func (l *limiter) refusal(of *line, waited time.Duration) error {
	if !l.refusing {
		l.refusing = true
		l.log.Warn("tool calls are refused: too many at the same time",
			"running", l.running, "waiting", l.waiting, "maxConcurrentCalls", l.limits.Calls, "maxConcurrentCallsPerCaller", l.limits.PerCaller)
	}
	text := fmt.Sprintf("the server is busy: %s running", calls(l.running))
	if !l.free(of) {
		text = fmt.Sprintf("too many calls of one caller: %s running, as many as may", calls(of.running))
	}
	if waited == 0 {
		return fmt.Errorf("%s and %d waiting; this one was not run, try it again later", text, l.waiting)
	}
	return fmt.Errorf("%s; this one waited for %v and was not run, try it again later", text, waited.Round(time.Millisecond))
}

func calls(n int) string {
	if n == 1 {
		return "1 call is"
	}
	return fmt.Sprintf("%d calls are", n)
}

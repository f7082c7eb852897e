package executor

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxAttempts is how many attempts of an execution are kept with their times: the
// last ones.
const maxAttempts = 32

// Bounds of the replies of upstream calls that a run keeps, in bytes.
const (
	maxReply   = 64 << 10 // of each; a longer one is not kept
	maxReplies = 4 << 20  // of all; beyond that the oldest are dropped
)

// send notes what the attempt under way sends upstream.
func (f *frame) send(args value.Value) {
	x := f.extend()
	x.sent, x.reply, x.replyBytes = args, value.Undef, 0
}

// replySize returns about how many bytes a reply has. It may be a view of something
// that has a lock.
func replySize(reply value.Value) int {
	if reply.IsUndefined() {
		return 0
	}
	return reply.TextSize()
}

// replied notes what came of a call: the reply, which has so many bytes, and the
// times of its attempts.
func (f *frame) replied(reply value.Value, size int, times []graph.Attempt) {
	if size == 0 && times == nil {
		return
	}
	x := f.extend()
	x.times = times
	if x.replyBytes = size; size <= maxReply {
		x.reply = reply
	}
}

// replies are what has a reply in the log, a list from the oldest to the latest.
type replies struct {
	oldest, latest *extra
	bytes          int
}

// add counts the reply of an entry, and drops the oldest ones if there are too many.
func (l *replies) add(e *entry) {
	x := e.extra.get()
	if x.reply.IsUndefined() {
		return
	}
	if l.latest == nil {
		l.oldest = x
	} else {
		l.latest.nextReply = x
	}
	l.latest = x
	for l.bytes += x.replyBytes; l.bytes > maxReplies; {
		one := l.oldest
		l.bytes -= one.replyBytes
		l.oldest, one.nextReply, one.reply = one.nextReply, nil, value.Undef
	}
}

// attempts are those of an execution that is tried again.
type attempts struct {
	over  []graph.Attempt
	began instant // when the one under way began
	tries []int   // by rule of retry, how often it was applied
	// answer is what the question of the last one over was answered with, undefined
	// if it asked nothing.
	answer value.Value
}

// keepTimes notes the times of an attempt that an entry is about, if the execution
// has more than one.
func (f *frame) keepTimes(e *entry) {
	if e.event != Retried && f.attempts == nil {
		return
	}
	before := attempts{began: f.start}
	if f.attempts != nil {
		before = *f.attempts
	}
	x := e.extend()
	if len(x.times) == 0 {
		x.times = []graph.Attempt{{Start: before.began.time(), End: e.end.time(), Err: causeOf(x.err)}}
	}
	all := append(before.over, x.times...)
	if n := len(all) - maxAttempts; n > 0 {
		all = append([]graph.Attempt(nil), all[n:]...)
	}
	if e.event != Retried {
		x.times, f.attempts = all, nil
		return
	}
	f.attempts = &attempts{over: all, tries: before.tries}
	if f.extra != nil {
		f.extra.times = nil // they are those of the attempt that is over
	}
}

// rejection returns what was wrong with the attempt before the one under way, nil if
// there was none.
func (f *frame) rejection() *graph.Rejection {
	a := f.attempts
	if a == nil || len(a.over) == 0 {
		return nil
	}
	err := a.over[len(a.over)-1].Err
	if err == nil {
		return nil
	}
	return &graph.Rejection{Answer: a.answer, Reason: err.Error()}
}

// causeOf leaves out what the record says anyway: the node and what it calls.
func causeOf(err error) error {
	if failed, ok := err.(*NodeError); ok {
		return failed.Err
	}
	return err
}

// timesValue returns attempts as JSON.
func timesValue(times []graph.Attempt) value.Value {
	list := make([]value.Value, len(times))
	for i, one := range times {
		b := value.NewBuilder(3)
		b.Set("start", value.FromString(one.Start.UTC().Format(time.RFC3339Nano)))
		b.Set("end", value.FromString(one.End.UTC().Format(time.RFC3339Nano)))
		if one.Err != nil {
			b.Set("error", value.FromString(one.Err.Error()))
		}
		list[i] = b.Value()
	}
	return value.FromArray(list)
}

// timesFrom reads what timesValue returned.
func timesFrom(v value.Value) ([]graph.Attempt, error) {
	var times []graph.Attempt
	for _, one := range v.Elems() {
		start, err1 := time.Parse(time.RFC3339Nano, one.Get("start").Str())
		end, err2 := time.Parse(time.RFC3339Nano, one.Get("end").Str())
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("a record of a run has an attempt with a time that is none: %w", err)
		}
		a := graph.Attempt{Start: start, End: end}
		if text := one.Get("error"); text.Kind() == value.String {
			a.Err = errors.New(text.Str())
		}
		times = append(times, a)
	}
	return times, nil
}

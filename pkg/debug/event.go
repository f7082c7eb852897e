package debug

import (
	"context"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Type is the type of an Event.
type Type string

// The types of events.
const (
	Started   Type = "started"   // the session
	Pausing   Type = "pausing"   // the run pauses before its next task
	Paused    Type = "paused"    // the run; see Event.Pause
	Resumed   Type = "resumed"   // the run
	TaskBegun Type = "task"      // an attempt of an execution began
	Retried   Type = "retried"   // an attempt failed, and the next one begins at Until
	Done      Type = "done"      // an execution ended well
	Failed    Type = "failed"    // an execution failed
	Caught    Type = "caught"    // an execution failed, and a rule handled that
	Cancelled Type = "cancelled" // an execution was ended by what happened beside it
	Pinned    Type = "pinned"    // an execution yielded what its node is pinned to
	Replaced  Type = "replaced"  // the output of an execution was set to another one
	Ask       Type = "ask"       // a question waits for its answer
	Answered  Type = "answered"  // a question has its answer, or waits no more
	Log       Type = "log"       // a message of an expression, a breakpoint or a server
	Progress  Type = "progress"  // of a call of a tool
	Changed   Type = "changed"   // breakpoints or pins were changed
	Ended     Type = "ended"     // the run; nothing follows
	Gap       Type = "gap"       // events up to Number are gone: look at the State again
)

// Event is something that happened in a session. It has no values: those of an
// execution are in the record that it names.
type Event struct {
	// Number counts the events of the session from 1.
	Number int
	// Time is when it happened, by the clock of the process.
	Time time.Time
	Type Type
	// Record is the index of the record that the event is about, -1 if there is none;
	// see [Session.Record].
	Record int
	// Key, Path, Node and Kind are those of the node, Frame, Execution and Attempt
	// those of the execution; all are empty if the event is about none.
	Key, Path, Node, Kind, Frame string
	Execution, Attempt           int
	Server, Tool                 string
	// Text is a failure, a message or a question.
	Text string
	// Level is that of a Log: "debug", "info", "warn", "error", or a level of MCP.
	Level string
	// Question is the id of an asked or answered question.
	Question string
	// Progress and Total are those of a progress; Total is 0 if it is not known.
	Progress, Total float64
	// Until is when the next attempt begins, by the clock of the run.
	Until time.Time
	// Pause is where and why the run is paused.
	Pause *Pause
	// Status is the state of the run after a Ended.
	Status Status
}

// Bounds of the events that a session keeps for its readers.
const (
	MaxEvents = 10_000
	maxText   = 4 << 10
	maxTexts  = 8 << 20
)

// events is a ring of the last events of a session.
type events struct {
	of *Environment

	mu    sync.Mutex
	ring  []Event
	first int // the number of the first that is kept
	next  int // the number of the next one
	texts int // bytes
	over  bool
	more  chan struct{} // closed when there is another one; nil if nobody waits
}

func newEvents(env *Environment) *events { return &events{of: env, first: 1, next: 1} }

// at returns where the event with a number stands.
func (l *events) at(number int) *Event { return &l.ring[(number-1)%MaxEvents] }

func (l *events) add(e Event) {
	e.Text = textline.Prefix(e.Text, maxText)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	e.Number = l.next
	for l.next-l.first >= MaxEvents || l.texts+len(e.Text) > maxTexts && l.first < l.next {
		l.texts -= len(l.at(l.first).Text)
		*l.at(l.first) = Event{}
		l.first++
	}
	if len(l.ring) < MaxEvents {
		l.ring = append(l.ring, Event{})
	}
	*l.at(e.Number) = e
	l.next++
	l.texts += len(e.Text)
	l.over = e.Type == Ended
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// last returns the number of the newest event.
func (l *events) last() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next - 1
}

// batch is how many events Next returns at the most.
const batch = 500

// Next returns the next events after the one with this number, at least one, and waits
// for it. If some of them are gone, the first one is a Gap with the number of the last
// that is. After the Ended event the error is io.EOF; it is that of ctx if it ends
// before there is an event. Any number of readers may read at their own pace.
func (l *events) Next(ctx context.Context, after int) ([]Event, error) {
	for {
		list, wait, err := l.read(max(after, 0))
		if list != nil || err != nil {
			return list, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (l *events) read(after int) ([]Event, <-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	after = min(after, l.next-1)
	if after == l.next-1 {
		if l.over {
			return nil, nil, io.EOF
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		return nil, l.more, nil
	}
	var list []Event
	if after < l.first-1 {
		after = l.first - 1
		list = append(list, Event{Number: after, Type: Gap, Record: -1, Time: l.at(l.first).Time})
	}
	for n := after + 1; n < l.next && len(list) < batch; n++ {
		list = append(list, *l.at(n))
	}
	return list, nil, nil
}

// Events returns the events after the one with this number, as [Session.Next] does,
// until the session or ctx ends.
func (l *events) Events(ctx context.Context, after int) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for {
			list, err := l.Next(ctx, after)
			if err != nil {
				return
			}
			for _, e := range list {
				if after = e.Number; !yield(e) {
					return
				}
			}
		}
	}
}

// emit adds an event.
func (l *events) emit(e Event) {
	e.Time, e.Text = l.of.now(), l.of.text(e.Text)
	l.add(e)
}

// of sets what an event is about to the execution of a record.
func (e Event) of(rec *executor.Record) Event {
	e.Record, e.Key, e.Path, e.Node, e.Kind, e.Frame = rec.Index, rec.Key, rec.NodePath(), rec.Node, rec.Kind, rec.Frame
	e.Execution, e.Attempt, e.Server, e.Tool = rec.Execution, rec.Try, rec.Server, rec.Tool
	return e
}

// ofTask is of for a task.
func (e Event) ofTask(t executor.Task) Event {
	n := t.Node()
	e.Record, e.Key, e.Path, e.Node, e.Kind, e.Frame = -1, n.Key(), t.Path(), n.ID, n.Kind.Name, t.Frame()
	e.Execution, e.Attempt, e.Server, e.Tool = t.Execution(), t.Attempt(), n.Server, n.Tool
	return e
}

// Notify shows what an upstream server reports during a call of the run.
func (l *events) Notify(n callinfo.Notification) {
	e := Event{Record: -1, Server: n.Server, Tool: n.Tool}
	switch n.Method {
	case callinfo.MethodProgress:
		e.Type, e.Text = Progress, n.Params.Get("message").Str()
		e.Progress, e.Total = number(n.Params.Get("progress")), number(n.Params.Get("total"))
	case callinfo.MethodMessage:
		e.Type, e.Level = Log, n.Params.Get("level").Str()
		if data := n.Params.Get("data"); data.Kind() == value.String {
			e.Text = data.Str()
		} else {
			e.Text = data.Preview(maxText)
		}
	default:
		return
	}
	l.emit(e)
}

func number(v value.Value) float64 {
	if v.Kind() != value.Number {
		return 0
	}
	return v.Float()
}

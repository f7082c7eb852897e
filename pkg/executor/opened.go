package executor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxBodies bounds the bodies of one fork.
const maxBodies = 10_000_000

// maxHeld is how many tasks of one run may be under way at the same time.
const maxHeld = 1000

// grace is how long an execution waits for cancelled tasks beneath it that do
// not end.
const grace = 2 * time.Second

// opened is what one execution waits for: the bodies of a fork, a called tool,
// a time, or a person.
type opened struct {
	frame     *frame
	node      *graph.Node
	execution int
	do        graph.Verb
	edge      int
	value     value.Value
	until     instant // when a sleep or a question ends; 0: never

	items   []value.Value  // of a map
	bodies  int            // how many there are in all
	next    int            // the first that was not begun
	live    []*frame       // those that were and have not ended
	bySlot  map[int]*frame // the same; nil until a replay needs it
	ended   int
	results []value.Value
	had     []bool // which have ended
	failed  []int  // which of them failed
	gone    []int  // which of them have no records any more
	last    error  // the latest failure
	closing bool   // no other body is begun
	queued  bool   // among the forks of the run that can begin bodies
	err     error  // of the fork as a whole
	answer  value.Value
	child   *Run   // follows that run; may be nil
	run     string // the id of the run that is waited for; empty without one
	share   int    // the executions that it may have, until they are charged
	used    int    // those that it has had, if counted is true
	counted bool
}

// open makes what an action asks for. The error is for an action that asks for
// nonsense.
func (f *frame) open(a graph.Action, now instant) (*opened, instant, error) {
	o := &opened{frame: f, node: f.node, execution: len(f.past.executions), do: a.Do, edge: a.Edge, value: a.Value}
	switch a.Do {
	case graph.Fork:
		return o, 0, o.fork()
	case graph.Invoke, graph.Detach:
		if f.node.Callee == nil {
			return nil, 0, errors.New("the node calls no tool")
		}
		if limit := f.run.graph.Limits.MaxCallDepth; int(f.depth) >= limit {
			return nil, 0, &LimitError{MaxDepth: limit}
		}
		o.bodies = 1
		// The run has a clock of its own, which this one does not know.
		if limit := f.node.Policy.Timeout; limit > 0 && a.Do == graph.Detach {
			return o, now.add(limit), o.room()
		}
	case graph.Sleep:
		until, err := wake(a.Value, now)
		return o, until, err
	case graph.Ask:
		// Questions use the driver's time: the working time stands still while the
		// run only waits for people.
		limit := f.node.Policy.Timeout
		if f.node.Approval != nil {
			limit = approvalTimeout // the node's own is for the call
		}
		if limit > 0 {
			return o, now.add(limit), nil
		}
	default:
		return nil, 0, fmt.Errorf("the node asks for verb %d, which a run cannot open", a.Do)
	}
	return o, 0, o.room()
}

func (o *opened) fork() error {
	spread := o.node.Spread
	switch {
	case spread == nil || len(o.node.Bodies) == 0:
		return errors.New("the node has no bodies")
	case !spread.Each:
		o.bodies = len(o.node.Bodies)
	case o.value.IsUndefined() || o.value.IsNull():
	case o.value.Kind() == value.Array:
		o.items, o.bodies = o.value.Elems(), o.value.Len()
	default:
		o.items, o.bodies = []value.Value{o.value}, 1
	}
	return o.room()
}

func (o *opened) room() error {
	if o.bodies > maxBodies {
		return fmt.Errorf("%d items are more than a map may have (%d)", o.bodies, maxBodies)
	}
	o.results, o.had = make([]value.Value, o.bodies), make([]bool, o.bodies)
	return nil
}

// wake returns when a sleep ends: so many milliseconds from now, or at a time. It is
// never before now, and never after the latest instant that there is.
func wake(v value.Value, now instant) (instant, error) {
	switch v.Kind() {
	case value.Number:
		if ms := v.Float(); ms >= 0 {
			if length := ms * float64(time.Millisecond); length < float64(latest-now) {
				return now.add(time.Duration(length)), nil
			}
			return latest, nil
		}
	case value.String:
		if at, err := time.Parse(time.RFC3339Nano, v.Str()); err == nil {
			switch {
			case at.After(latest.time()):
				return latest, nil
			case at.Before(now.time()):
				return now, nil
			}
			return instantOf(at), nil
		}
	}
	return 0, fmt.Errorf("expected a number of milliseconds or a time in RFC 3339 to wait for, found %s", graph.Describe(v))
}

// latest is the last instant, in the year 2262.
const latest instant = math.MaxInt64

// spreads reports whether a body can be begun.
func (o *opened) spreads() bool {
	if o.closing || o.next >= o.bodies || o.do == graph.Detach {
		return false
	}
	limit := 0
	if o.node.Spread != nil {
		limit = o.node.Spread.Limit
	}
	return limit == 0 || len(o.live) < limit
}

// begin makes the frame of a body.
func (o *opened) begin(slot int) *frame {
	g, input := o.node.Callee, o.value
	if o.do == graph.Fork {
		g = o.node.Bodies[0]
		if o.node.Spread.Each {
			input = o.items[slot]
		} else {
			g = o.node.Bodies[slot]
		}
	}
	f := &frame{}
	f.init(o.frame.run, g, input, o, slot)
	f.live = int32(len(o.live))
	o.live = append(o.live, f)
	if o.bySlot != nil {
		o.bySlot[slot] = f
	}
	return f
}

// skip passes over bodies that ended before they were begun, which happens only
// in a replay.
func (o *opened) skip() {
	for o.next < o.bodies && o.had[o.next] {
		o.next++
	}
}

// body returns the frame of a body that has not ended, for a replay, or nil if
// there is none.
func (o *opened) body(slot int) *frame {
	if o.bySlot == nil {
		o.bySlot = make(map[int]*frame, len(o.live))
		for _, f := range o.live {
			o.bySlot[int(f.slot)] = f
		}
	}
	return o.bySlot[slot]
}

func (o *opened) vars(outer []value.Entry, slot int) []value.Entry {
	spread := o.node.Spread
	if !spread.Each || spread.As == "" && spread.At == "" {
		return outer
	}
	vars := append(make([]value.Entry, 0, len(outer)+2), outer...)
	if spread.As != "" {
		vars = append(vars, value.Entry{Key: spread.As, Value: o.items[slot]})
	}
	if spread.At != "" {
		vars = append(vars, value.Entry{Key: spread.At, Value: value.FromInt(int64(slot))})
	}
	return vars
}

// leave takes a body off those that are live.
func (o *opened) leave(f *frame) {
	end := len(o.live) - 1
	o.live[f.live] = o.live[end]
	o.live[f.live].live = f.live
	o.live[end], o.live = nil, o.live[:end]
	delete(o.bySlot, int(f.slot))
}

// finish counts the end of a body, and decides what that means.
func (o *opened) finish(f *frame, result value.Value, err error) {
	o.leave(f)
	if o.closing || f.cancelled != nil {
		return
	}
	o.ended++
	o.had[f.slot], o.results[f.slot] = true, result
	if err != nil {
		o.fail(int(f.slot), err)
	} else if o.node.Spread != nil && o.node.Spread.First {
		o.closing = true
		return
	}
	if o.ended == o.bodies {
		o.closing = true
		if o.node.Spread != nil && o.node.Spread.First && o.err == nil {
			o.err = o.allFailed()
		}
	}
}

func (o *opened) fail(slot int, err error) {
	o.last = err
	o.failed = append(o.failed, slot)
	o.results[slot] = caught(FailureOf(err))
	switch spread := o.node.Spread; {
	case spread == nil:
		o.err = err
	case spread.First:
		return
	case spread.Tolerate == 0 && spread.TolerateShare == 0:
		o.err = err
	case o.tolerated():
		return
	default:
		o.err = o.tooMany()
	}
	o.closing = true
}

func (o *opened) tolerated() bool { return o.toleratedWith(0) }

// toleratedWith reports whether the failures so far and so many more are tolerated.
func (o *opened) toleratedWith(more int) bool {
	spread, failed := o.node.Spread, len(o.failed)+more
	if spread.TolerateShare != 0 {
		return int64(failed)*1_000_000 <= int64(spread.TolerateShare)*int64(o.bodies)
	}
	return failed <= spread.Tolerate
}

// shownFailures is how many failures a fork shows of those that it had.
const shownFailures = 10

func (o *opened) tooMany() error {
	slots := slices.Sorted(slices.Values(o.failed))
	data := make([]value.Value, 0, shownFailures)
	for _, slot := range slots[:min(len(slots), shownFailures)] {
		data = append(data, o.results[slot].Get("error"))
	}
	return &graph.Failure{
		Name: graph.FailTooMany, Data: value.FromArray(data),
		Message: fmt.Sprintf("%d of %d items failed; the last: %s", len(o.failed), o.bodies, FailureOf(o.last).Message),
	}
}

func (o *opened) allFailed() error {
	b := value.NewBuilder(o.bodies)
	for i, name := range o.node.Spread.Names {
		b.Set(name, o.results[i].Get("error"))
	}
	f := *FailureOf(o.last)
	f.Data = b.Value()
	return &locatedFailure{&f, o.last}
}

// locatedFailure is a failure with another error's place.
type locatedFailure struct {
	*graph.Failure
	at error
}

func (e *locatedFailure) Unwrap() []error { return []error{e.Failure, e.at} }

// result returns what the execution that waits goes on with.
func (o *opened) result() value.Value {
	if o.do != graph.Fork {
		if o.do == graph.Invoke || o.do == graph.Detach {
			return o.results[0]
		}
		return o.answer
	}
	spread := o.node.Spread
	if spread.Each {
		return value.FromArray(o.results)
	}
	b := value.NewBuilder(o.bodies)
	for i, name := range spread.Names {
		if o.had[i] && !(spread.First && slices.Contains(o.failed, i)) {
			b.Set(name, o.results[i])
		}
	}
	return b.Value()
}

// dropped returns the results of bodies whose records are gone.
func (o *opened) dropped() ([]value.Value, []int) {
	if len(o.gone) == 0 {
		return nil, nil
	}
	results := make([]value.Value, o.bodies)
	for _, slot := range o.gone {
		results[slot] = o.results[slot]
	}
	var failed []int
	for _, slot := range o.failed {
		if !results[slot].IsUndefined() {
			failed = append(failed, slot)
		}
	}
	return results, failed
}

// restore puts results in place that dropped returned.
func (o *opened) restore(results []value.Value, failed []int) error {
	if len(results) != 0 && len(results) != o.bodies {
		return fmt.Errorf("the record has the results of %d bodies, the execution has %d", len(results), o.bodies)
	}
	for slot, v := range results {
		if !v.IsUndefined() && !o.had[slot] {
			o.had[slot], o.results[slot] = true, v
			o.ended++
			o.gone = append(o.gone, slot)
		}
	}
	for _, slot := range failed {
		if slot < 0 || slot >= o.bodies || !o.had[slot] {
			return fmt.Errorf("the record has a failure of body %d, which has not ended", slot)
		}
		o.failed = append(o.failed, slot)
		o.last = graph.FailureFrom(o.results[slot].Get("error"))
	}
	return nil
}

// caught is the output of an execution whose failure was handled.
func caught(f *graph.Failure) value.Value {
	return value.FromEntries([]value.Entry{{Key: "error", Value: f.Value()}})
}

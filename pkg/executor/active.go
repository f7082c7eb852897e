package executor

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Activity is an execution that is under way.
type Activity struct {
	// Path is where the node stands, for people, Node is its id and Kind the name
	// of its type. Key is that of the node; see [graph.Node.Key].
	Path, Node, Kind, Key string
	// Frame names the walk that the execution is part of, as [Record.Frame] does.
	Frame string
	// Execution counts the executions of the walk from 0, Try the attempts of this
	// one from 1; 0 means that it has not begun.
	Execution, Try int
	// Start is when it began, zero where it has not.
	Start time.Time
	// State is one of "ready", "running", "retrying" (waits for the next attempt),
	// "sleeping", "joining" (waits for its bodies, or the tool that it calls) and
	// "asking" (waits for a person).
	State string
	// Until is when a sleep, a delay of a retry or a question ends by itself; zero for
	// others, and where that never happens.
	Until time.Time `json:",omitzero"`
	// Server and Tool are what the node calls upstream; empty where it calls
	// nothing.
	Server, Tool string
}

var stateNames = [...]string{
	ready: "ready", held: "running", calling: "running",
	delayed: "retrying", sleeping: "sleeping", joining: "joining", detached: "joining", asking: "asking",
}

// Active returns the executions under way, outer ones before those of their
// bodies, and no more than most of them.
func (r *Run) Active(most int) []Activity {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Activity
	until := r.timers.ends()
	var add func(f *frame)
	add = func(f *frame) {
		if f.state == settled || f.state == ended || f.node == nil || len(list) >= most {
			return
		}
		t := f.current()
		a := Activity{
			Path: t.Path(), Node: f.node.ID, Kind: f.node.Kind.Name, Key: f.node.Key(), Frame: f.id(),
			Execution: t.execution, Try: t.try, State: stateNames[f.state],
			Server: f.node.Server, Tool: f.node.Tool,
		}
		if f.try > 0 {
			a.Start = f.start.time()
		}
		if at, ok := until[f]; ok {
			a.Until = at.time()
		}
		list = append(list, a)
		if f.opened != nil {
			for _, body := range f.opened.live {
				add(body)
			}
		}
	}
	add(&r.root)
	return list
}

// ends returns when sleeps, delays and questions end by themselves.
func (t *timers) ends() map[*frame]instant {
	var ends map[*frame]instant
	for i := range t.wall.list {
		one := &t.wall.list[i]
		if one.what != goOn && one.what != expiry || one.void() {
			continue
		}
		if ends == nil {
			ends = map[*frame]instant{}
		}
		ends[one.frame] = one.at
	}
	return ends
}

// Waiting reports whether the run waits for nothing but times and people: nothing is
// evaluated or called, or ready to be, and the run is not over.
func (r *Run) Waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.done && r.held == 0 && r.root.waits()
}

func (f *frame) waits() bool {
	switch f.state {
	case delayed, sleeping, asking:
		return true
	case joining:
		for _, body := range f.opened.live {
			if !body.waits() {
				return false
			}
		}
		return len(f.opened.live) > 0 && !f.opened.spreads()
	}
	return false
}

// NextIndex returns the index that the next record of the run will have.
func (r *Run) NextIndex() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.next
}

// MayBeHandled reports whether something around an execution that failed can handle
// its failure: another attempt, a rule of catch, or a map that tolerates failures. A
// rule with a condition counts, whatever the condition will yield. rec is the record
// that a NodeDone hook was given.
func (r *Run) MayBeHandled(rec Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, _, _, err := r.find(rec.Frame, false)
	if err != nil || f == nil || rec.Err == nil {
		return false
	}
	failed := FailureOf(rec.Err)
	for ; f.opener != nil; f = f.opener.frame {
		o := f.opener
		if o.do == graph.Fork {
			spread := o.node.Spread
			switch last := o.bodies-o.ended == 1; {
			case spread.First && !last:
				return true
			case spread.Tolerate > 0 || spread.TolerateShare > 0:
				if o.toleratedWith(1) {
					return true
				}
				failed = &graph.Failure{Name: graph.FailTooMany}
			}
		}
		if o.frame.mayHandle(failed) {
			return true
		}
	}
	return false
}

// Bodies returns how many bodies of the execution under way in the tool's own walk
// have ended, and how many it has; 0 if it has none.
func (r *Run) Bodies() (ended, all int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.root.opened; o != nil && o.do == graph.Fork {
		return o.ended, o.bodies
	}
	return 0, 0
}

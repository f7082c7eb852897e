package executor

import "time"

// Activity is an execution that is under way.
type Activity struct {
	// Path is where the node stands, for people, Node is its id and Kind the name
	// of its type.
	Path, Node, Kind string
	// Execution counts the executions of the walk from 0, Try the attempts of this
	// one from 1; 0 means that it has not begun.
	Execution, Try int
	// Start is when it began, zero where it has not.
	Start time.Time
	// State is one of "ready", "running", "retrying" (waits for the next attempt),
	// "sleeping", "joining" (waits for its bodies, or the tool that it calls) and
	// "asking" (waits for a person).
	State string
	// Server and Tool are what the node calls upstream; empty where it calls
	// nothing.
	Server, Tool string
}

var stateNames = [...]string{
	ready: "ready", held: "running", calling: "running",
	delayed: "retrying", sleeping: "sleeping", joining: "joining", asking: "asking",
}

// Active returns the executions under way, outer ones before those of their
// bodies, and no more than most of them.
func (r *Run) Active(most int) []Activity {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Activity
	var add func(f *frame)
	add = func(f *frame) {
		if f.state == settled || f.state == ended || f.node == nil || len(list) >= most {
			return
		}
		t := f.current()
		a := Activity{
			Path: t.Path(), Node: f.node.ID, Kind: f.node.Kind.Name,
			Execution: t.execution, Try: t.try, State: stateNames[f.state],
			Server: f.node.Server, Tool: f.node.Tool,
		}
		if f.try > 0 {
			a.Start = f.start.time()
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

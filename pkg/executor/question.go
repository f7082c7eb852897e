package executor

import (
	"slices"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Question is what a run asks the client: a person, a model or the client itself.
type Question struct {
	// ID names the question in its run.
	ID string
	// Try counts the times that the node has asked this before.
	Try int
	// Path is where the node stands, for people.
	Path string
	// Node is the node that asks.
	Node *graph.Node
	// Method is the request of the client that the question is: [graph.AskPerson],
	// [graph.AskModel] or [graph.AskRoots].
	Method string
	// Value is what it asks: the params of the request. For a call that needs approval
	// see [Question.WithArguments].
	Value value.Value
	// Arguments are those of the call that needs approval, see [Run.Mask]; else undefined.
	Arguments value.Value
	// Until is when the question fails with a timeout; zero: never.
	Until time.Time

	frame *frame
}

// Questions returns what is to be answered, the oldest first, and then what the runs ask
// that are attached.
func (r *Run) Questions() []Question {
	list := r.questions()
	for i, q := range list {
		list[i] = q.shown()
	}
	return append(list, r.childQuestions()...)
}

// shown returns the question as a person is asked it. It reads the values of other
// nodes, so no lock is held.
func (q Question) shown() Question {
	if q.Node.Approval == nil {
		return q
	}
	return q.WithArguments(q.frame.run.Masked(q.Node.Server, q.Node.Tool, q.Value))
}

func (r *Run) questions() []Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Question
	for _, f := range r.asked {
		t := f.current()
		q := Question{ID: t.ID(), Try: int(f.try), Path: t.Path(), Node: f.node, Method: f.node.AskMethod(), Value: f.opened.value, Until: f.opened.until.time(), frame: f}
		if f.node.Approval != nil {
			if slices.ContainsFunc(list, func(other Question) bool { return f.shares(other.frame) }) {
				continue
			}
		}
		list = append(list, q)
	}
	return list
}

// Parked reports whether the run waits for nothing but people.
func (r *Run) Parked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.done && r.clock.since != 0 && (r.clock.runs == 0 || r.childrenParked())
}

// Answer answers a question. It returns an error if the question cannot be
// answered. A Local that drives the run goes on with it. The result is ErrStale
// where the run does not ask that (any more).
func (r *Run) Answer(id string, answer value.Value, failed error, now time.Time) error {
	err := r.reply(id, answer, failed, now)
	if err == nil {
		r.notify()
	}
	return err
}

func (r *Run) reply(id string, answer value.Value, failed error, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.advance(instantOf(now))
	for _, f := range r.asked {
		if f.current().ID() != id {
			continue
		}
		e := f.entry(Answered, r.clock.now)
		e.output, e.edge = answer, graph.NoEdge
		if failed != nil {
			e.fail(newNodeError(f, failed))
		}
		r.log.add(e)
		r.answer(e)
		return nil
	}
	return ErrStale
}

func (r *Run) answer(e *entry) {
	f := e.frame
	if f.node.Approval != nil {
		r.approve(e)
		return
	}
	f.opened.answer, f.phase = e.output, conclude
	if err := e.extra.get().err; err != nil {
		f.pending = err
	}
	r.unask(f)
	r.push(f)
}

// unask takes a frame off those that ask.
func (r *Run) unask(f *frame) {
	for i, one := range r.asked {
		if one == f {
			r.interrupt(f)
			r.asked = append(r.asked[:i:i], r.asked[i+1:]...)
			return
		}
	}
}

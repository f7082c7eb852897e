package executor

import (
	"strconv"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Share is what a run is given of the limits of the run that waits for it.
type Share struct {
	// Depth is the depth of the tool that is run; that of the client's call is 1.
	Depth int
	// Executions is how many executions the run may have, together with those of the
	// runs that it waits for.
	Executions int
}

// Detached is an execution that waits for a run of its own, which [Run.Detach] opened.
type Detached struct {
	Task Task
	// Run is the id of that run, Args are its arguments.
	Run  string
	Args value.Value
	// Frame names the walk of that run in this one, as [Record.Frame] does.
	Frame string
	// Share is how many executions the run may have.
	Share int
	// Child is what follows that run here; see [Run.Attach]. It may be nil.
	Child *Run
}

// shares are the limits that a run has shared with others. Most runs have none.
type shares struct {
	own      int // how many executions the run may have; 0: as its graph has it
	beneath  int // executions of the runs that it waited for
	reserved int // that those may have that it waits for now
}

// sharing returns the shares of the run, to write.
func (r *Run) sharing() *shares {
	if r.shares == nil {
		r.shares = &shares{}
	}
	return r.shares
}

// spent returns how many executions count for the limit of all.
func (r *Run) spent() int {
	if r.shares == nil {
		return r.total
	}
	return r.total + r.shares.beneath
}

func (r *Run) reserved() int {
	if r.shares == nil {
		return 0
	}
	return r.shares.reserved
}

// Confine bounds a new run by its share of another one's limits. The limits of its own
// graph hold, too. It must be called before anything else.
func (r *Run) Confine(s Share) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.root.depth, r.sharing().own = int32(max(s.Depth, 1)), s.Executions
}

// maxTotal is how many executions the run may have.
func (r *Run) maxTotal() int {
	limit := r.graph.Limits.MaxTotalExecutions
	if r.shares != nil && r.shares.own > 0 {
		limit = min(limit, r.shares.own)
	}
	return limit
}

// Detach is Open for a driver that performs an Invoke as a run of its own, which has
// this id. No more than most such runs may be under way at the same time. The share is
// what the run may take of the limits of this one: seven eighths of what is left or, in
// bodies, an equal part of it for each body that may be under way. Join goes on with the
// execution.
func (r *Run) Detach(t Task, a graph.Action, id string, most int, now time.Time) (Share, error) {
	a.Do = graph.Detach
	size := t.frame.weigh(a.Value)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.valid(t) {
		return Share{}, ErrStale
	}
	share := Share{Depth: int(t.frame.depth) + 1, Executions: r.portion(t.frame, most)}
	if share.Executions < 1 {
		return share, &LimitError{MaxTotal: r.maxTotal(), Executions: r.spent()}
	}
	o, err := r.open(t.frame, a, id, size, instantOf(now))
	if err == nil {
		o.share = share.Executions
		r.sharing().reserved += o.share
	}
	return share, err
}

// kept is the part of what is left that a run keeps for itself: it must be able to go on
// after a run that it gave up, of which nobody knows yet how many executions it had.
const kept = 8

// portion returns how many executions a run may have that an execution waits for.
func (r *Run) portion(f *frame, most int) int {
	total := r.maxTotal()
	left := total - r.spent() - 1 // the execution itself
	branches, items := 1, 1       // no more than most of all items are under way
	for o := f.opener; o != nil; o = o.frame.opener {
		switch {
		case o.do != graph.Fork:
		case !o.node.Spread.Each:
			branches = min(branches*o.bodies, total)
		case o.node.Spread.Limit > 0:
			items = min(items*min(o.bodies, o.node.Spread.Limit), most)
		default:
			items = min(items*o.bodies, most)
		}
	}
	beside := branches * items
	if beside == 1 {
		return left - left/kept - r.reserved()
	}
	return min(left/(beside+1), left-r.reserved())
}

// Join goes on with an execution whose run has ended: with its result, or with why it
// failed. executions is how many it had, negative if nobody knows. The error is ErrStale
// if the execution does not wait for it any more.
func (r *Run) Join(t Task, result value.Value, failed error, executions int, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := t.frame
	if f == nil || f.task != t.task || f.state != detached {
		return ErrStale
	}
	r.clock.advance(instantOf(now))
	o := f.opened
	if executions >= 0 {
		o.used, o.counted = executions, true
	}
	if o.results[0] = resultOf(result); failed != nil {
		f.pending = failed
	}
	f.phase = conclude
	r.push(f)
	return nil
}

// charge counts the executions of a run that an execution has waited for. One that was
// given up may go on for a while, so all that it may have counts.
func (r *Run) charge(o *opened) {
	if o == nil || o.share == 0 {
		return
	}
	s := r.sharing()
	s.reserved -= o.share
	if o.counted {
		s.beneath += o.used
	} else {
		s.beneath += o.share
	}
	o.share = 0
}

// Refund takes back executions that were charged for a run that was given up, once it is
// known that it did not have them.
func (r *Run) Refund(executions int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sharing()
	s.beneath = max(s.beneath-executions, 0)
}

// Spent returns how many executions the run has had, with those of the runs that it
// waited for.
func (r *Run) Spent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent()
}

// Restore sets what the records of a replay do not have: Spent, and of each run that is
// waited for how many executions it may have.
func (r *Run) Restore(spent int, shares map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sharing()
	s.beneath = max(s.beneath, spent-r.total)
	r.eachDetached(func(f *frame) {
		f.opened.share = shares[f.opened.run]
		s.reserved += f.opened.share
	})
}

// Detached returns the executions that wait for runs of their own, outer ones first.
func (r *Run) Detached() []Detached {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Detached
	r.eachDetached(func(f *frame) {
		o := f.opened
		list = append(list, Detached{
			Task: f.current(), Run: o.run, Args: o.value, Frame: o.bodyID(0),
			Share: o.share, Child: o.child,
		})
	})
	return list
}

// eachDetached calls do for each frame that waits for a run of its own.
func (r *Run) eachDetached(do func(*frame)) {
	var walk func(f *frame)
	walk = func(f *frame) {
		if f.state == ended || f.opened == nil {
			return
		}
		if f.state == detached {
			do(f)
		}
		for _, body := range f.opened.live {
			walk(body)
		}
	}
	walk(&r.root)
}

// inline makes the runs that executions wait for part of this one: a Local drives all
// of a run itself.
func (r *Run) inline() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eachDetached(func(f *frame) {
		f.opened.do = graph.Invoke
		r.set(f, joining)
		r.spread(f.opened)
	})
}

// forget leaves the bodies of an execution that goes on without them, in a replay.
func (r *Run) forget(o *opened) {
	if o == nil {
		return
	}
	o.closing = true
	for _, body := range o.live {
		if body.state != ended {
			r.unask(body)
			r.forget(body.opened)
			r.set(body, ended)
		}
	}
}

// bodyID returns the id of the frame of a body; see [Record.Frame].
func (o *opened) bodyID(slot int) string {
	id := o.frame.id()
	if id != "" {
		id += "/"
	}
	return id + strconv.Itoa(o.execution) + "." + strconv.Itoa(slot)
}

// Attach lets child, which follows the run that an execution waits for, stand for that
// run: Questions has its questions, and Parked looks at it. It masks arguments as r does.
// walk is [Detached.Frame].
func (r *Run) Attach(walk string, child *Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eachDetached(func(f *frame) {
		if f.opened.bodyID(0) == walk {
			f.opened.child, child.mask = child, r.mask
		}
	})
}

// childrenParked reports whether all runs that are waited for are known to wait for people
// alone.
func (r *Run) childrenParked() bool {
	parked := true
	r.eachDetached(func(f *frame) { parked = parked && f.opened.child != nil && f.opened.child.Parked() })
	return parked
}

// childQuestions returns what the runs ask that are waited for. Their ids and paths are
// those that they would have if the runs were part of this one.
func (r *Run) childQuestions() []Question {
	var list []Question
	for _, d := range r.Detached() {
		if d.Child == nil {
			continue
		}
		for _, q := range d.Child.Questions() {
			q.ID, q.Path = JoinID(d.Frame, q.ID), d.Task.Path()+">"+q.Path
			list = append(list, q)
		}
	}
	return list
}

package executor

import (
	"slices"
	"sort"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// history is what the executions of one walk yielded. It only grows; what
// documents have taken of it stays. That of a body stands on top of that of the
// walk around it.
type history struct {
	executions []*entry // those that are over
	room       []entry  // for the next entries
	// visits are those of each node by its Index, beyond indexFrom executions.
	visits []visits
}

// visits are the executions of one node. Both lists only grow.
type visits struct {
	places []int32 // in the executions
	// outputs are the outputs of the first of them, as far as somebody asked.
	outputs []value.Value
}

// indexFrom is the number of executions beyond which looking through all of
// them costs more than keeping an index.
const indexFrom = 16

// maxRoom is the number of entries that are allocated at a time.
const maxRoom = 64

// entry returns room for an entry. Entries never move.
func (h *history) entry() *entry {
	n := len(h.room)
	if n == cap(h.room) {
		h.room = make([]entry, 0, min(max(2*n, 1), maxRoom))
		n = 0
	}
	h.room = h.room[:n+1]
	return &h.room[n]
}

// failed reports whether the execution has no output because it failed.
func (e *entry) failed() bool { return e.edge == graph.NoEdge && e.extra.get().err != nil }

func (f *frame) add(e *entry) {
	h := &f.past
	h.executions = grow(h.executions, e)
	switch {
	case h.visits != nil:
		h.visit(e, len(h.executions)-1)
	case len(h.executions) > indexFrom:
		h.visits = make([]visits, len(f.graph.Nodes))
		for i, e := range h.executions {
			h.visit(e, i)
		}
	}
}

func (h *history) visit(e *entry, place int) {
	if !e.failed() {
		v := &h.visits[e.node.Index]
		v.places = grow(v.places, int32(place))
	}
}

// grow appends to a list that may become long. Doubling it copies each element
// twice in all; append alone grows long lists by a quarter and copies five
// times.
func grow[T any](list []T, element T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, max(1, len(list)))
	}
	return append(list, element)
}

// around returns the walk that a body sees around it, and how many executions
// that had when the body began. It stands still meanwhile. It returns nil where
// the walk sees nothing around it.
func (f *frame) around() (*frame, int) {
	if !f.isBody() {
		return nil, 0
	}
	return f.opener.frame, f.opener.execution
}

// isBody reports whether the walk is one of a fork.
func (f *frame) isBody() bool { return f.opener != nil && f.opener.do == graph.Fork }

// previous returns the n-th latest output. What a body was given comes before
// its first one.
func (f *frame) previous(n int) (value.Value, bool) {
	i := len(f.past.executions) - n
	if n >= 1 && i >= 0 {
		return f.past.executions[i].output, true
	}
	if i == -1 && f.isBody() {
		return f.in.Args, true
	}
	return value.Undef, false
}

// outputs returns those of all executions of a node, of the walk itself or of
// one around it.
func (f *frame) outputs(id string) []value.Value {
	length := len(f.past.executions)
	for f != nil {
		if n := f.graph.Node(id); n != nil {
			return f.past.outputs(n, length)
		}
		f, length = f.around()
	}
	return nil
}

func (h *history) outputs(n *graph.Node, length int) []value.Value {
	if h.visits != nil {
		v := &h.visits[n.Index]
		count := v.count(length)
		for _, place := range v.places[min(len(v.outputs), count):count] {
			v.outputs = grow(v.outputs, h.executions[place].output)
		}
		return slices.Clip(v.outputs[:count])
	}
	var outputs []value.Value
	for _, e := range h.executions[:length] {
		if e.node == n && !e.failed() {
			outputs = append(outputs, e.output)
		}
	}
	return outputs
}

// outputsAt is outputs as they were before some replacements.
func (h *history) outputsAt(n *graph.Node, length int, version int32) []value.Value {
	var outputs []value.Value
	for _, e := range h.executions[:length] {
		if e.node == n && !e.failed() {
			outputs = append(outputs, e.at(version).output)
		}
	}
	return outputs
}

// executed returns how many executions of a node are over.
func (h *history) executed(n *graph.Node) int {
	if h.visits != nil {
		return len(h.visits[n.Index].places)
	}
	count := 0
	for _, e := range h.executions {
		if e.node == n {
			count++
		}
	}
	return count
}

// count returns how many of the visits are among the first executions of the
// walk, so many. Nearly always it is all of them.
func (v *visits) count(length int) int {
	if last := len(v.places) - 1; last < 0 || int(v.places[last]) < length {
		return last + 1
	}
	return sort.Search(len(v.places), func(i int) bool { return int(v.places[i]) >= length })
}

// latest returns the last output of a node among the first executions of the
// walk, so many, and the place of its execution, or -1 if there is none.
func (h *history) latest(n *graph.Node, length int, version int32) (value.Value, int) {
	if h.visits != nil {
		v := &h.visits[n.Index]
		if i := v.count(length) - 1; i >= 0 {
			place := int(v.places[i])
			return h.executions[place].at(version).output, place
		}
		return value.Undef, -1
	}
	for i := length - 1; i >= 0; i-- {
		if e := h.executions[i]; e.node == n && !e.failed() {
			return e.at(version).output, i
		}
	}
	return value.Undef, -1
}

// document is what a walk had yielded after its first executions, so many, and
// after the first replacements of outputs in the run. The history only grows, and
// replaced outputs know what they were before, so its answers never change.
type document struct {
	frame   *frame
	length  int32
	version int32
}

// Lookup implements value.Source.
func (d *document) Lookup(id string) value.Value {
	r := d.frame.run
	r.mu.Lock()
	defer r.mu.Unlock()
	f, length := d.frame, int(d.length)
	for f != nil {
		if n := f.graph.Node(id); n != nil {
			v, _ := f.past.latest(n, length, d.version)
			return v
		}
		f, length = f.around()
	}
	return value.Undef
}

// Entries implements value.Source: the latest execution comes first, what a
// body has yielded before what was there when it began.
func (d *document) Entries() []value.Entry {
	r := d.frame.run
	r.mu.Lock()
	defer r.mu.Unlock()
	type item struct {
		place int
		entry value.Entry
	}
	var entries []value.Entry
	f, length := d.frame, int(d.length)
	for f != nil {
		var items []item
		for _, n := range f.graph.Nodes {
			if v, place := f.past.latest(n, length, d.version); place >= 0 && !v.IsUndefined() {
				items = append(items, item{place, value.Entry{Key: n.ID, Value: v}})
			}
		}
		slices.SortFunc(items, func(a, b item) int { return b.place - a.place })
		for i := range items {
			entries = append(entries, items[i].entry)
		}
		f, length = f.around()
	}
	return entries
}

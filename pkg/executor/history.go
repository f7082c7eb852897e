package executor

import (
	"slices"
	"sort"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// history is what the executions of one walk yielded, on top of that of the
// walk around it. It only grows; what documents have taken of it stays.
type history struct {
	ids        *graph.Graph
	executions []execution
	nodes      *index // beyond indexFrom executions
	// Of the walk around it, what there was when this one began, which stands
	// still meanwhile; nil where the walk sees nothing around it.
	outer    *history
	outerLen int
	// input is what the output before the first execution is, if hasInput.
	input    value.Value
	hasInput bool
}

// execution is one execution that is over. failed ones have no output.
type execution struct {
	node   *graph.Node
	output value.Value
	failed bool
}

// indexFrom is the number of executions beyond which looking through all of
// them costs more than keeping an index.
const indexFrom = 16

// index has, by Node.Index, the places of a node's executions and their
// outputs. Both only grow.
type index struct {
	places  [][]int
	outputs [][]value.Value
}

func (h *history) add(n *graph.Node, output value.Value, failed bool) {
	h.executions = grow(h.executions, execution{n, output, failed})
	switch {
	case h.nodes != nil:
		h.nodes.add(n.Index, len(h.executions)-1, output, failed)
	case len(h.executions) > indexFrom:
		h.nodes = &index{make([][]int, len(h.ids.Nodes)), make([][]value.Value, len(h.ids.Nodes))}
		for i, e := range h.executions {
			h.nodes.add(e.node.Index, i, e.output, e.failed)
		}
	}
}

func (x *index) add(node, place int, output value.Value, failed bool) {
	if !failed {
		x.places[node] = grow(x.places[node], place)
		x.outputs[node] = grow(x.outputs[node], output)
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

func (h *history) previous(n int) (value.Value, bool) {
	i := len(h.executions) - n
	if n >= 1 && i >= 0 {
		return h.executions[i].output, true
	}
	if i == -1 && h.hasInput {
		return h.input, true
	}
	return value.Undef, false
}

// outputs returns those of all executions of a node, of the walk itself or of
// one around it.
func (h *history) outputs(id string) []value.Value {
	length := len(h.executions)
	for ; h != nil; h, length = h.outer, h.outerLen {
		if n := h.ids.Node(id); n != nil {
			return h.outputsOf(n, length)
		}
	}
	return nil
}

func (h *history) outputsOf(n *graph.Node, length int) []value.Value {
	if h.nodes != nil {
		return slices.Clip(h.nodes.outputs[n.Index][:h.nodes.count(n.Index, length)])
	}
	var outputs []value.Value
	for _, e := range h.executions[:length] {
		if e.node == n && !e.failed {
			outputs = append(outputs, e.output)
		}
	}
	return outputs
}

// count returns how many of the executions of a node are among the first of the
// walk, so many. Nearly always it is all of them.
func (x *index) count(node, length int) int {
	places := x.places[node]
	if last := len(places) - 1; last < 0 || places[last] < length {
		return last + 1
	}
	return sort.SearchInts(places, length)
}

// latest returns the last output of a node among the first executions of the
// walk, so many, and the place of its execution, -1 where there is none.
func (h *history) latest(n *graph.Node, length int) (value.Value, int) {
	if h.nodes != nil {
		if i := h.nodes.count(n.Index, length) - 1; i >= 0 {
			return h.nodes.outputs[n.Index][i], h.nodes.places[n.Index][i]
		}
		return value.Undef, -1
	}
	for i := length - 1; i >= 0; i-- {
		if e := &h.executions[i]; e.node == n && !e.failed {
			return e.output, i
		}
	}
	return value.Undef, -1
}

// document is what a walk had yielded after its first executions. The history
// only grows, so its answers never change.
type document struct {
	run    *Run
	past   *history
	length int
}

// documentOf returns the document of a walk after its first executions, so many.
func (r *Run) documentOf(f *frame, length int) value.Value {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return value.FromSource(&document{r, &f.past, min(length, len(f.past.executions))})
}

// Lookup implements value.Source.
func (d *document) Lookup(id string) value.Value {
	d.run.mu.RLock()
	defer d.run.mu.RUnlock()
	length := d.length
	for h := d.past; h != nil; h, length = h.outer, h.outerLen {
		if n := h.ids.Node(id); n != nil {
			v, _ := h.latest(n, length)
			return v
		}
	}
	return value.Undef
}

// Entries implements value.Source: the latest execution comes first, what a
// body has yielded before what was there when it began.
func (d *document) Entries() []value.Entry {
	d.run.mu.RLock()
	defer d.run.mu.RUnlock()
	type item struct {
		place int
		entry value.Entry
	}
	var entries []value.Entry
	length := d.length
	for h := d.past; h != nil; h, length = h.outer, h.outerLen {
		var items []item
		for _, n := range h.ids.Nodes {
			if v, place := h.latest(n, length); place >= 0 && !v.IsUndefined() {
				items = append(items, item{place, value.Entry{Key: n.ID, Value: v}})
			}
		}
		slices.SortFunc(items, func(a, b item) int { return b.place - a.place })
		for i := range items {
			entries = append(entries, items[i].entry)
		}
	}
	return entries
}

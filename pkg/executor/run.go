// Package executor walks graphs.
//
// A Run is the state of one tool call. It does no I/O and reads no clock, so
// that it can be driven in this process by an Executor, step by step by a
// debugger, or by anything else that implements a Port.
package executor

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Record is one node execution of a run. It is JSON throughout but for Err.
type Record struct {
	// Index counts the executions of the run from 0.
	Index int
	// Node is the node's id, Kind the name of its type.
	Node, Kind string
	// Start and End are the times that the Port gave.
	Start, End time.Time
	// Output is JSON, or undefined where the node yielded nothing or failed.
	Output value.Value
	// Err is why the node failed; it ends the run.
	Err error
	// Edge is the index of the edge taken among the node's Edges, graph.NoEdge
	// at the exit and where the node failed.
	Edge int
	// Server and Tool are what the node calls upstream, Arguments what it sent
	// there. The first two are empty where the node calls nothing, and Arguments
	// is undefined where they could not be evaluated.
	Server, Tool string
	Arguments    value.Value
	// Attempts and FromCache are those of the node's upstream call, 0 and false
	// where it made none.
	Attempts  int
	FromCache bool
}

// Run is one call of a tool: its history, and where it stands. One goroutine
// drives it with Next and Advance; everything else may be called by others
// meanwhile.
type Run struct {
	graph *graph.Graph
	args  value.Value

	mu      sync.RWMutex
	history []Record
	// Indexed by graph.Node.Index: the places in history of a node's
	// executions, and their outputs. Both only grow.
	places  [][]int
	outputs [][]value.Value
	next    *graph.Node
	done    bool
}

var _ expr.History = (*Run)(nil)

// NewRun starts a run of g at its entry. g must be free of errors; args are
// those of the call, an object.
func NewRun(g *graph.Graph, args value.Value) *Run {
	return &Run{
		graph: g, args: args, next: g.Entry,
		history: make([]Record, 0, min(len(g.Nodes), 16)),
		places:  make([][]int, len(g.Nodes)),
		outputs: make([][]value.Value, len(g.Nodes)),
	}
}

// Graph gives what is run.
func (r *Run) Graph() *graph.Graph { return r.graph }

// Args gives the arguments of the call.
func (r *Run) Args() value.Value { return r.args }

var errDone = errors.New("the run is over")

// Next gives the node to execute now. The error is a *LimitError where the
// graph allows no more executions.
func (r *Run) Next() (*graph.Node, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.done {
		return nil, errDone
	}
	if limit := r.graph.Limits.MaxNodeExecutions; len(r.history) >= limit {
		return r.next, &LimitError{MaxExecutions: limit, Executions: len(r.history)}
	}
	return r.next, nil
}

// Advance puts the execution of the node that Next gave into the history and
// goes along rec.Edge. It sets Index, Node, Kind, Server and Tool of the record
// itself. A record with an Err ends the run. The error is for an edge that the node does
// not have; the run then stays where it is.
func (r *Run) Advance(rec Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return errDone
	}
	node := r.next
	if rec.Err != nil {
		rec.Edge = graph.NoEdge
	} else if err := checkEdge(node, rec.Edge); err != nil {
		return err
	}
	rec.Index, rec.Node, rec.Kind = len(r.history), node.ID, node.Kind.Name
	rec.Server, rec.Tool = node.Server, node.Tool
	r.history = grow(r.history, rec)
	if rec.Err == nil {
		r.places[node.Index] = grow(r.places[node.Index], rec.Index)
		r.outputs[node.Index] = grow(r.outputs[node.Index], rec.Output)
	}
	if rec.Edge == graph.NoEdge {
		r.done, r.next = true, nil
		return nil
	}
	r.next = node.Edges[rec.Edge].To
	return nil
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

// checkEdge refuses a way that the node did not declare.
func checkEdge(n *graph.Node, edge int) error {
	if n.Kind.Role == graph.Exit && edge == graph.NoEdge || edge >= 0 && edge < len(n.Edges) {
		return nil
	}
	return fmt.Errorf("the node went along edge %d, but it has %d", edge, len(n.Edges))
}

// Done reports whether the run has ended, well or not.
func (r *Run) Done() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.done
}

// Result gives the tool's result: what the exit node was given, null where that
// is nothing. It is undefined until the run has ended well.
func (r *Run) Result() value.Value {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.done || r.history[len(r.history)-1].Err != nil {
		return value.Undef
	}
	if v := r.history[len(r.history)-1].Output; !v.IsUndefined() {
		return v
	}
	return value.NullValue
}

// History gives every execution so far, in order. The slice must not be
// modified.
func (r *Run) History() []Record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clip(r.history)
}

// Len gives the number of executions so far.
func (r *Run) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.history)
}

// Previous implements expr.History.
func (r *Run) Previous(n int) (value.Value, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if i := len(r.history) - n; n >= 1 && i >= 0 {
		return r.history[i].Output, true
	}
	return value.Undef, false
}

// Outputs implements expr.History.
func (r *Run) Outputs(id string) []value.Value {
	n := r.graph.Node(id)
	if n == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clip(r.outputs[n.Index])
}

// Document implements expr.History. What it gives stays as it is while the run
// goes on.
func (r *Run) Document() value.Value { return r.ContextAt(r.Len()) }

// ContextAt gives the document that expressions of the i-th execution saw: for
// each node that had run before it, the latest output. A place beyond the end
// of the history means its end.
func (r *Run) ContextAt(i int) value.Value {
	return value.FromSource(&document{run: r, length: min(max(i, 0), r.Len())})
}

// document is the state of a run after its first executions. The run only
// grows, so its answers never change.
type document struct {
	run    *Run
	length int
}

// Lookup implements value.Source.
func (d *document) Lookup(id string) value.Value {
	n := d.run.graph.Node(id)
	if n == nil {
		return value.Undef
	}
	d.run.mu.RLock()
	defer d.run.mu.RUnlock()
	if i := d.latest(n.Index); i >= 0 {
		return d.run.outputs[n.Index][i]
	}
	return value.Undef
}

// latest gives which execution of a node is the last one of the document, -1
// where there is none. Nearly always it is the last one there is.
func (d *document) latest(node int) int {
	places := d.run.places[node]
	last := len(places) - 1
	if last < 0 || places[last] < d.length {
		return last
	}
	return sort.SearchInts(places, d.length) - 1
}

// Entries implements value.Source: the latest execution comes first.
func (d *document) Entries() []value.Entry {
	d.run.mu.RLock()
	defer d.run.mu.RUnlock()
	type item struct {
		place int
		entry value.Entry
	}
	var items []item
	for _, n := range d.run.graph.Nodes {
		i := d.latest(n.Index)
		if i < 0 {
			continue
		}
		if v := d.run.outputs[n.Index][i]; !v.IsUndefined() {
			items = append(items, item{d.run.places[n.Index][i], value.Entry{Key: n.ID, Value: v}})
		}
	}
	slices.SortFunc(items, func(a, b item) int { return b.place - a.place })
	entries := make([]value.Entry, len(items))
	for i := range items {
		entries[i] = items[i].entry
	}
	return entries
}

package executor

import (
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// NodeRun is a run of one node over a given document, as if its walk had come there.
type NodeRun struct {
	*Run
	only *frame
}

// NewNodeRun returns a run of n, which is a node of a tool or of a body in it. The run
// ends after n. What the members of the document are:
//
//   - the id of a node of the tool, or of a body that n is in: the latest output of
//     that node. The members are in the order of execution, so the last one is the
//     output before n. That of the entry of the tool is also what the tool was given.
//   - $ and the name of a variable: that of a body that n is in, such as $item.
//
// Other members have no effect.
func NewNodeRun(n *graph.Node, document value.Value, seed uint64) *NodeRun {
	bodies := []*graph.Graph{n.Graph} // innermost first
	for bodies[len(bodies)-1].Owner != nil {
		bodies = append(bodies, bodies[len(bodies)-1].Owner.Graph)
	}
	slices.Reverse(bodies)
	tool := bodies[0]
	r := &Run{graph: tool, seed: seed}
	r.clock.active = 1
	r.root.init(r, tool, document.Get(tool.Entry.ID), nil, 0)
	f := &r.root
	f.supply(document)
	for _, g := range bodies[1:] {
		f = f.stepInto(g, document)
	}
	f.env.Vars = variablesOf(document)
	f.node = n
	r.only = f
	r.push(f)
	return &NodeRun{r, f}
}

// Record returns what came of the node, and reports false while nothing has.
func (n *NodeRun) Record() (Record, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.only.last
	if last == nil || last.event == Retried {
		return Record{}, false
	}
	return last.record(), true
}

// supply puts the outputs in a document into the history of a walk.
func (f *frame) supply(document value.Value) {
	for _, m := range document.Entries() {
		if n := f.graph.Node(m.Key); n != nil {
			e := f.past.entry()
			e.frame, e.node, e.event, e.output = f, n, Done, m.Value
			e.execution, e.try = int32(len(f.past.executions)), 1
			f.add(e)
		}
	}
}

// stepInto returns the walk of a body, of the execution of its owner that is next in
// the walk f. What the body was given is its item.
func (f *frame) stepInto(g *graph.Graph, document value.Value) *frame {
	f.node = g.Owner
	spread := f.node.Spread
	o := &opened{frame: f, node: f.node, execution: len(f.past.executions), do: graph.Fork, bodies: len(f.node.Bodies)}
	slot := slices.Index(f.node.Bodies, g)
	if spread.Each {
		o.items, o.bodies = []value.Value{document.Get("$" + spread.As)}, 1
		slot = 0
	}
	o.next = o.bodies
	o.results, o.had = make([]value.Value, o.bodies), make([]bool, o.bodies)
	f.run.set(f, joining)
	f.opened = o
	body := o.begin(slot)
	f.run.clock.active++
	body.supply(document)
	return body
}

func variablesOf(document value.Value) []value.Entry {
	var vars []value.Entry
	for _, m := range document.Entries() {
		if name, ok := strings.CutPrefix(m.Key, "$"); ok {
			vars = append(vars, value.Entry{Key: name, Value: m.Value})
		}
	}
	return vars
}

package debug

import (
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// StackFrame is an execution under way: one that stands in a body or a called tool, or
// one whose bodies or tool run.
type StackFrame struct {
	// Frame names the walk that it is part of, as [executor.Record.Frame] does.
	Frame string
	// Path is where the node stands, for people.
	Path string
	Node *graph.Node
	// Execution counts the executions of the walk from 0, Attempt those of the node
	// from 1.
	Execution, Attempt int
	// Scope is what the expressions of the node see.
	Scope executor.Scope
}

// StackOf is Stack for any walk that is under way. It is nil if none has the name.
func (in *inspector) StackOf(frame string) []StackFrame {
	at, ok := in.activeIn(in.actives(), frame)
	if !ok {
		return nil
	}
	return append([]StackFrame{at}, in.around(frame)...)
}

// around returns the executions around a walk, the innermost first.
func (in *inspector) around(frame string) []StackFrame {
	var list []StackFrame
	for all := in.actives(); frame != ""; {
		frame = outer(frame)
		if at, ok := in.activeIn(all, frame); ok {
			list = append(list, at)
		}
	}
	return list
}

// actives returns the executions under way by their walks.
func (in *inspector) actives() map[string]executor.Activity {
	all := map[string]executor.Activity{}
	for _, a := range in.run.Active(maxActive * maxActive) {
		all[a.Frame] = a
	}
	return all
}

func (in *inspector) activeIn(all map[string]executor.Activity, frame string) (StackFrame, bool) {
	a, ok := all[frame]
	if !ok {
		return StackFrame{}, false
	}
	n, scope := in.nodeOf(a.Key), executor.Scope{}
	if scope, ok = in.run.FrameScope(frame); !ok || n == nil {
		return StackFrame{}, false
	}
	return StackFrame{Frame: frame, Path: a.Path, Node: n, Execution: a.Execution, Attempt: a.Try, Scope: scope}, true
}

// nodeOf returns the node with a key, or nil.
func (in *inspector) nodeOf(key string) *graph.Node {
	for _, n := range in.nodes.all {
		if n.Key() == key {
			return n
		}
	}
	return nil
}

// Nodes returns the nodes that a name means, which is as that of a [Breakpoint].
func (in *inspector) Nodes(name string) ([]*graph.Node, error) { return in.nodes.find(name) }

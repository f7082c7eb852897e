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

// Stack returns the executions from the one at which the run is paused outwards, to
// that of the tool's own walk. It is nil while the run goes on.
func (s *Session) Stack() []StackFrame {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold == nil {
		return nil
	}
	p := hold.pause
	n := s.nodeOf(p.Key)
	if n == nil {
		return nil
	}
	at := StackFrame{Frame: p.Frame, Path: p.Path, Node: n, Execution: p.Execution, Attempt: p.Attempt, Scope: hold.scope.Latest()}
	return append([]StackFrame{at}, s.around(p.Frame)...)
}

// StackOf is Stack for any walk that is under way. It is nil if none has the name.
func (s *Session) StackOf(frame string) []StackFrame {
	at, ok := s.activeIn(s.actives(), frame)
	if !ok {
		return nil
	}
	return append([]StackFrame{at}, s.around(frame)...)
}

// around returns the executions around a walk, the innermost first.
func (s *Session) around(frame string) []StackFrame {
	var list []StackFrame
	for all := s.actives(); frame != ""; {
		frame = outer(frame)
		if at, ok := s.activeIn(all, frame); ok {
			list = append(list, at)
		}
	}
	return list
}

// actives returns the executions under way by their walks.
func (s *Session) actives() map[string]executor.Activity {
	all := map[string]executor.Activity{}
	for _, a := range s.run.Active(maxActive * maxActive) {
		all[a.Frame] = a
	}
	return all
}

func (s *Session) activeIn(all map[string]executor.Activity, frame string) (StackFrame, bool) {
	a, ok := all[frame]
	if !ok {
		return StackFrame{}, false
	}
	n, scope := s.nodeOf(a.Key), executor.Scope{}
	if scope, ok = s.run.FrameScope(frame); !ok || n == nil {
		return StackFrame{}, false
	}
	return StackFrame{Frame: frame, Path: a.Path, Node: n, Execution: a.Execution, Attempt: a.Try, Scope: scope}, true
}

// nodeOf returns the node with a key, or nil.
func (s *Session) nodeOf(key string) *graph.Node {
	for _, n := range s.nodes.all {
		if n.Key() == key {
			return n
		}
	}
	return nil
}

// Nodes returns the nodes that a name means, which is as that of a [Breakpoint].
func (s *Session) Nodes(name string) ([]*graph.Node, error) { return s.nodes.find(name) }

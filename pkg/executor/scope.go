package executor

import (
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Scope is what the expressions of one execution see of its run: the document and
// the history before it, and the variables of the bodies around it. It stands still
// while the run goes on, and is safe for concurrent use.
type Scope struct {
	frame   *frame
	length  int
	version int32
}

var _ expr.History = Scope{}

// Scope returns what the expressions of the task see.
func (t Task) Scope() Scope {
	return Scope{t.frame, t.execution, t.frame.run.replacements.Load()}
}

// ScopeAt returns what the expressions of the execution saw that the record with
// this index is about. It reports false if there is no such record (any more), or if
// nothing but the record is known of the execution.
func (r *Run) ScopeAt(index int) (Scope, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.log.search(index)
	if i == len(r.log.list) || r.log.list[i].index != index || r.log.list[i].extra.get().foreign != nil {
		return Scope{}, false
	}
	e := r.log.list[i]
	version := int32(0)
	for _, at := range r.replaced {
		if at < index {
			version++
		}
	}
	return Scope{e.frame, int(e.execution), version}, true
}

// EndScope returns what an expression at the end of the tool's own walk sees, as the
// walk is now.
func (r *Run) EndScope() Scope {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Scope{&r.root, len(r.root.past.executions), r.replacements.Load()}
}

// FrameScope returns what the next execution of a walk sees, which is named as in
// [Record.Frame]. It reports false if the walk is not under way.
func (r *Run) FrameScope(id string) (Scope, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, _, _, err := r.find(id, false)
	if err != nil || f == nil {
		return Scope{}, false
	}
	return Scope{f, len(f.past.executions), r.replacements.Load()}, true
}

// Latest returns the scope with the outputs that were replaced since.
func (s Scope) Latest() Scope {
	s.version = s.frame.run.replacements.Load()
	return s
}

// Document implements expr.History.
func (s Scope) Document() value.Value {
	return value.FromSource(&document{s.frame, int32(s.length), s.version})
}

// Variables returns the variables that expressions see, by name, without the dollar
// sign. Of two with one name the later one counts. The slice must not be modified.
func (s Scope) Variables() []value.Entry { return s.frame.env.Vars }

// Previous implements expr.History.
func (s Scope) Previous(n int) (value.Value, bool) {
	s.frame.run.mu.Lock()
	defer s.frame.run.mu.Unlock()
	if i := s.length - n; n >= 1 && i >= 0 {
		return s.frame.past.executions[i].at(s.version).output, true
	} else if i == -1 && s.frame.isBody() {
		return s.frame.in.Args, true
	}
	return value.Undef, false
}

// Outputs implements expr.History.
func (s Scope) Outputs(id string) []value.Value {
	s.frame.run.mu.Lock()
	defer s.frame.run.mu.Unlock()
	f, length := s.frame, s.length
	for f != nil {
		if n := f.graph.Node(id); n != nil {
			return f.past.outputsAt(n, length, s.version)
		}
		f, length = f.around()
	}
	return nil
}

// Last returns the record of the latest execution of a node that the expressions see,
// in the walk itself or in one around it. It reports false if there is none.
func (s Scope) Last(id string) (Record, bool) {
	s.frame.run.mu.Lock()
	defer s.frame.run.mu.Unlock()
	f, length := s.frame, s.length
	for f != nil {
		if n := f.graph.Node(id); n != nil {
			if _, place := f.past.latest(n, length, s.version); place >= 0 {
				return f.past.executions[place].at(s.version).record(), true
			}
			return Record{}, false
		}
		f, length = f.around()
	}
	return Record{}, false
}

// Nodes returns the ids of the nodes of the walk and of the walks around it.
func (s Scope) Nodes() []string {
	var ids []string
	for f := s.frame; f != nil; f, _ = f.around() {
		for _, n := range f.graph.Nodes {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

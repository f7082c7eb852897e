package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// frameInfo describes the frames of one function, or of one block or path
// whose variables can outlive it.
type frameInfo struct {
	parent *frameInfo
	size   int
	pooled bool // nothing can refer to such a frame once its function is done
}

// elided frames hold nothing and are left out of the chain.
func (i *frameInfo) elided() bool { return i.parent != nil && i.size == 0 }

// depth is the number of frames around one.
func (i *frameInfo) depth() int {
	n := 0
	for ; i != nil; i = i.parent {
		if !i.elided() {
			n++
		}
	}
	return n
}

// add returns the place of a new cell.
func (i *frameInfo) add() int {
	i.size++
	return i.size - 1
}

// scope holds the variables that one piece of source can bind.
type scope struct {
	parent *scope
	info   *frameInfo
	names  map[string]int
	cells  []int // the places of names, in the order of their declaration
	eval   bool  // the source calls $eval: scopes are looked into by name
}

// declare returns the cell of a variable of the scope.
func (s *scope) declare(name string) int {
	if i, ok := s.names[name]; ok {
		return i
	}
	if s.names == nil {
		s.names = make(map[string]int)
	}
	i := s.info.add()
	s.names[name] = i
	s.cells = append(s.cells, i)
	return i
}

// cellRef leads from a frame to a cell.
type cellRef struct {
	hops, index int
}

// refsTo returns the cells that can hold a variable, innermost first.
func (s *scope) refsTo(name string, from *frameInfo) []cellRef {
	var refs []cellRef
	for ; s != nil; s = s.parent {
		if i, ok := s.names[name]; ok {
			refs = append(refs, cellRef{hops: from.depth() - s.info.depth(), index: i})
		}
	}
	return refs
}

// lookup finds the first of the cells that is set.
func lookup(refs []cellRef, f *frame) (value.Value, bool) {
	for _, r := range refs {
		g := f
		for range r.hops {
			g = g.up
		}
		if c := &g.cells[r.index]; c.set {
			return c.v, true
		}
	}
	return value.Undef, false
}

// lookupExtra finds a variable that source given to $eval has bound.
func lookupExtra(name string, f *frame) (value.Value, bool) {
	for ; f != nil; f = f.up {
		if v, ok := f.extra[name]; ok {
			return v, true
		}
	}
	return value.Undef, false
}

// reset makes the variables of a block unset, as they are each time the block
// begins.
func reset(cells []int, f *frame) {
	for _, i := range cells {
		f.cells[i] = cell{}
	}
}

package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// pathNode evaluates step after step, each on every item that the one before it
// gave, and flattens the results into one sequence.
type pathNode struct {
	steps   []step
	keep    bool // an array of one stays an array
	wrap    bool // an array constructor becomes one element
	exposed bool // a path around it may take over its tuples
	asInput bool // the first step is a variable: an array context is one item
	cons    bool // the first step is an array constructor
	group   *groupNode
	tuples  *tupleScope // where some step binds a variable or a parent
	off     int
}

type stepKind uint8

const (
	stepName stepKind = iota
	stepNode
	stepSort
)

// step is one step of a path with the stages behind it.
type step struct {
	kind    stepKind
	name    string
	keep    bool // of a name: one array found in an array stays inside another
	node    node
	sort    *sortNode
	filters []filter

	// Of paths that carry tuples: offsets into a tuple, -1 for none.
	tuple                  bool
	focus, index, ancestor int
	nested                 tupleSource
	nestedTo               []int    // where the cells of nested's tuples go
	nestedFilters          []filter // those of nested itself, for each input
}

func (c *compiler) path(n *ast) *pathNode {
	p := &pathNode{keep: n.keepSingleton || n.keepArray, wrap: n.keepSingleton, exposed: n.tuple, off: n.off}
	first := n.list[0]
	p.asInput = first.kind == astVariable
	p.cons = first.consArray
	tuple := false
	for _, s := range n.list {
		tuple = tuple || s.tuple
	}
	if !tuple {
		c.steps(p, n)
		return p
	}
	t := &tupleScope{info: c.ownFrame(n.closes)}
	t.own = t.info != c.scope.info
	p.tuples = t
	s := c.within(t.info, func(s *scope) {
		t.base = t.info.size
		for _, name := range tupleNames(n) {
			s.declare(name)
		}
		t.size = t.info.size - t.base
		t.names = s
		c.steps(p, n)
	})
	c.pending = append(c.pending, func() {
		t.cells = s.cells
		t.own = t.own && !t.info.elided()
	})
	return p
}

func (c *compiler) steps(p *pathNode, n *ast) {
	p.steps = make([]step, len(n.list))
	for i, s := range n.list {
		st := &p.steps[i]
		st.tuple = s.tuple
		st.focus, st.index, st.ancestor = -1, -1, -1
		if t := p.tuples; t != nil {
			if s.focus != "" {
				st.focus = t.offset(s.focus)
			}
			if s.index != "" {
				st.index = t.offset(s.index)
			}
			if s.ancestor != nil {
				st.ancestor = t.offset(labelName(s.ancestor))
			}
		}
		switch {
		case s.kind == astName && len(s.predicate) == 0 && s.group == nil:
			st.kind = stepName
			st.name = s.text
			st.keep = s.keepArray
		case s.kind == astSort:
			st.kind = stepSort
			st.sort = c.sort(s)
		default:
			st.kind = stepNode
			inner := s
			if s.kind == astBlock && s.tuple && s.group == nil {
				// The predicates see what the steps inside bind.
				bare := *s
				bare.predicate, bare.keepArray = nil, false
				inner = &bare
			}
			st.node = c.node(inner)
			src, ok := st.node.(tupleSource)
			switch {
			case ok && s.tuple && src.yields():
				st.nested = src
				st.nestedTo = p.tuples.offsets(src)
				for _, stage := range s.predicate {
					st.nestedFilters = append(st.nestedFilters, c.filter(stage))
				}
			case inner != s:
				st.node = c.node(s)
			}
		}
		for _, stage := range s.stages {
			f := c.filter(stage)
			if stage.expr == nil {
				f.index = float64(p.tuples.offset(stage.index))
			}
			st.filters = append(st.filters, f)
		}
	}
	if n.group != nil {
		p.group = c.group(n.group.pairs, n.group.off)
	}
}

// stream is what lies between two steps: one value, or an array of them.
type stream struct {
	v    value.Value
	many bool
}

func (s stream) items(one *[1]value.Value) []value.Value {
	if s.many {
		return s.v.Elems()
	}
	one[0] = s.v
	return one[:]
}

func (p *pathNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if p.tuples != nil {
		return p.evalTuples(ev, f, in)
	}
	if err := ev.enter(p.off); err != nil {
		return value.Undef, err
	}
	s := stream{in, in.Kind() == value.Array && !p.asInput}
	i := 0
	empty := false
	if p.cons {
		var err *Error
		if s, err = p.construct(ev, f, s); err != nil {
			return value.Undef, err
		}
		empty = s.v.IsUndefined() || s.many && s.v.Len() == 0
		i = 1
	}
	for ; i < len(p.steps) && !empty; i++ {
		st := &p.steps[i]
		// Most steps name a member of an object.
		if st.kind == stepName && !s.many && len(st.filters) == 0 && s.v.Kind() == value.Object {
			v := s.v.Get(st.name)
			if v.Kind() != value.Array {
				s.v = v
				empty = v.IsUndefined()
				continue
			}
			s, empty = single(v, i == len(p.steps)-1)
			continue
		}
		var err *Error
		s, empty, err = st.run(ev, f, s, i == len(p.steps)-1)
		if err != nil {
			return value.Undef, err
		}
	}
	ev.leave()
	if p.group != nil {
		return p.group.eval(ev, f, p.groupable(s, empty))
	}
	return p.finish(s), nil
}

// groupable returns what a grouping behind the path sees of its last stream.
func (p *pathNode) groupable(s stream, empty bool) stream {
	switch {
	case p.wrap && s.many && s.v.Flags()&(value.Cons|value.Sequence) == value.Cons:
		return stream{v: s.v}
	case empty:
		return stream{}
	}
	return s
}

// construct evaluates an array constructor at the beginning of a path, once
// for the whole input.
func (p *pathNode) construct(ev *evaluator, f *frame, s stream) (stream, *Error) {
	if !s.many {
		s.v = value.FromArray([]value.Value{s.v}).WithFlags(value.Sequence)
	}
	v, err := p.steps[0].node.eval(ev, f, s.v)
	if v.Kind() != value.Array && len(p.steps) > 1 {
		// What predicates reduce to one item has no items for the next step.
		return stream{}, err
	}
	return stream{v, v.Kind() == value.Array}, err
}

// finish turns the last stream into the value of the path.
func (p *pathNode) finish(s stream) value.Value {
	if !s.many {
		if p.keep && !s.v.IsUndefined() {
			return value.FromArray([]value.Value{s.v}).WithFlags(value.Sequence | value.KeepSingleton)
		}
		return s.v
	}
	if p.keep {
		switch flags := s.v.Flags(); {
		case flags&value.Sequence != 0:
			s.v = s.v.WithFlags(flags | value.KeepSingleton)
		case flags&value.Cons != 0 && p.wrap:
			return value.FromArray([]value.Value{s.v}).WithFlags(value.Sequence | value.KeepSingleton)
		}
	}
	return unwrap(s.v)
}

// unwrap reduces a sequence of one to its element and an empty one to
// undefined.
func unwrap(v value.Value) value.Value {
	if v.Flags()&value.Sequence == 0 {
		return v
	}
	return reduced(v)
}

func reduced(v value.Value) value.Value {
	switch elems := v.Elems(); {
	case len(elems) == 0:
		return value.Undef
	case len(elems) == 1 && v.Flags()&value.KeepSingleton == 0:
		return elems[0]
	}
	return v
}

// single makes the stream of what a step gave for its only item.
func single(v value.Value, last bool) (s stream, empty bool) {
	if v.Kind() != value.Array {
		return stream{v, false}, v.IsUndefined()
	}
	flags := v.Flags()
	if last && flags&value.Sequence == 0 {
		return stream{v, true}, v.Len() == 0
	}
	if flags&value.Cons != 0 {
		return stream{v, false}, false
	}
	return stream{v.WithFlags(value.Sequence), true}, v.Len() == 0
}

// run evaluates the step on a stream.
func (st *step) run(ev *evaluator, f *frame, s stream, last bool) (stream, bool, *Error) {
	if st.kind == stepSort {
		v, err := st.sort.run(ev, f, s)
		if err != nil {
			return stream{}, false, err
		}
		for i := range st.filters {
			if v, err = st.filters[i].run(ev, f, v); err != nil {
				return stream{}, false, err
			}
		}
		return stream{v, v.Kind() == value.Array}, v.IsUndefined() || v.Kind() == value.Array && v.Len() == 0, nil
	}
	if !s.many {
		v, err := st.one(ev, f, s.v)
		if err != nil {
			return stream{}, false, err
		}
		s, empty := single(v, last)
		return s, empty, nil
	}
	var out collector
	items := s.v.Elems()
	for i, item := range items {
		v, err := st.one(ev, f, item)
		if err != nil {
			return stream{}, false, err
		}
		if v.IsUndefined() {
			continue
		}
		if out.seq == nil && out.n == 0 && len(items) > 1 {
			out.room = len(items) - i
		}
		if err := out.add(ev, v); err != nil {
			return stream{}, false, err
		}
	}
	v, err := out.result(ev, last)
	return stream{v, true}, v.Len() == 0, err
}

// one evaluates the step and its filters on one item.
func (st *step) one(ev *evaluator, f *frame, item value.Value) (value.Value, *Error) {
	if err := ev.spend(1); err != nil {
		return value.Undef, err
	}
	var v value.Value
	var err *Error
	if st.kind == stepName {
		if item.Kind() == value.Object {
			v = item.Get(st.name)
		} else if v, err = st.member(ev, item); err != nil {
			return v, err
		}
	} else if v, err = st.node.eval(ev, f, item); err != nil {
		return v, err
	}
	for i := range st.filters {
		if v, err = st.filters[i].run(ev, f, v); err != nil {
			return v, err
		}
	}
	return v, nil
}

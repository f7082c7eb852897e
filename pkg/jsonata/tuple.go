package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// tupleScope holds the variables that the steps of a path bind: focus (@),
// index (#) and the inputs that % asks for.
type tupleScope struct {
	info       *frameInfo
	own        bool // each tuple gets a frame of its own
	base, size int  // cells of the frame that a tuple fills
	cells      []int
	names      *scope
}

func (t *tupleScope) offset(name string) int { return t.names.declare(name) - t.base }

// offsets returns where the cells of tuples from an inner path go.
func (t *tupleScope) offsets(src tupleSource) []int {
	inner := src.scope()
	to := make([]int, inner.size)
	for name, at := range inner.names.names {
		if i := at - inner.base; i < inner.size {
			to[i] = t.offset(name)
		}
	}
	return to
}

// tuple is one item of a path that binds variables, and what is bound so far.
type tuple struct {
	at    value.Value
	cells []cell
}

// enter returns the frame in which an expression sees a tuple.
func (t *tupleScope) enter(ev *evaluator, f *frame, tp *tuple) *frame {
	if t.own {
		f = ev.newFrame(t.info, f)
	} else {
		reset(t.cells, f)
	}
	copy(f.cells[t.base:t.base+t.size], tp.cells)
	return f
}

// blank returns the frame in which nothing is bound yet.
func (t *tupleScope) blank(ev *evaluator, f *frame) *frame { return t.enter(ev, f, &tuple{}) }

// tupleSource is a node whose tuples become part of those of the path around
// it.
type tupleSource interface {
	node
	yields() bool
	scope() *tupleScope
	// tuplesOf returns tuples, or a value if there are none to give.
	tuplesOf(ev *evaluator, f *frame, in value.Value) ([]tuple, value.Value, *Error)
}

var (
	_ tupleSource = (*pathNode)(nil)
	_ tupleSource = (*blockNode)(nil)
)

// tupleNames lists the variables that the steps of a path bind, those of
// nested paths that yield their tuples included.
func tupleNames(n *ast) []string {
	var names []string
	for _, s := range n.list {
		if s.focus != "" {
			names = append(names, s.focus)
		}
		if s.index != "" {
			names = append(names, s.index)
		}
		if s.ancestor != nil {
			names = append(names, labelName(s.ancestor))
		}
		for _, st := range s.stages {
			if st.expr == nil {
				names = append(names, st.index)
			}
		}
		inner := s
		for inner.kind == astBlock && inner.tuple && len(inner.list) > 0 {
			inner = inner.list[len(inner.list)-1]
		}
		if inner != s && inner.kind == astPath && inner.tuple {
			names = append(names, tupleNames(inner)...)
		}
	}
	return names
}

func (p *pathNode) yields() bool       { return p.tuples != nil && p.group == nil && p.exposed }
func (p *pathNode) scope() *tupleScope { return p.tuples }

func (p *pathNode) tuplesOf(ev *evaluator, f *frame, in value.Value) ([]tuple, value.Value, *Error) {
	ts, s, isTuples, _, err := p.walk(ev, f, in)
	if err != nil || isTuples {
		return ts, value.Undef, err
	}
	return nil, p.finish(s), nil
}

// evalTuples evaluates a path of which some step binds a variable.
func (p *pathNode) evalTuples(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	if err := ev.enter(p.off); err != nil {
		return value.Undef, err
	}
	ts, s, isTuples, empty, err := p.walk(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	ev.leave()
	if p.group != nil {
		if isTuples {
			return p.group.evalTuples(ev, f, p.tuples, ts)
		}
		return p.group.eval(ev, p.tuples.blank(ev, f), p.groupable(s, empty))
	}
	if isTuples {
		if err := ev.cells(len(ts)); err != nil {
			return value.Undef, err
		}
		out := make([]value.Value, len(ts))
		for i := range ts {
			out[i] = ts[i].at
		}
		s = stream{value.FromArray(out).WithFlags(value.Sequence), true}
	}
	return p.finish(s), nil
}

// walk takes the steps: plainly up to the first that binds something, with
// tuples from there on.
func (p *pathNode) walk(ev *evaluator, f *frame, in value.Value) (ts []tuple, s stream, isTuples, empty bool, err *Error) {
	plain := p.tuples.blank(ev, f)
	s = stream{in, in.Kind() == value.Array && !p.asInput}
	for i := range p.steps {
		st := &p.steps[i]
		begins := st.tuple && !isTuples
		isTuples = isTuples || st.tuple
		switch {
		case p.cons && i == 0:
			var made stream
			if made, err = p.construct(ev, plain, s); err != nil {
				return nil, s, false, false, err
			}
			empty = made.many && made.v.Len() == 0 || made.v.IsUndefined()
			if st.focus < 0 {
				s = made
			}
			if begins {
				// With a focus the array is not what the next step starts from.
				empty = false
				ts, err = tuplesOf(ev, s)
			}
		case begins && st.kind == stepSort:
			if ts, err = p.sortedTuples(ev, plain, st, s); err == nil {
				ts, err = p.stages(ev, f, st.filters, ts)
			}
		case begins:
			if ts, err = tuplesOf(ev, s); err == nil {
				ts, err = p.stepTuples(ev, f, st, ts)
			}
		case isTuples:
			ts, err = p.stepTuples(ev, f, st, ts)
		default:
			s, empty, err = st.run(ev, plain, s, i == len(p.steps)-1)
		}
		if err != nil {
			return nil, s, false, false, err
		}
		if empty {
			break
		}
	}
	return ts, s, isTuples, empty, nil
}

// tuplesOf makes a tuple of each item of a stream.
func tuplesOf(ev *evaluator, s stream) ([]tuple, *Error) {
	var one [1]value.Value
	items := s.items(&one)
	if err := ev.meter(tupleBytes * len(items)); err != nil {
		return nil, err
	}
	ts := make([]tuple, len(items))
	for i, item := range items {
		ts[i] = tuple{at: item}
	}
	return ts, nil
}

// sortedTuples begins the tuples of a path at an order-by.
func (p *pathNode) sortedTuples(ev *evaluator, f *frame, st *step, s stream) ([]tuple, *Error) {
	v, err := st.sort.run(ev, f, s)
	if err != nil {
		return nil, err
	}
	if err := ev.meter((tupleBytes + variableBytes*p.tuples.size) * v.Len()); err != nil {
		return nil, err
	}
	ts := make([]tuple, v.Len())
	for i, item := range v.Elems() {
		ts[i] = tuple{at: item}
		ts[i].bind(p.tuples, st.index, value.FromFloat(float64(i)))
	}
	return ts, nil
}

// bind sets one variable of a tuple.
func (tp *tuple) bind(t *tupleScope, i int, v value.Value) {
	if i < 0 {
		return
	}
	if tp.cells == nil {
		tp.cells = make([]cell, t.size)
	}
	tp.cells[i] = cell{v, true}
}

// stepTuples evaluates a step in every tuple; each result makes a tuple.
func (p *pathNode) stepTuples(ev *evaluator, f *frame, st *step, in []tuple) ([]tuple, *Error) {
	t := p.tuples
	if st.kind == stepSort {
		if err := ev.meter(tupleBytes * len(in)); err != nil {
			return nil, err
		}
		out := make([]tuple, len(in))
		err := st.sort.order(ev, len(in), func(i int, key node) (value.Value, *Error) {
			return key.eval(ev, t.enter(ev, f, &in[i]), in[i].at)
		}, func(i, at int) { out[i] = in[at] })
		if err != nil {
			return nil, err
		}
		return p.stages(ev, f, st.filters, out)
	}
	var out []tuple
	for i := range in {
		tp := &in[i]
		g := t.enter(ev, f, tp)
		var inner []tuple
		var v value.Value
		var err *Error
		switch {
		case st.nested != nil:
			inner, v, err = st.nested.tuplesOf(ev, g, tp.at)
		case st.kind == stepName:
			v, err = st.member(ev, tp.at)
		default:
			v, err = st.node.eval(ev, g, tp.at)
		}
		if err != nil {
			return nil, err
		}
		n := len(inner)
		var one [1]value.Value
		var items []value.Value
		if inner == nil && !v.IsUndefined() {
			items = stream{v, v.Kind() == value.Array}.items(&one)
			n = len(items)
		}
		if err := ev.spend(n + 1); err != nil {
			return nil, err
		}
		if len(out)+n > ev.limits.Sequence {
			return nil, newError("D2015", p.off, details{index: ev.limits.Sequence})
		}
		if err := ev.meter(n * variableBytes * t.size); err != nil {
			return nil, err
		}
		if out, err = room(ev, out, n, tupleBytes); err != nil {
			return nil, err
		}
		before := len(out)
		for j := range n {
			next := tuple{cells: make([]cell, t.size)}
			copy(next.cells, tp.cells)
			if inner != nil {
				next.at = inner[j].at
				for k, c := range inner[j].cells {
					if c.set {
						next.cells[st.nestedTo[k]] = c
					}
				}
				out = append(out, next)
				continue
			}
			next.at = items[j]
			if st.focus >= 0 {
				next.at = tp.at
				next.bind(t, st.focus, items[j])
			}
			next.bind(t, st.index, value.FromFloat(float64(j)))
			next.bind(t, st.ancestor, tp.at)
			out = append(out, next)
		}
		if len(st.nestedFilters) > 0 {
			kept, err := p.stages(ev, f, st.nestedFilters, out[before:len(out):len(out)])
			if err != nil {
				return nil, err
			}
			if out, err = room(ev, out[:before], len(kept), tupleBytes); err != nil {
				return nil, err
			}
			out = append(out, kept...)
		}
	}
	return p.stages(ev, f, st.filters, out)
}

// stages runs filters and index binds on the tuples of a step.
func (p *pathNode) stages(ev *evaluator, f *frame, filters []filter, ts []tuple) ([]tuple, *Error) {
	for i := range filters {
		fl := &filters[i]
		if fl.binds {
			for j := range ts {
				ts[j].bind(p.tuples, int(fl.index), value.FromFloat(float64(j)))
			}
			continue
		}
		if fl.literal {
			at, ok := place(fl.index, len(ts))
			if !ok {
				return nil, nil
			}
			ts = ts[at : at+1]
			continue
		}
		var out []tuple
		for j := range ts {
			keep, err := fl.keeps(ev, p.tuples.enter(ev, f, &ts[j]), ts[j].at, j, len(ts))
			if err != nil {
				return nil, err
			}
			for ; keep > 0; keep-- {
				tp := ts[j]
				if keep > 1 {
					if err := ev.meter(variableBytes * len(tp.cells)); err != nil {
						return nil, err
					}
					tp.cells = append([]cell(nil), tp.cells...)
				}
				if len(out) >= ev.limits.Sequence {
					return nil, newError("D2015", p.off, details{index: ev.limits.Sequence})
				}
				if out, err = room(ev, out, 1, tupleBytes); err != nil {
					return nil, err
				}
				out = append(out, tp)
			}
		}
		ts = out
	}
	return ts, nil
}

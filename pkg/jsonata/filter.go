package jsonata

import (
	"math"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// filter is one [predicate] behind a step, or an index bind among them.
type filter struct {
	literal bool    // the predicate is a number as it stands
	index   float64 // that number, or the place in a tuple for an index bind
	expr    node
	off     int
	binds   bool // it is an index bind
}

// emptySequence is the result of a filter that matches nothing.
var emptySequence = value.FromArray(nil).WithFlags(value.Sequence)

// run filters what a step gave. A result that is one value and no array stands
// for the sequence of it.
func (fl *filter) run(ev *evaluator, f *frame, v value.Value) (value.Value, *Error) {
	if fl.binds {
		return v, nil
	}
	var one [1]value.Value
	items := stream{v, v.Kind() == value.Array}.items(&one)
	if fl.literal {
		if i, ok := place(fl.index, len(items)); ok && !items[i].IsUndefined() {
			return items[i], nil
		}
		return emptySequence, nil
	}
	if err := ev.enter(fl.off); err != nil {
		return value.Undef, err
	}
	var out []value.Value
	for i, item := range items {
		keep, err := fl.keeps(ev, f, item, i, len(items))
		if err != nil {
			return value.Undef, err
		}
		for ; keep > 0; keep-- {
			if out == nil {
				if len(items) == 1 && keep == 1 && item.Kind() != value.Array && !item.IsUndefined() {
					ev.leave()
					return item, nil
				}
				if out, err = room(ev, out, min(len(items)-i, 64), cellBytes); err != nil {
					return value.Undef, err
				}
			}
			if out, err = ev.push(out, item); err != nil {
				return value.Undef, err
			}
		}
	}
	ev.leave()
	return value.FromArray(out).WithFlags(value.Sequence), nil
}

// keeps evaluates the predicate on one item and returns how many times the
// item is let through: more than once where numbers repeat.
func (fl *filter) keeps(ev *evaluator, f *frame, item value.Value, i, n int) (int, *Error) {
	if err := ev.spend(1); err != nil {
		return 0, err
	}
	v, err := fl.expr.eval(ev, f, item)
	if err != nil {
		return 0, err
	}
	switch v.Kind() {
	case value.Bool:
		if v.Bool() {
			return 1, nil
		}
		return 0, nil
	case value.Number:
		if x := v.Float(); !math.IsNaN(x) {
			if math.IsInf(x, 0) {
				return 0, newError("D1001", fl.off, details{})
			}
			if at, ok := place(x, n); ok && at == i {
				return 1, nil
			}
		}
		return 0, nil
	case value.Array:
		elems := v.Elems()
		if allOf(elems, value.Number) {
			if err := ev.spend(len(elems)); err != nil {
				return 0, err
			}
			count := 0
			for _, e := range elems {
				if at, ok := place(e.Float(), n); ok && at == i {
					count++
				}
			}
			return count, nil
		}
	}
	ok, err := truth(ev, v, fl.off)
	if ok {
		return 1, err
	}
	return 0, err
}

// place returns the element that a number means: rounded down, from the end
// where it is negative.
func place(x float64, n int) (int, bool) {
	x = math.Floor(x)
	if x < 0 {
		x += float64(n)
	}
	if x >= 0 && x < float64(n) {
		return int(x), true
	}
	return 0, false
}

// allOf reports whether all elements are of one kind.
func allOf(elems []value.Value, kind value.Kind) bool {
	for i := range elems {
		if elems[i].Kind() != kind {
			return false
		}
	}
	return true
}

// truth casts a value to a boolean as $boolean does; undefined is false.
func truth(ev *evaluator, v value.Value, off int) (bool, *Error) {
	switch v.Kind() {
	case value.Bool:
		return v.Bool(), nil
	case value.Number:
		x := v.Float()
		if math.IsInf(x, 0) {
			return false, newError("D1001", off, details{})
		}
		return x != 0 && !math.IsNaN(x), nil
	case value.String:
		return v.Str() != "", nil
	case value.Array:
		return truthOfAny(ev, v.Elems(), off, 0)
	case value.Object:
		return v.Len() > 0, nil
	}
	return false, nil
}

func truthOfAny(ev *evaluator, elems []value.Value, off, depth int) (bool, *Error) {
	if depth > maxValueDepth {
		return false, stopped(off, "a value is nested too deeply")
	}
	for _, e := range elems {
		if err := ev.spend(1); err != nil {
			return false, err
		}
		var ok bool
		var err *Error
		if e.Kind() == value.Array {
			ok, err = truthOfAny(ev, e.Elems(), off, depth+1)
		} else {
			ok, err = truth(ev, e, off)
		}
		if ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// postNode evaluates predicates, a grouping and [] behind anything that is
// not a path.
type postNode struct {
	core    node
	filters []filter
	group   *groupNode
	keep    bool
}

func (p *postNode) eval(ev *evaluator, f *frame, in value.Value) (value.Value, *Error) {
	v, err := p.core.eval(ev, f, in)
	if err != nil {
		return value.Undef, err
	}
	if _, all := p.core.(descendantNode); all && v.IsUndefined() && !in.IsUndefined() {
		v = emptySequence // there is no item that predicates could see
	}
	filtered := false
	for i := range p.filters {
		if v, err = p.filters[i].run(ev, f, v); err != nil {
			return value.Undef, err
		}
		filtered = true
	}
	if p.group != nil {
		return p.group.eval(ev, f, stream{v, v.Kind() == value.Array})
	}
	if p.keep {
		switch {
		case v.Flags()&value.Sequence != 0:
			v = v.WithFlags(v.Flags() | value.KeepSingleton)
		case filtered && v.Kind() != value.Array && !v.IsUndefined():
			v = value.FromArray([]value.Value{v}).WithFlags(value.Sequence | value.KeepSingleton)
		}
	}
	return unwrap(v), nil
}

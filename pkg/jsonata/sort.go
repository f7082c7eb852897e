package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// sortNode is an order-by.
type sortNode struct {
	terms []sortKey
	off   int
}

type sortKey struct {
	node       node
	descending bool
	off        int
}

// run sorts the items of a stream.
func (s *sortNode) run(ev *evaluator, f *frame, in stream) (value.Value, *Error) {
	var one [1]value.Value
	items := in.items(&one)
	if len(items) < 2 {
		if in.many {
			return in.v, nil
		}
		return value.FromArray([]value.Value{in.v}).WithFlags(value.Sequence), nil
	}
	order, err := s.order(ev, len(items), func(i int, key node) (value.Value, *Error) {
		return key.eval(ev, f, items[i])
	})
	if err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, len(items))
	for i, at := range order {
		out[i] = items[at]
	}
	return value.FromArray(out), nil
}

// order returns the indices of n items in their order. Keys are evaluated
// when a comparison first needs them, and once.
func (s *sortNode) order(ev *evaluator, n int, eval func(i int, key node) (value.Value, *Error)) ([]int, *Error) {
	if err := ev.meter(32 * n * (1 + len(s.terms))); err != nil {
		return nil, err
	}
	type key struct {
		v     value.Value
		known bool
	}
	keys := make([]key, n*len(s.terms))
	get := func(term, i int) (value.Value, *Error) {
		k := &keys[term*n+i]
		if !k.known {
			v, err := eval(i, s.terms[term].node)
			if err != nil {
				return v, err
			}
			k.v, k.known = v, true
		}
		return k.v, nil
	}
	from := func(t, a, b int) (bool, *Error) {
		for ; t < len(s.terms); t++ {
			x, err := get(t, a)
			if err != nil {
				return false, err
			}
			y, err := get(t, b)
			if err != nil {
				return false, err
			}
			c, err := s.terms[t].compare(x, y)
			if c != 0 || err != nil {
				return c > 0, err
			}
		}
		return false, nil
	}
	// Every item's first key is needed. Where that is a plain path, nothing can
	// tell that all are looked up before the first comparison.
	if _, plain := s.terms[0].node.(*fieldsNode); plain {
		kind := value.Undefined
		for i := range n {
			v, err := get(0, i)
			if err != nil {
				return nil, err
			}
			if k := v.Kind(); i == 0 {
				kind = k
			} else if k != kind {
				kind = value.Undefined
				break
			}
		}
		descending := s.terms[0].descending
		switch kind {
		case value.Number:
			return mergeSort(ev, n, func(a, b int) (bool, *Error) {
				x, y := keys[a].v.Float(), keys[b].v.Float()
				if x < y || x > y {
					return (x > y) != descending, nil
				}
				return from(0, a, b)
			})
		case value.String:
			return mergeSort(ev, n, func(a, b int) (bool, *Error) {
				if c := value.CompareStrings(keys[a].v.Str(), keys[b].v.Str()); c != 0 {
					return (c > 0) != descending, nil
				}
				return from(1, a, b)
			})
		}
	}
	return mergeSort(ev, n, func(a, b int) (bool, *Error) { return from(0, a, b) })
}

// compare orders two keys; what is undefined comes last.
func (k *sortKey) compare(x, y value.Value) (int, *Error) {
	if x.IsUndefined() || y.IsUndefined() {
		switch {
		case !y.IsUndefined():
			return 1, nil
		case !x.IsUndefined():
			return -1, nil
		}
		return 0, nil
	}
	for _, v := range [2]value.Value{x, y} {
		if v.Kind() != value.String && v.Kind() != value.Number {
			return 0, newError("T2008", k.off, details{value: v})
		}
	}
	if x.Kind() != y.Kind() {
		return 0, newError("T2007", k.off, details{text: "a " + x.Kind().String() + " with a " + y.Kind().String()})
	}
	c := order(x, y)
	if k.descending {
		c = -c
	}
	return c, nil
}

// order compares two strings or two numbers. As in JavaScript, NaN comes
// before no number and after every other.
func order(x, y value.Value) int {
	if x.Kind() == value.String {
		return value.CompareStrings(x.Str(), y.Str())
	}
	switch a, b := x.Float(), y.Float(); {
	case a == b:
		return 0
	case a < b:
		return -1
	}
	return 1
}

// mergeSort returns the indices of n items sorted stably; swap says that a
// must come after b. The order of comparisons is fixed, so that which error
// comes first does not depend on chance.
func mergeSort(ev *evaluator, n int, swap func(a, b int) (bool, *Error)) ([]int, *Error) {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	spare := make([]int, n)
	return list, mergeRuns(ev, list, spare, swap)
}

func mergeRuns(ev *evaluator, list, spare []int, swap func(a, b int) (bool, *Error)) *Error {
	if len(list) < 2 {
		return nil
	}
	mid := len(list) / 2
	if err := mergeRuns(ev, list[:mid], spare[:mid], swap); err != nil {
		return err
	}
	if err := mergeRuns(ev, list[mid:], spare[mid:], swap); err != nil {
		return err
	}
	l, r := list[:mid], list[mid:]
	out := spare[:0]
	for len(l) > 0 && len(r) > 0 {
		if err := ev.spend(1); err != nil {
			return err
		}
		take, err := swap(l[0], r[0])
		if err != nil {
			return err
		}
		if take {
			out = append(out, r[0])
			r = r[1:]
		} else {
			out = append(out, l[0])
			l = l[1:]
		}
	}
	out = append(out, l...)
	out = append(out, r...)
	copy(list, out)
	return nil
}

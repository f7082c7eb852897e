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
	if err := ev.cells(len(items)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, len(items))
	err := s.order(ev, len(items), func(i int, key node) (value.Value, *Error) {
		return key.eval(ev, f, items[i])
	}, func(i, at int) { out[i] = items[at] })
	return value.FromArray(out), err
}

// noKey is the key of an item that has none, where undefined is a key that is
// not known yet.
var noKey = value.FromFunc("no key")

// order puts n items in their order: place is called with the new place of each
// item. Keys are evaluated when a comparison first needs them, and once.
func (s *sortNode) order(ev *evaluator, n int, eval func(i int, key node) (value.Value, *Error), place func(i, at int)) *Error {
	keys, base, err := ev.scratch(n * len(s.terms))
	if err != nil {
		return err
	}
	get := func(term, i int) (value.Value, *Error) {
		k := &keys[term*n+i]
		if k.IsUndefined() {
			v, err := eval(i, s.terms[term].node)
			if err != nil {
				return v, err
			}
			if v.IsUndefined() {
				v = noKey
			}
			*k = v
		}
		return *k, nil
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
	swap := func(a, b int) (bool, *Error) { return from(0, a, b) }
	// Every item's first key is needed. Where that is a plain path, it is not
	// observable that all are looked up before the first comparison.
	if _, plain := s.terms[0].node.(*fieldsNode); plain {
		for i := range n {
			if _, err := get(0, i); err != nil {
				return err
			}
		}
		first, descending := keys[:n], s.terms[0].descending
		switch {
		case allOf(first, value.Number):
			swap = func(a, b int) (bool, *Error) {
				x, y := first[a].Float(), first[b].Float()
				if x < y || x > y {
					return (x > y) != descending, nil
				}
				return from(0, a, b)
			}
		case allOf(first, value.String):
			swap = func(a, b int) (bool, *Error) {
				if c := value.CompareStrings(first[a].Str(), first[b].Str()); c != 0 {
					return (c > 0) != descending, nil
				}
				return from(1, a, b)
			}
		}
	}
	if err := mergeSort(ev, n, swap, place); err != nil {
		return err
	}
	ev.drop(base)
	return nil
}

// compare orders two keys; what is undefined comes last.
func (k *sortKey) compare(x, y value.Value) (int, *Error) {
	if none, other := value.Same(x, noKey), value.Same(y, noKey); none || other {
		switch {
		case !other:
			return 1, nil
		case !none:
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

// mergeSort sorts n items stably and calls place with the new place of each
// item; swap means that a must come after b. The order of comparisons is fixed,
// so that which error comes first does not depend on chance.
func mergeSort(ev *evaluator, n int, swap func(a, b int) (bool, *Error), place func(i, at int)) *Error {
	room, base, err := ev.numbers(2 * n)
	if err != nil {
		return err
	}
	list, spare := room[:n], room[n:]
	for i := range list {
		list[i] = int32(i)
	}
	if err := mergeRuns(ev, list, spare, swap); err != nil {
		return err
	}
	for i, at := range list {
		place(i, int(at))
	}
	ev.dropNumbers(base)
	return nil
}

func mergeRuns(ev *evaluator, list, spare []int32, swap func(a, b int) (bool, *Error)) *Error {
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
	// The left half waits in spare while both are merged into list.
	l, r := spare[:mid], list[mid:]
	copy(l, list)
	if err := ev.spend(len(list)); err != nil {
		return err
	}
	at := 0
	for len(l) > 0 && len(r) > 0 {
		take, err := swap(int(l[0]), int(r[0]))
		if err != nil {
			return err
		}
		if take {
			list[at] = r[0]
			r = r[1:]
		} else {
			list[at] = l[0]
			l = l[1:]
		}
		at++
	}
	copy(list[at:], l)
	return nil
}

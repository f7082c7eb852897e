package jsonata

import (
	"math"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var arrayFunctions = []native{
	{"count", mustSignature("<a:n>"), 1, fnCount},
	{"append", mustSignature("<xx:a>"), 2, fnAppend},
	{"reverse", mustSignature("<a:a>"), 1, fnReverse},
	{"shuffle", mustSignature("<a:a>"), 1, fnShuffle},
	{"distinct", mustSignature("<x:x>"), 1, fnDistinct},
	{"zip", mustSignature("<a+>"), 0, fnZip},
	{"sort", mustSignature("<af?:a>"), 2, fnSort},
}

func fnCount(_ *evaluator, args []value.Value) (value.Value, *Error) {
	return value.FromFloat(float64(args[0].Len())), nil
}

func fnAppend(ev *evaluator, args []value.Value) (value.Value, *Error) {
	a, b := args[0], args[1]
	if a.IsUndefined() {
		return b, nil
	}
	if b.IsUndefined() {
		return a, nil
	}
	n := a.Len() + b.Len() + 2
	if err := ev.cells(n - 2); err != nil {
		return value.Undef, err
	}
	if err := ev.spend(n >> 3); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, 0, n)
	out = appendTo(appendTo(out, a), b)
	ev.built++
	return value.FromArray(out), nil
}

func fnReverse(ev *evaluator, args []value.Value) (value.Value, *Error) {
	elems := args[0].Elems()
	n := len(elems)
	if n < 2 {
		return args[0], nil
	}
	if err := ev.cells(n); err != nil {
		return value.Undef, err
	}
	if err := ev.spend(n >> 3); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, n)
	for i := range elems {
		out[n-1-i] = elems[i]
	}
	return value.FromArray(out), nil
}

func fnShuffle(ev *evaluator, args []value.Value) (value.Value, *Error) {
	elems := args[0].Elems()
	if len(elems) < 2 {
		return args[0], nil
	}
	if err := ev.cells(len(elems)); err != nil {
		return value.Undef, err
	}
	if err := ev.spend(len(elems)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, len(elems))
	for i := range elems {
		j := min(int(randomOf(ev)*float64(i+1)), i)
		out[i] = out[j]
		out[j] = elems[i]
	}
	return value.FromArray(out), nil
}

// fnDistinct compares only elements that share a hash.
func fnDistinct(ev *evaluator, args []value.Value) (value.Value, *Error) {
	elems := args[0].Elems()
	if len(elems) < 2 {
		return args[0], nil
	}
	if err := ev.meter(64 * len(elems)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, 0, len(elems))
	// The places in out by hash: the latest, and for each the one before it.
	latest := make(map[uint64]int32, len(elems))
	before := make([]int32, 0, len(elems))
next:
	for _, e := range elems {
		hash, comparable, err := hashOf(ev, e, 0)
		if err != nil {
			return value.Undef, err
		}
		last := int32(-1)
		if comparable {
			if at, ok := latest[hash]; ok {
				last = at
			}
			for at := last; at >= 0; at = before[at] {
				same, err := equal(ev, out[at], e, 0)
				if err != nil {
					return value.Undef, err
				}
				if same {
					continue next
				}
			}
			latest[hash] = int32(len(out))
		}
		out, before = append(out, e), append(before, last)
	}
	return value.FromArray(out).WithFlags(args[0].Flags() & value.Sequence), nil
}

func fnZip(ev *evaluator, args []value.Value) (value.Value, *Error) {
	n := math.MaxInt
	for _, a := range args {
		n = min(n, a.Len())
	}
	if err := ev.meter(24 * n * (len(args) + 1)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, n)
	for i := range out {
		if err := ev.spend(1); err != nil {
			return value.Undef, err
		}
		row := make([]value.Value, len(args))
		for j, a := range args {
			row[j] = a.Elems()[i]
		}
		out[i] = value.FromArray(row)
	}
	ev.built++
	return value.FromArray(out), nil
}

func fnSort(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	elems := args[0].Elems()
	if len(elems) < 2 {
		return args[0], nil
	}
	swap := func(a, b int) (bool, *Error) { return order(elems[a], elems[b]) > 0, nil }
	if fn := callableOf(args[1]); fn != nil {
		pair := make([]value.Value, 2)
		swap = func(a, b int) (bool, *Error) {
			pair[0], pair[1] = elems[a], elems[b]
			v, err := applyTo(ev, fn, pair)
			return v.Truthy(), err // the answer counts as in JavaScript
		}
	} else if !allOf(elems, value.Number) && !allOf(elems, value.String) {
		return value.Undef, newError("D3070", -1, details{})
	}
	if err := ev.cells(len(elems)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, len(elems))
	err := mergeSort(ev, len(elems), swap, func(i, at int) { out[i] = elems[at] })
	return value.FromArray(out), err
}

package jsonata

import (
	"hash/maphash"
	"math"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// hashSeed keeps callers from choosing values that share a hash.
var hashSeed = maphash.MakeSeed()

// hashOf returns a number that equal values share, whatever the order of their
// keys. It is not ok for a value that equals none, because it is or holds NaN.
func hashOf(ev *evaluator, v value.Value, depth int) (hash uint64, ok bool, err *Error) {
	if depth > maxValueDepth {
		return 0, false, stopped(-1, "a value is nested too deeply")
	}
	if err := ev.spend(1); err != nil {
		return 0, false, err
	}
	switch v.Kind() {
	case value.Bool:
		return maphash.Comparable(hashSeed, v.Bool()), true, nil
	case value.Number:
		x := v.Float()
		return maphash.Comparable(hashSeed, x), !math.IsNaN(x), nil
	case value.String:
		s := v.Str()
		return maphash.String(hashSeed, s), true, ev.spend(len(s) >> 8)
	case value.Func:
		return maphash.Comparable(hashSeed, v.Func()), true, nil
	case value.Array:
		hash = uint64(value.Array)
		for _, e := range v.Elems() {
			part, ok, err := hashOf(ev, e, depth+1)
			if !ok || err != nil {
				return 0, false, err
			}
			hash = maphash.Comparable(hashSeed, [2]uint64{hash, part})
		}
		return hash, true, nil
	case value.Object:
		hash = uint64(value.Object)
		for _, e := range v.Entries() {
			part, ok, err := hashOf(ev, e.Value, depth+1)
			if !ok || err != nil {
				return 0, false, err
			}
			// A sum is the same in every order.
			hash += maphash.Comparable(hashSeed, [2]uint64{maphash.String(hashSeed, e.Key), part})
		}
		return hash, true, nil
	}
	return uint64(v.Kind()), true, nil
}

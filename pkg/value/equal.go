package value

// Equal reports whether a and b are the same value: numbers as float64,
// arrays element by element, objects whatever the order of their keys,
// functions by identity. Undefined equals undefined.
func Equal(a, b Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case Bool:
		return a.num == b.num
	case Number:
		return a.Float() == b.Float()
	case String:
		return a.Str() == b.Str()
	case Array:
		x, y := a.Elems(), b.Elems()
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
	case Object:
		x, y := a.Entries(), b.Entries()
		if len(x) != len(y) {
			return false
		}
		for i, e := range x {
			// Keys mostly stand in the same order: look there first.
			other := y[i]
			if other.Key != e.Key {
				if !b.Has(e.Key) {
					return false
				}
				other.Value = b.Get(e.Key)
			}
			if !Equal(e.Value, other.Value) {
				return false
			}
		}
	case Func:
		return a.ptr == b.ptr
	}
	return true
}

// Same reports whether a and b are one value as JavaScript's === has it:
// scalars by value, arrays, objects and functions by identity.
func Same(a, b Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case Array, Object:
		return a.ptr == b.ptr && a.num == b.num && a.ptr != nil
	}
	return Equal(a, b)
}

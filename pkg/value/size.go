package value

// LongerThan reports whether the JSON text of v is longer than about n bytes.
// It costs no more for a long value than for one of n bytes, and decodes
// nothing.
func (v Value) LongerThan(n int) bool { return v.take(n) < 0 }

// take gives what is left of n bytes after the text of v, something less than 0
// where that is nothing.
func (v Value) take(n int) int {
	switch v.Kind() {
	case String:
		return n - len(v.Str()) - 2
	case Array:
		if v.repr() == lazy {
			return n - len((*lazyText)(v.ptr).text)
		}
		n -= 2
		for _, e := range v.Elems() {
			if n = e.take(n) - 1; n < 0 {
				break
			}
		}
		return n
	case Object:
		if v.repr() == lazy {
			return n - len((*lazyText)(v.ptr).text)
		}
		n -= 2
		for _, e := range v.Entries() {
			if n = e.Value.take(n-len(e.Key)-3) - 1; n < 0 {
				break
			}
		}
		return n
	}
	return n - 4
}

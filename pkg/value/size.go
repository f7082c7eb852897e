package value

import "math"

// TextSize returns about how many bytes the JSON text of v takes; escapes can make
// it longer. It decodes nothing.
func (v Value) TextSize() int { return math.MaxInt - v.take(math.MaxInt) }

// Footprint returns about how many bytes v holds, but no more than most, and
// costs no more for a longer one. What is still text counts as its text.
func (v Value) Footprint(most int64) int64 { return most - max(0, v.weigh(most)) }

// weigh returns what is left of so many bytes beside v, something less than 0
// where that is nothing.
func (v Value) weigh(left int64) int64 {
	switch v.Kind() {
	case String:
		return left - int64(v.num)
	case Array, Object:
		if v.repr() == lazy {
			return left - int64(len((*lazyText)(v.ptr).text))
		}
		if v.Kind() == Array {
			left -= containerSize(false, v.Len())
			for _, e := range v.Elems() {
				if left = e.weigh(left) - 1; left < 0 {
					break
				}
			}
			return left
		}
		left -= containerSize(true, v.Len())
		for _, e := range v.Entries() {
			if left = e.Value.weigh(left) - 1; left < 0 {
				break
			}
		}
	}
	return left
}

// AnySize returns about how many bytes [Value.Any] allocates.
func (v Value) AnySize() int64 {
	const scalar, member = 32, 40 // behind an interface; in a map
	switch v.Kind() {
	case Array:
		n := int64(scalar)
		for _, e := range v.Elems() {
			n += e.AnySize() + 16
		}
		return n
	case Object:
		n := int64(64)
		entries := v.Entries()
		for _, e := range entries {
			n += e.Value.AnySize()
		}
		return n + member*int64(max(8, 2*len(entries)))
	}
	return scalar
}

// LongerThan reports whether the JSON text of v is longer than about n bytes.
// It costs no more for a long value than for one of n bytes, and decodes
// nothing.
func (v Value) LongerThan(n int) bool { return v.take(n) < 0 }

// take returns what is left of n bytes after the text of v, something less than
// 0 where that is nothing.
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

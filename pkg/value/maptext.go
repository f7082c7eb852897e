package value

import (
	"strings"
	"sync"
)

// MapText returns v with f applied to every string in it, keys of objects
// included. A number whose digits f changes becomes a string. Where f changes
// nothing the result equals v.
func (v Value) MapText(f func(string) string) Value {
	switch v.Kind() {
	case String:
		return FromString(f(v.Str()))
	case Number:
		text := v.JSON()
		if changed := f(text); changed != text {
			return FromString(changed)
		}
	case Array:
		elems := make([]Value, v.Len())
		for i, e := range v.Elems() {
			elems[i] = e.MapText(f)
		}
		return FromArray(elems)
	case Object:
		b := NewBuilder(v.Len())
		for _, e := range v.Entries() {
			b.Set(f(e.Key), e.Value.MapText(f))
		}
		return b.Value()
	}
	return v
}

// Rewritten is MapText for where f seldom changes anything, and changes a text if it
// would change a part of it: then a value that f leaves alone is not decoded. f must
// not keep the text that it gets.
func (v Value) Rewritten(f func(string) string) Value {
	if v.unchangedBy(f) {
		return v
	}
	return v.MapText(f)
}

// unchangedBy reports whether f leaves the JSON of v as it is.
func (v Value) unchangedBy(f func(string) string) bool {
	var text string
	if v.isCompactText() {
		text = v.JSON()
	} else {
		buffer := rewriting.Get().(*[]byte)
		written := v.Append((*buffer)[:0])
		text = textOf(written)
		defer func() {
			if cap(written) <= maxPooledText {
				*buffer = written
				rewriting.Put(buffer)
			}
		}()
	}
	if strings.IndexByte(text, '\\') >= 0 {
		text = unescape(text) // backslashes stand in strings alone
	}
	return f(text) == text
}

// rewriting holds buffers for the JSON of values that a function looks at.
var rewriting = sync.Pool{New: func() any { return new([]byte) }}

// What a buffer in rewriting may hold on to, in bytes.
const maxPooledText = 64 << 10

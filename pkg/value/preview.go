package value

import "unicode/utf8"

// CutMark follows a text that [Value.Preview] cut.
const CutMark = " … (cut)"

// Preview returns v as compact JSON. Beyond limit bytes it is cut, between
// characters, and CutMark follows. The cost depends on limit, not on the size
// of v.
func (v Value) Preview(limit int) string {
	text := v.appendPreview(nil, limit)
	if len(text) <= limit {
		return string(text)
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return string(text[:limit]) + CutMark
}

// appendPreview appends at least limit+1 bytes of JSON, or all there are.
func (v Value) appendPreview(dst []byte, limit int) []byte {
	switch kind := v.Kind(); {
	case kind == String:
		s := v.Str()
		return AppendString(dst, s[:min(len(s), limit+utf8.UTFMax)])
	case kind != Array && kind != Object:
		return v.Append(dst)
	case v.repr() == lazy:
		l := (*lazyText)(v.ptr)
		if l.folded.Load() {
			return l.parsed.Load().appendPreview(dst, limit)
		}
		return l.appendUpTo(dst, limit)
	case kind == Array:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if len(dst) > limit {
				return dst
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendPreview(dst, limit)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	first := true
	for _, e := range v.Entries() {
		if len(dst) > limit {
			return dst
		}
		if e.Value.Kind() == Undefined || e.Value.Kind() == Func {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = AppendString(dst, e.Key)
		dst = append(dst, ':')
		dst = e.Value.appendPreview(dst, limit)
	}
	return append(dst, '}')
}

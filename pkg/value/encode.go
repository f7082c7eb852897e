package value

import "math"

// JSON returns v as compact JSON; see [Value.Append]. It costs nothing where v is
// still the text that it was parsed from.
func (v Value) JSON() string {
	if v.isCompactText() {
		return (*lazyText)(v.ptr).text
	}
	text := v.Append(nil)
	if len(text) >= longString && cap(text)-len(text) <= len(text)/8 {
		return textOf(text) // which nothing else has
	}
	return string(text)
}

// isCompactText reports whether v is still the text that it was parsed from, without
// white space.
func (v Value) isCompactText() bool {
	if v.repr() != lazy || v.Kind() != Array && v.Kind() != Object {
		return false
	}
	l := (*lazyText)(v.ptr)
	return !l.spaced && !l.folded.Load()
}

// MarshalJSON implements json.Marshaler; see [Value.Append].
func (v Value) MarshalJSON() ([]byte, error) { return v.Append(nil), nil }

// UnmarshalJSON implements json.Unmarshaler; see [Parse].
func (v *Value) UnmarshalJSON(text []byte) (err error) {
	*v, err = Parse(string(text))
	return err
}

// Append appends v as compact JSON, in the order of its keys. As
// JSON.stringify does, it leaves undefined members and functions out of
// objects, writes them as null inside arrays, and writes NaN and infinities as
// null. Undefined or a function alone is null. Nothing is escaped that JSON
// does not require, but lone surrogates.
func (v Value) Append(dst []byte) []byte {
	switch v.Kind() {
	case Bool:
		if v.num != 0 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Number:
		return v.appendNumber(dst)
	case String:
		return AppendString(dst, v.Str())
	case Array, Object:
		if v.repr() == lazy {
			return (*lazyText)(v.ptr).append(dst)
		}
		return v.appendMembers(dst, "", nil)
	}
	return append(dst, "null"...)
}

// maxIndented is how many levels AppendIndent indents. If all were, a text would be
// as long as the square of its depth.
const maxIndented = 40

// AppendIndent appends v as JSON spread over lines, each level indented by
// indent. What is nested more than 40 levels deep is written on one line.
func (v Value) AppendIndent(dst []byte, indent string) []byte {
	return (&encoder{indent: indent}).append(dst, v, "\n")
}

// AppendCut is [Value.Append] that writes "" for each string of at least length
// bytes, which is more than 0, and calls cut with the place of that in dst and the
// string, in the order of their places. Keys, and strings in what is still text,
// are written as they are.
func (v Value) AppendCut(dst []byte, length int, cut func(at int, s string)) []byte {
	return (&encoder{length: length, cut: cut}).append(dst, v, "")
}

// encoder configures how a value is encoded in other than the compact form.
type encoder struct {
	indent string
	length int
	cut    func(at int, s string) // nil writes all strings
}

// append writes v; newline is empty for one line, else a line feed and the
// indentation of the level around v.
func (e *encoder) append(dst []byte, v Value, newline string) []byte {
	switch v.Kind() {
	case String:
		if e.cut != nil && len(v.Str()) >= e.length {
			e.cut(len(dst), v.Str())
			return append(dst, `""`...)
		}
	case Array, Object:
		if len(newline) > maxIndented*len(e.indent) {
			newline = ""
		}
		if newline != "" || v.repr() != lazy {
			return v.appendMembers(dst, newline, e)
		}
	}
	return v.Append(dst)
}

// appendMembers writes an array or object; newline is that of [encoder.append],
// and a nil encoder means the compact form.
func (v Value) appendMembers(dst []byte, newline string, e *encoder) []byte {
	inner := newline
	colon := ":"
	if newline != "" {
		inner += e.indent
		colon = ": "
	}
	if v.Kind() == Array {
		dst = append(dst, '[')
		for i, elem := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, inner...)
			dst = elem.appendMember(dst, inner, e)
		}
		if v.Len() > 0 {
			dst = append(dst, newline...)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	any := false
	for _, entry := range v.Entries() {
		if entry.Value.Kind() == Undefined || entry.Value.Kind() == Func {
			continue
		}
		if any {
			dst = append(dst, ',')
		}
		any = true
		dst = append(dst, inner...)
		dst = AppendString(dst, entry.Key)
		dst = append(dst, colon...)
		dst = entry.Value.appendMember(dst, inner, e)
	}
	if any {
		dst = append(dst, newline...)
	}
	return append(dst, '}')
}

func (v Value) appendMember(dst []byte, newline string, e *encoder) []byte {
	if e == nil {
		return v.Append(dst)
	}
	return e.append(dst, v, newline)
}

func (v Value) appendNumber(dst []byte) []byte {
	if text, ok := v.NumberText(); ok {
		return append(dst, text...)
	}
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return AppendNumber(dst, f)
}

// append writes the text without white space between its tokens.
func (l *lazyText) append(dst []byte) []byte {
	if l.folded.Load() {
		return l.parsed.Load().Append(dst)
	}
	return l.appendUpTo(dst, math.MaxInt)
}

// appendUpTo does the same and stops where dst has become longer than limit.
// It is for texts that are not folded.
func (l *lazyText) appendUpTo(dst []byte, limit int) []byte {
	if !l.spaced && !l.folded.Load() {
		if room := limit - len(dst); room < len(l.text) {
			return append(dst, l.text[:max(room+1, 0)]...)
		}
		return append(dst, l.text...)
	}
	s := scanner{text: l.text}
	for len(dst) <= limit {
		s.space()
		start := s.pos
		switch s.peek() {
		case 0:
			return dst
		case '"':
			if _, err := s.skipString(); err != nil {
				return dst
			}
		default:
			s.pos++
		}
		dst = append(dst, s.text[start:s.pos]...)
	}
	return dst
}

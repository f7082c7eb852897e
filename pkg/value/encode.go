package value

import (
	"math"
	"slices"
	"unicode/utf8"
)

// JSON returns v as compact JSON; see [Value.Append]. It costs nothing where v is
// still the text that it was parsed from.
func (v Value) JSON() string {
	if v.repr() == lazy && (v.Kind() == Array || v.Kind() == Object) {
		if l := (*lazyText)(v.ptr); !l.spaced && !l.folded.Load() {
			return l.text
		}
	}
	return string(v.Append(nil))
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
		return v.appendMembers(dst, "", "")
	}
	return append(dst, "null"...)
}

// AppendIndent appends v as JSON spread over lines, each level indented by
// indent.
func (v Value) AppendIndent(dst []byte, indent string) []byte {
	return v.appendIndent(dst, "\n", indent)
}

func (v Value) appendIndent(dst []byte, newline, indent string) []byte {
	if v.Kind() == Array || v.Kind() == Object {
		return v.appendMembers(dst, newline, indent)
	}
	return v.Append(dst)
}

// appendMembers writes an array or object; newline is empty for the compact
// form, else a line feed and the indentation of the level around it.
func (v Value) appendMembers(dst []byte, newline, indent string) []byte {
	inner := newline
	colon := ":"
	if newline != "" {
		inner += indent
		colon = ": "
	}
	if v.Kind() == Array {
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, inner...)
			dst = e.appendAny(dst, inner, indent)
		}
		if v.Len() > 0 {
			dst = append(dst, newline...)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	any := false
	for _, e := range v.Entries() {
		if e.Value.Kind() == Undefined || e.Value.Kind() == Func {
			continue
		}
		if any {
			dst = append(dst, ',')
		}
		any = true
		dst = append(dst, inner...)
		dst = AppendString(dst, e.Key)
		dst = append(dst, colon...)
		dst = e.Value.appendAny(dst, inner, indent)
	}
	if any {
		dst = append(dst, newline...)
	}
	return append(dst, '}')
}

func (v Value) appendAny(dst []byte, newline, indent string) []byte {
	if newline == "" {
		return v.Append(dst)
	}
	return v.appendIndent(dst, newline, indent)
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

// longString is the length from which a string is checked as a whole.
const longString = 64

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with as few escapes as JSON allows.
func AppendString(dst []byte, s string) []byte {
	valid := false
	if len(s) >= longString {
		valid = utf8.ValidString(s) // then only ASCII is escaped
		// Growing by and by would copy a long text about five times.
		dst = slices.Grow(dst, len(s)+len(s)/16+2)
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i += 1 + plainLen(s[i+1:], valid)
			continue
		}
		if c >= utf8.RuneSelf && valid {
			i += 1 + plainLen(s[i+1:], true)
			continue
		}
		if c >= utf8.RuneSelf {
			r, width := DecodeRune(s[i:])
			switch {
			case r >= 0xD800 && r < 0xE000:
				dst = append(dst, s[start:i]...)
				dst = append(dst, '\\', 'u', 'd', hexDigits[r>>8&0xF], hexDigits[r>>4&0xF], hexDigits[r&0xF])
				start = i + width
			case r == utf8.RuneError && width == 1:
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + width
			}
			i += width
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

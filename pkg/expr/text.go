package expr

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// JavaScript counts a text in UTF-16 code units; the functions here do so over
// the UTF-8 of Go strings, where a character beyond the basic plane is two.

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// units returns the length of s.
func units(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		// A byte that begins a character counts, one that begins a character
		// beyond the basic plane twice.
		if s[i]&0xC0 != 0x80 {
			n++
		}
		if s[i] >= 0xF0 {
			n++
		}
	}
	return n
}

// includes is String.prototype.includes: a half of a surrogate pair is found
// in a character too.
func includes(s, part string) bool {
	if ascii(part) || strings.Contains(s, part) {
		return strings.Contains(s, part)
	}
	return strings.Contains(split(s), split(part))
}

// split returns s with all characters beyond the basic plane as the two halves
// that they are in UTF-16.
func split(s string) string {
	if ascii(s) {
		return s
	}
	var out []byte
	for i := 0; i < len(s); {
		r, width := value.DecodeRune(s[i:])
		if r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			out = value.AppendRune(value.AppendRune(out, high), low)
		} else {
			out = append(out, s[i:i+width]...)
		}
		i += width
	}
	return string(out)
}

// slice returns the units of s from one place up to another, both within s. A
// character that is cut in two leaves half a surrogate pair.
func slice(s string, from, to int) string {
	if from >= to {
		return ""
	}
	if ascii(s) {
		return s[from:to]
	}
	var out []byte
	n := 0
	for i := 0; i < len(s) && n < to; {
		r, width := value.DecodeRune(s[i:])
		switch {
		case r <= 0xFFFF:
			if n >= from {
				out = append(out, s[i:i+width]...)
			}
			n++
		default:
			high, low := utf16.EncodeRune(r)
			switch {
			case n >= from && n+1 < to:
				out = append(out, s[i:i+width]...)
			case n >= from:
				out = value.AppendRune(out, high)
			case n+1 >= from && n+1 < to:
				out = value.AppendRune(out, low)
			}
			n += 2
		}
		i += width
	}
	return joined(out)
}

// substr is String.prototype.substr, whose start counts from the end where it
// is negative. Both numbers may be fractions, NaN and infinite.
func substr(s string, start, length float64) string {
	n := float64(units(s))
	from := integer(start)
	if from < 0 {
		from = math.Max(n+from, 0)
	}
	from = math.Min(from, n)
	to := math.Min(from+math.Max(integer(length), 0), n)
	return slice(s, int(from), int(to))
}

// integer is ToIntegerOrInfinity.
func integer(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return math.Trunc(f)
}

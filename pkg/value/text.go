package value

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendRune appends r in UTF-8, a surrogate in its three-byte form.
func AppendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// DecodeRune returns the first code point of s and its width in bytes; a lone
// surrogate in its three-byte form is one code point. For a byte that is not
// UTF-8 it returns utf8.RuneError and 1.
func DecodeRune(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	if r, ok := surrogateAt(s); ok {
		return r, 3
	}
	return utf8.DecodeRuneInString(s)
}

func surrogateAt(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xED && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
	}
	return 0, false
}

// JoinSurrogates returns s with every high surrogate that a low one follows
// replaced by the character the two stand for, as it happens to JavaScript
// strings when halves are put together.
func JoinSurrogates(s string) string {
	i := nextSurrogate(s, 0)
	if i < 0 {
		return s
	}
	var out []byte
	last := 0
	for ; i >= 0; i = nextSurrogate(s, i) {
		high, _ := surrogateAt(s[i:])
		low, ok := rune(0), false
		if high < 0xDC00 {
			low, ok = surrogateAt(s[i+3:])
		}
		if both := utf16.DecodeRune(high, low); ok && both != utf8.RuneError {
			out = utf8.AppendRune(append(out, s[last:i]...), both)
			i += 6
			last = i
			continue
		}
		i += 3
	}
	if last == 0 {
		return s
	}
	return string(append(out, s[last:]...))
}

func nextSurrogate(s string, from int) int {
	for from < len(s) {
		i := strings.IndexByte(s[from:], 0xED)
		if i < 0 {
			return -1
		}
		if _, ok := surrogateAt(s[from+i:]); ok {
			return from + i
		}
		from += i + 1
	}
	return -1
}

// CompareStrings orders two strings by UTF-16 code unit, as JavaScript does:
// -1, 0 or 1.
func CompareStrings(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return cmpInt(len(a), len(b))
	}
	// UTF-8 orders by code point. That differs only where one of the two is
	// beyond the basic plane (lead byte F0 and up), a pair of surrogates in
	// UTF-16.
	for i > 0 && a[i]&0xC0 == 0x80 {
		i--
	}
	if a[i] < 0xF0 && b[i] < 0xF0 {
		return strings.Compare(a[i:], b[i:])
	}
	x, y := units{rest: a[i:]}, units{rest: b[i:]}
	for {
		u, v := x.next(), y.next()
		if u != v || u < 0 {
			return cmpInt(u, v)
		}
	}
}

// units gives the UTF-16 units of a string one after the other.
type units struct {
	rest string
	low  int // the second half of a pair whose first half was given, or 0
}

// next returns the next unit, -1 at the end.
func (u *units) next() int {
	if low := u.low; low != 0 {
		u.low = 0
		return low
	}
	if u.rest == "" {
		return -1
	}
	r, width := DecodeRune(u.rest)
	u.rest = u.rest[width:]
	if r < 0x10000 {
		return int(r)
	}
	high, low := utf16.EncodeRune(r)
	u.low = int(low)
	return int(high)
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

package regex

import (
	"unicode/utf8"
)

// Strings are UTF-8 in which a surrogate without its other half is written as
// the three bytes that UTF-8 would use for its number (WTF-8). JavaScript sees
// the same strings as UTF-16 units.

func isSurrogate(u uint16) bool { return u >= surrogateMin && u <= surrogateMax }
func isHigh(u uint16) bool      { return u >= surrogateMin && u < surrogateLow }
func isLow(u uint16) bool       { return u >= surrogateLow && u <= surrogateMax }

func joinPair(hi, lo uint16) rune {
	return (rune(hi)-surrogateMin)<<10 + rune(lo) - surrogateLow + 0x10000
}

// appendUnit appends u to b. A low half joins a high half that b ends with.
func appendUnit(b []byte, u uint16) []byte {
	if !isSurrogate(u) {
		return utf8.AppendRune(b, rune(u))
	}
	if n := len(b); isLow(u) && n >= 3 && b[n-3] == 0xED && b[n-2] >= 0xA0 && b[n-2] < 0xB0 {
		hi := uint16(0xD000) | uint16(b[n-2]&0x3F)<<6 | uint16(b[n-1]&0x3F)
		return utf8.AppendRune(b[:n-3], joinPair(hi, u))
	}
	return append(b, 0xE0|byte(u>>12), 0x80|byte(u>>6)&0xBF, 0x80|byte(u)&0xBF)
}

// decode reads the character at s[i]: its number, surrogates included, and its
// width in bytes. A byte that belongs to no character reads as U+FFFD.
func decode(s string, i int) (rune, int) {
	r, w := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && w == 1 && i+2 < len(s) && s[i] == 0xED && s[i+1] >= 0xA0 && s[i+1] <= 0xBF && s[i+2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[i+1]&0x3F)<<6 | rune(s[i+2]&0x3F), 3
	}
	return r, w
}

// shifted moves surrogates out of the way, to runes that no unit has: what is
// given to regexp2 passes through Go strings there, which cannot hold them.
func shifted(u rune) rune {
	if u >= surrogateMin && u <= surrogateMax {
		return u + 0x10000
	}
	return u
}

// appendUnits appends the UTF-16 units of s to dst, one to a rune, shifted.
func appendUnits(dst []rune, s string) []rune {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			dst = append(dst, rune(c))
			i++
			continue
		}
		r, w := decode(s, i)
		if r > maxUnit {
			dst = append(dst, shifted(surrogateMin+(r-0x10000)>>10), shifted(surrogateLow+(r-0x10000)&0x3FF))
		} else {
			dst = append(dst, shifted(r))
		}
		i += w
	}
	return dst
}

// traits are the properties of a text that decide which engine may search it.
type traits uint8

const (
	hasSurrogates   traits = 1 << iota // characters that UTF-16 writes with surrogates, or lone ones
	hasOtherNewline                    // a line end of JavaScript that is not "\n"
)

// traitsOf reads s once.
func traitsOf(s string) traits {
	var t traits
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0xE2:
			if c == '\r' {
				t |= hasOtherNewline
			}
		case c == 0xE2:
			if i+2 < len(s) && s[i+1] == 0x80 && (s[i+2] == 0xA8 || s[i+2] == 0xA9) {
				t |= hasOtherNewline
			}
		case c == 0xED:
			if i+1 < len(s) && s[i+1] >= 0xA0 {
				t |= hasSurrogates
			}
		case c >= 0xF0:
			t |= hasSurrogates
		}
	}
	return t
}

// place is a position between two UTF-16 units of a text. Inside a character
// that takes two units, byte is where the character starts and half is set.
type place struct {
	byte, unit int
	half       bool
}

// toUnit walks from p to the UTF-16 index unit of s.
func (p place) toUnit(s string, unit int) place {
	if unit < p.unit/2 {
		p = place{}
	}
	if p.half {
		p.half = false
		p.unit--
	}
	for p.unit > unit {
		p = p.back(s)
	}
	for p.unit < unit && p.byte < len(s) {
		if s[p.byte] < utf8.RuneSelf {
			p.byte++
			p.unit++
			continue
		}
		r, w := decode(s, p.byte)
		if r > maxUnit {
			if p.unit+1 == unit {
				p.unit++
				p.half = true
				return p
			}
			p.unit++
		}
		p.unit++
		p.byte += w
	}
	return p
}

// toByte walks from p to the character that starts at s[at].
func (p place) toByte(s string, at int) place {
	if at < p.byte/2 {
		p = place{}
	}
	if p.half {
		p.half = false
		p.unit--
	}
	for p.byte > at {
		p = p.back(s)
	}
	for p.byte < at {
		if s[p.byte] < utf8.RuneSelf {
			p.byte++
			p.unit++
			continue
		}
		r, w := decode(s, p.byte)
		p.byte += w
		p.unit++
		if r > maxUnit {
			p.unit++
		}
	}
	return p
}

// back walks over the character before p.
func (p place) back(s string) place {
	r, w := utf8.DecodeLastRuneInString(s[:p.byte])
	if w == 1 && r == utf8.RuneError && p.byte >= 3 {
		if _, w3 := decode(s, p.byte-3); w3 == 3 {
			w = 3
		}
	}
	p.byte -= w
	p.unit--
	if r > maxUnit {
		p.unit--
	}
	return p
}

// cut returns the text from a to b. A character that a or b divides yields one
// half.
func cut(s string, a, b place) string {
	if !a.half && !b.half {
		return s[a.byte:b.byte]
	}
	if a.byte > b.byte || a.byte == b.byte && a.half {
		return ""
	}
	var out []byte
	from := a.byte
	if a.half {
		r, w := decode(s, a.byte)
		out = appendUnit(out, uint16(surrogateLow+(r-0x10000)&0x3FF))
		from += w
	}
	out = append(out, s[from:b.byte]...)
	if b.half {
		r, _ := decode(s, b.byte)
		out = appendUnit(out, uint16(surrogateMin+(r-0x10000)>>10))
	}
	return string(out)
}

package regex

import "slices"

// span is a closed range of UTF-16 units.
type span struct{ lo, hi uint16 }

// charset is a set of UTF-16 units: sorted spans that neither touch nor
// overlap, once normalize has run.
type charset []span

const (
	maxUnit      = 0xFFFF
	surrogateMin = 0xD800
	surrogateLow = 0xDC00
	surrogateMax = 0xDFFF
)

// The classes of ECMA-262 without the u flag: CharacterClassEscape, and
// LineTerminator for the dot.
var (
	digitSet = charset{{'0', '9'}}
	wordSet  = charset{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaceSet = charset{
		{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A},
		{0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
	}
	newlineSet = charset{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}
	fullSet    = charset{{0, maxUnit}}
)

func single(u uint16) charset { return charset{{u, u}} }

// normalize sorts and merges the spans in place.
func (c charset) normalize() charset {
	slices.SortFunc(c, func(a, b span) int { return int(a.lo) - int(b.lo) })
	out := c[:0]
	for _, s := range c {
		if n := len(out); n > 0 && int(s.lo) <= int(out[n-1].hi)+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// negate returns the units that a normalized c lacks.
func (c charset) negate() charset {
	var out charset
	next := 0
	for _, s := range c {
		if int(s.lo) > next {
			out = append(out, span{uint16(next), s.lo - 1})
		}
		next = int(s.hi) + 1
	}
	if next <= maxUnit {
		out = append(out, span{uint16(next), maxUnit})
	}
	return out
}

func (c charset) has(u uint16) bool {
	_, ok := slices.BinarySearchFunc(c, u, func(s span, u uint16) int {
		switch {
		case s.hi < u:
			return -1
		case s.lo > u:
			return 1
		}
		return 0
	})
	return ok
}

// overlaps reports whether c holds any unit of lo..hi.
func (c charset) overlaps(lo, hi uint16) bool {
	for _, s := range c {
		if s.lo <= hi && s.hi >= lo {
			return true
		}
	}
	return false
}

// one returns the only unit of c, where it has just one.
func (c charset) one() (uint16, bool) {
	if len(c) == 1 && c[0].lo == c[0].hi {
		return c[0].lo, true
	}
	return 0, false
}

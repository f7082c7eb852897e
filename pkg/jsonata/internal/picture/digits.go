package picture

import (
	"unicode"
	"unicode/utf8"
)

// maxWidth is what larger widths in pictures are read as.
const maxWidth = 1000

// digitZero returns the zero of the decimal digit family that r belongs to.
func digitZero(r rune) (rune, bool) {
	if r < utf8.RuneSelf {
		return '0', r >= '0' && r <= '9'
	}
	for _, rg := range unicode.Nd.R16 {
		if lo := rune(rg.Lo); r >= lo && r <= rune(rg.Hi) {
			return r - (r-lo)%10, true
		}
	}
	for _, rg := range unicode.Nd.R32 {
		if lo := rune(rg.Lo); r >= lo && r <= rune(rg.Hi) {
			return r - (r-lo)%10, true
		}
	}
	return 0, false
}

// interval returns n where positions are exactly the first multiples of n, so
// that the separators at them go on for ever, and 0 otherwise.
func interval(positions []int) int {
	n := 0
	for _, p := range positions {
		for a := p; a != 0; {
			n, a = a, n%a
		}
	}
	if n == 0 {
		return 0
	}
	seen := make([]bool, len(positions))
	for _, p := range positions {
		i := p/n - 1
		if i < 0 || i >= len(seen) || seen[i] {
			return 0
		}
		seen[i] = true
	}
	return n
}

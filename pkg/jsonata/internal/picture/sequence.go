package picture

import (
	"math"
	"strings"
)

// appendLetters writes v as a, b … z, aa, ab … Zero yields nothing.
func appendLetters(b []byte, v float64, upperCase bool) []byte {
	first := byte('a')
	if upperCase {
		first = 'A'
	}
	start := len(b)
	for ; v > 0; v = math.Floor((v - 1) / 26) {
		b = append(b, first+byte(math.Mod(v-1, 26)))
	}
	for i, j := start, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}

func parseLetters(s string) float64 {
	v := 0.0
	for i := range len(s) {
		c := s[i] | 0x20
		if c < 'a' || c > 'z' {
			return math.NaN()
		}
		v = v*26 + float64(c-'a'+1)
	}
	return v
}

var romans = [...]struct {
	value int
	text  string
}{
	{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"},
	{50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"},
}

// appendRoman writes v in lower case. Zero yields nothing.
func appendRoman(b []byte, v int) []byte {
	for _, r := range romans {
		for ; v >= r.value; v -= r.value {
			b = append(b, r.text...)
		}
	}
	return b
}

// parseRoman reads s from its end: a letter smaller than one behind it is
// subtracted.
func parseRoman(s string) float64 {
	v, most := 0, 1
	for i := len(s) - 1; i >= 0; i-- {
		digit := romanDigit(s[i])
		switch {
		case digit == 0:
			return math.NaN()
		case digit < most:
			v -= digit
		default:
			most = digit
			v += digit
		}
	}
	return float64(v)
}

func romanDigit(c byte) int {
	if i := strings.IndexByte("ivxlcdm", c|0x20); i >= 0 {
		return [...]int{1, 5, 10, 50, 100, 500, 1000}[i]
	}
	return 0
}

// apply converts b, lower-case letters, from start on to this case and returns
// it. In titles the word "and" stays small.
func (c letterCase) apply(b []byte, start int) []byte {
	for i := start; i < len(b); i++ {
		if b[i] < 'a' || b[i] > 'z' {
			continue
		}
		if c == upper || c == title && (i == start || b[i-1] == ' ' || b[i-1] == '-') && !strings.HasPrefix(string(b[i:min(i+4, len(b))]), "and ") {
			b[i] -= 'a' - 'A'
		}
	}
	return b
}

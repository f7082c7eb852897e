package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Numbers in texts, as ECMA-262 reads them (sections 7.1.4.1 and 19.2.4).

// isSpace reports what JavaScript trims from around a number.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

// stringNumber is StringToNumber: the whole text must be a number.
func stringNumber(s string) float64 {
	if s != "" && (s[0] <= ' ' || s[0] >= utf8.RuneSelf || s[len(s)-1] <= ' ' || s[len(s)-1] >= utf8.RuneSelf) {
		s = strings.TrimFunc(s, isSpace)
	}
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' {
		switch s[1] | 0x20 {
		case 'x':
			return natural(s[2:], 16)
		case 'o':
			return natural(s[2:], 8)
		case 'b':
			return natural(s[2:], 2)
		}
	}
	if decimalLen(s) < len(s) {
		return math.NaN()
	}
	return decimal(s)
}

// natural reads digits without a sign, of which there may be any number.
func natural(s string, base int) float64 {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return digit(r) >= base }) {
		return math.NaN()
	}
	if n, err := strconv.ParseUint(s, base, 64); err == nil {
		return float64(n)
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok {
		return math.NaN()
	}
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

// digit returns the worth of a digit, a large number where r is none.
func digit(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r|0x20 >= 'a' && r|0x20 <= 'f':
		return int(r|0x20-'a') + 10
	}
	return math.MaxInt
}

// decimalLen returns the length of the decimal literal that s begins with, 0
// where it begins with none.
func decimalLen(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	if strings.HasPrefix(s[i:], "Infinity") {
		return i + len("Infinity")
	}
	whole := digits(s[i:])
	i += whole
	fraction := 0
	if i < len(s) && s[i] == '.' {
		fraction = digits(s[i+1:])
		if whole+fraction > 0 {
			i += 1 + fraction
		}
	}
	if whole+fraction == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if n := digits(s[j:]); n > 0 {
			i = j + n
		}
	}
	return i
}

func digits(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// decimal returns the number that a literal found by decimalLen denotes, NaN
// for an empty one.
func decimal(s string) float64 {
	// An error is either NaN's or an overflow, of which the value is right.
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

package picture

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Format writes v. Halves round to even, decimally: 1.005 counts as the decimal
// that it prints as.
func (n *Number) Format(v float64) string {
	sub := &n.positive
	if math.IsNaN(v) {
		return n.symbols.nan
	}
	if v < 0 {
		sub = &n.negative
	}
	v = math.Abs(v)
	var room, space [64]byte
	out := append(room[:0], sub.prefix...)
	switch {
	case math.IsInf(v*sub.factor, 0):
		out = append(out, n.symbols.infinity...)
	case sub.hasExponent:
		out = n.appendScientific(out, v, sub)
	default:
		digits, point := fixed(space[:0], v*sub.factor, sub.maxFraction)
		out = n.appendDigits(out, digits, point, sub)
	}
	return string(append(out, sub.suffix...))
}

// appendScientific writes v as a mantissa and an exponent.
func (n *Number) appendScientific(out []byte, v float64, sub *subpicture) []byte {
	var space [64]byte
	digits, point := shortest(space[:0], v)
	exponent := 0
	if v != 0 {
		exponent = point - sub.scale
	}
	digits, point = rounded(digits, sub.scale, sub.maxFraction)
	out = n.appendDigits(out, digits, point, sub)
	out = append(out, n.symbols.exponent...)
	if exponent < 0 {
		out = append(out, n.symbols.minus...)
		exponent = -exponent
	}
	text := strconv.AppendInt(space[:0], int64(exponent), 10)
	for range sub.minExponent - len(text) {
		out = n.appendDigit(out, '0')
	}
	for _, d := range text {
		out = n.appendDigit(out, d)
	}
	return out
}

// appendDigits writes digits, of which point stand before the decimal
// separator, with as many zeros and separators as the sub-picture asks for.
func (n *Number) appendDigits(out, digits []byte, point int, sub *subpicture) []byte {
	for len(digits) > 0 && digits[0] == '0' {
		digits, point = digits[1:], point-1
	}
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	if len(digits) == 0 {
		point = 0
	}
	at := func(i int) byte {
		if i < 0 || i >= len(digits) {
			return '0'
		}
		return digits[i]
	}
	before := max(point, sub.minInteger)
	positions := sub.integerPositions
	for k := before; k > 0; k-- {
		for len(positions) > 0 && positions[0] > k {
			positions = positions[1:]
		}
		if k < before && (sub.integerInterval > 0 && k%sub.integerInterval == 0 || len(positions) > 0 && positions[0] == k) {
			out = append(out, n.symbols.grouping...)
		}
		out = n.appendDigit(out, at(point-k))
	}
	after := max(len(digits)-point, sub.minFraction)
	positions = sub.fractionPositions
	for k := range after {
		if k == 0 {
			out = append(out, n.symbols.decimal...)
		}
		if k > 0 && len(positions) > 0 && positions[0] == k {
			out = append(out, n.symbols.grouping...)
			positions = positions[1:]
		}
		out = n.appendDigit(out, at(point+k))
	}
	return out
}

func (n *Number) appendDigit(out []byte, d byte) []byte {
	return utf8.AppendRune(out, n.symbols.zero+rune(d-'0'))
}

// shortest appends the fewest digits that distinguish v from every other
// number, and returns how many of them stand before the decimal point. Zero has
// none.
func shortest(b []byte, v float64) (digits []byte, point int) {
	if v == 0 {
		return b, 0
	}
	b = strconv.AppendFloat(b, v, 'e', -1, 64)
	e := slices.Index(b, 'e')
	exponent, _ := strconv.Atoi(string(b[e+1:]))
	return append(b[:1], b[min(2, e):e]...), exponent + 1
}

// rounded rounds digits in place to fraction of them behind the decimal point,
// halves to even.
func rounded(digits []byte, point, fraction int) ([]byte, int) {
	keep := point + fraction
	if keep >= len(digits) {
		return digits, point
	}
	if keep < 0 {
		return digits[:0], point
	}
	next := digits[keep]
	up := next > '5' || next == '5' && (len(digits) > keep+1 || keep > 0 && digits[keep-1]%2 == 1)
	digits = digits[:keep]
	for i := keep - 1; up && i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return digits, point
		}
		digits[i] = '0'
	}
	if !up {
		return digits, point
	}
	return append(digits[:0], '1'), point + 1
}

// fixed appends the digits of v, at most fraction of them behind the decimal
// point. If more digits are requested than distinguish v from other numbers,
// they are those of its binary value, as JavaScript's toFixed has them.
func fixed(b []byte, v float64, fraction int) (digits []byte, point int) {
	digits, point = shortest(b, v)
	if len(digits)-point > fraction || v >= 1e21 {
		return rounded(digits, point, fraction)
	}
	b = strconv.AppendFloat(b[:0], v, 'f', fraction, 64)
	if point = slices.Index(b, '.'); point < 0 {
		return b, len(b)
	}
	return append(b[:point], b[point+1:]...), point
}

package value

import (
	"math"
	"strconv"
	"unsafe"
)

// maxSafe is 2^53: up to it every integer is a float64 of its own.
const maxSafe = 1 << 53

// FromFloat returns f as a number.
func FromFloat(f float64) Value {
	return Value{meta: uint32(Number), num: math.Float64bits(f)}
}

// FromInt returns i as a number; beyond 2^53 its digits are kept for encoding.
func FromInt(i int64) Value {
	if i > maxSafe || i < -maxSafe {
		return FromNumberText(strconv.FormatInt(i, 10))
	}
	return FromFloat(float64(i))
}

// FromNumberText returns the number that text, a JSON number, denotes. Where
// text is an integer that a float64 cannot hold, its digits are kept and
// written again when the value is encoded; arithmetic sees the nearest
// float64. A text that is no number gives NaN.
func FromNumberText(text string) Value {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return FromFloat(math.NaN())
	}
	v := FromFloat(f)
	if (f >= maxSafe || f <= -maxSafe) && isInteger(text) && FormatNumber(f) != text {
		digits := text // only such numbers pay for a string header of their own
		v.meta |= uint32(textual)
		v.ptr = unsafe.Pointer(&digits)
	}
	return v
}

func isInteger(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; (c < '0' || c > '9') && (i > 0 || c != '-') {
			return false
		}
	}
	return true
}

// Float returns the number, or NaN where v is not a number.
func (v Value) Float() float64 {
	if v.Kind() != Number {
		return math.NaN()
	}
	return math.Float64frombits(v.num)
}

// NumberText returns the digits of a number that a float64 cannot hold, and
// whether v is one.
func (v Value) NumberText() (string, bool) {
	if v.repr() != textual {
		return "", false
	}
	return *(*string)(v.ptr), true
}

// FormatNumber returns f as JavaScript prints it (ECMA-262, Number::toString).
func FormatNumber(f float64) string {
	var buf [32]byte
	return string(AppendNumber(buf[:0], f))
}

// AppendNumber appends f as JavaScript prints it (ECMA-262, Number::toString).
func AppendNumber(dst []byte, f float64) []byte {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < maxSafe:
		return strconv.AppendInt(dst, int64(f), 10)
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes at least two digits of exponent, JavaScript as few as it can.
	if n := len(dst); n >= 4 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

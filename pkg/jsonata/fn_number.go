package jsonata

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var numberFunctions = []native{
	{"number", mustSignature("<(nsb)-:n>"), 1, fnNumber},
	{"floor", mustSignature("<n-:n>"), 1, rounding(math.Floor)},
	{"ceil", mustSignature("<n-:n>"), 1, rounding(math.Ceil)},
	{"abs", mustSignature("<n-:n>"), 1, rounding(math.Abs)},
	{"round", mustSignature("<n-n?:n>"), 2, fnRound},
	{"sqrt", mustSignature("<n-:n>"), 1, fnSqrt},
	{"power", mustSignature("<n-n:n>"), 2, fnPower},
	{"random", mustSignature("<:n>"), 0, fnRandom},
	{"formatBase", mustSignature("<n-n?:s>"), 2, fnFormatBase},
	{"sum", mustSignature("<a<n>:n>"), 1, fnSum},
	{"max", mustSignature("<a<n>:n>"), 1, fnMax},
	{"min", mustSignature("<a<n>:n>"), 1, fnMin},
	{"average", mustSignature("<a<n>:n>"), 1, fnAverage},
}

func rounding(f func(float64) float64) func(*evaluator, []value.Value) (value.Value, *Error) {
	return func(_ *evaluator, args []value.Value) (value.Value, *Error) {
		if args[0].IsUndefined() {
			return value.Undef, nil
		}
		return value.FromFloat(f(args[0].Float())), nil
	}
}

func fnNumber(_ *evaluator, args []value.Value) (value.Value, *Error) {
	switch v := args[0]; v.Kind() {
	case value.Undefined, value.Number:
		return v, nil
	case value.Bool:
		if v.Bool() {
			return value.FromFloat(1), nil
		}
		return value.FromFloat(0), nil
	case value.String:
		if x, ok := parseNumber(v.Str()); ok {
			return value.FromFloat(x), nil
		}
	}
	return value.Undef, newError("D3030", -1, details{value: args[0]})
}

// parseNumber reads what $number takes: a JSON number, leading zeros allowed,
// or an integer in hexadecimal, octal or binary form.
func parseNumber(s string) (float64, bool) {
	if len(s) > 2 && s[0] == '0' && !isDigit(s[1]) && s[1] != '.' && s[1] != 'e' && s[1] != 'E' {
		base := map[byte]float64{'x': 16, 'X': 16, 'o': 8, 'O': 8, 'b': 2, 'B': 2}[s[1]]
		if base == 0 {
			return 0, false
		}
		x := 0.0
		for i := 2; i < len(s); i++ {
			d := digitValue(s[i])
			if d >= int(base) {
				return 0, false
			}
			x = x*base + float64(d)
		}
		return x, !math.IsInf(x, 0)
	}
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i > from
	}
	if strings.HasPrefix(s, "-") {
		i++
	}
	if !digits() {
		return 0, false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return 0, false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return 0, false
		}
	}
	if i < len(s) {
		return 0, false
	}
	x, _ := strconv.ParseFloat(s, 64)
	return x, !math.IsInf(x, 0)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digitValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return 99
}

func fnRound(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	return value.FromFloat(roundTo(args[0].Float(), optional(args[1], 0))), nil
}

// roundTo rounds to a number of decimal places, halves to even. The point is
// moved in the decimal text, so that 4.525 is a half at two places.
func roundTo(x, places float64) float64 {
	if places != 0 {
		x = shift(x, places)
	}
	r := math.Floor(x + 0.5)
	if x == math.Trunc(x) {
		r = x
	}
	if math.Abs(r-x) == 0.5 && math.Abs(math.Mod(r, 2)) == 1 {
		r--
	}
	if places != 0 {
		r = shift(r, -places)
	}
	if r == 0 {
		return 0
	}
	return r
}

// shift moves the decimal point of x.
func shift(x, places float64) float64 {
	mantissa, exponent, _ := strings.Cut(value.FormatNumber(x), "e")
	e := 0.0
	if exponent != "" {
		e, _ = strconv.ParseFloat(exponent, 64)
	}
	text := value.FormatNumber(e + places)
	y, err := strconv.ParseFloat(mantissa+"e"+text, 64)
	if err != nil && !math.IsInf(y, 0) {
		return math.NaN()
	}
	return y
}

func fnSqrt(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	x := args[0].Float()
	if x < 0 {
		return value.Undef, newError("D3060", -1, details{value: args[0]})
	}
	return value.FromFloat(math.Sqrt(x)), nil
}

func fnPower(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	x := math.NaN()
	if !args[1].IsUndefined() {
		x = power(args[0].Float(), args[1].Float())
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return value.Undef, newError("D3061", -1, details{value: args[0], text: shown(args[1])})
	}
	return value.FromFloat(x), nil
}

// power is math.Pow, rounded once where the exponent is a moderate integer: the
// usual powers of ten are what they are written as.
func power(x, y float64) float64 {
	p := math.Pow(x, y)
	if y != math.Trunc(y) || math.Abs(y) > 1100 || math.Abs(p) < 1e-300 || math.Abs(p) > math.MaxFloat64 || math.IsNaN(p) {
		return p
	}
	const precision = 256 // bits; the error of 22 multiplications stays far below half a unit of a float64
	square := new(big.Float).SetPrec(precision).SetFloat64(x)
	exact := new(big.Float).SetPrec(precision).SetInt64(1)
	for n := int(math.Abs(y)); n > 0; n >>= 1 {
		if n&1 == 1 {
			exact.Mul(exact, square)
		}
		square.Mul(square, square)
	}
	if y < 0 {
		exact.Quo(big.NewFloat(1), exact)
	}
	p, _ = exact.Float64()
	return p
}

func fnRandom(ev *evaluator, _ []value.Value) (value.Value, *Error) {
	return value.FromFloat(randomOf(ev)), nil
}

func fnFormatBase(_ *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	x := roundTo(args[0].Float(), 0)
	base := roundTo(optional(args[1], 10), 0)
	if !(base >= 2 && base <= 36) {
		return value.Undef, newError("D3100", -1, details{value: value.FromFloat(base)})
	}
	return value.FromString(formatBase(x, int(base))), nil
}

// formatBase writes an integer; beyond 2^53, digits that a float64 does not
// hold are zeros, as in JavaScript.
func formatBase(x float64, base int) string {
	if base == 10 || math.IsInf(x, 0) || math.IsNaN(x) {
		return value.FormatNumber(x)
	}
	a := math.Abs(x)
	zeros := 0
	for a >= 1<<53 {
		a /= float64(base)
		zeros++
	}
	text := strconv.FormatInt(int64(a), base) + strings.Repeat("0", zeros)
	if x < 0 {
		return "-" + text
	}
	return text
}

// fold goes through the numbers of an array.
func fold(ev *evaluator, v value.Value, start float64, do func(acc, x float64) float64) (float64, *Error) {
	elems := v.Elems()
	if err := ev.spend(len(elems) >> 3); err != nil {
		return 0, err
	}
	for i := range elems {
		start = do(start, elems[i].Float())
	}
	return start, nil
}

func add(a, b float64) float64 { return a + b }

func fnSum(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	x, err := fold(ev, args[0], 0, add)
	return value.FromFloat(x), err
}

func fnMax(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].Len() == 0 {
		return value.Undef, nil
	}
	x, err := fold(ev, args[0], math.Inf(-1), math.Max)
	return value.FromFloat(x), err
}

func fnMin(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].Len() == 0 {
		return value.Undef, nil
	}
	x, err := fold(ev, args[0], math.Inf(1), math.Min)
	return value.FromFloat(x), err
}

func fnAverage(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].Len() == 0 {
		return value.Undef, nil
	}
	x, err := fold(ev, args[0], 0, add)
	return value.FromFloat(x / float64(args[0].Len())), err
}

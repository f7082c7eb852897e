package expr

import (
	"maps"
	"math"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// operator computes an operation from the values of its arguments, of which
// there may be any number. It must not keep the slice.
type operator func(st *state, args []value.Value) (value.Value, error)

// operators are those that take their arguments' values (json-logic-js 2.0.5).
// The others, which decide what is evaluated and over what, are in compile.
var operators = map[string]operator{
	"==":  func(st *state, args []value.Value) (value.Value, error) { return equality(st, args, true) },
	"!=":  func(st *state, args []value.Value) (value.Value, error) { return equality(st, args, false) },
	"===": func(st *state, args []value.Value) (value.Value, error) { return identity(args, true), nil },
	"!==": func(st *state, args []value.Value) (value.Value, error) { return identity(args, false), nil },
	"<":   func(st *state, args []value.Value) (value.Value, error) { return ascending(st, args, strictly) },
	"<=":  func(st *state, args []value.Value) (value.Value, error) { return ascending(st, args, weakly) },
	">":   func(st *state, args []value.Value) (value.Value, error) { return descending(st, args, strictly) },
	">=":  func(st *state, args []value.Value) (value.Value, error) { return descending(st, args, weakly) },
	"!": func(_ *state, args []value.Value) (value.Value, error) {
		return value.FromBool(!truthy(arg(args, 0))), nil
	},
	"!!": func(_ *state, args []value.Value) (value.Value, error) {
		return value.FromBool(truthy(arg(args, 0))), nil
	},
	"+":      add,
	"*":      multiply,
	"-":      subtract,
	"/":      func(st *state, args []value.Value) (value.Value, error) { return divide(st, args, quotient) },
	"%":      func(st *state, args []value.Value) (value.Value, error) { return divide(st, args, math.Mod) },
	"min":    func(st *state, args []value.Value) (value.Value, error) { return extreme(st, args, math.Min, 1) },
	"max":    func(st *state, args []value.Value) (value.Value, error) { return extreme(st, args, math.Max, -1) },
	"cat":    concatenate,
	"substr": substring,
	"in":     contains,
	"merge":  merge,
	"log":    log,
	// Of these two, what the keys are looked up in is the scope's.
	"missing":      missing,
	"missing_some": missingSome,
}

// deciding are the operators that compile knows itself.
var deciding = []string{"var", "if", "?:", "and", "or", "map", "filter", "reduce", "all", "some", "none"}

// operatorNames returns all operators.
func operatorNames() []string {
	return slices.AppendSeq(slices.Clone(deciding), maps.Keys(operators))
}

func equality(st *state, args []value.Value, want bool) (value.Value, error) {
	eq, err := st.looseEqual(arg(args, 0), arg(args, 1))
	return value.FromBool(eq == want), err
}

func identity(args []value.Value, want bool) value.Value {
	return value.FromBool(strictEqual(arg(args, 0), arg(args, 1)) == want)
}

// strictly and weakly report whether a < b, or a <= b, from what is known of
// their order.
func strictly(st *state, a, b value.Value) (bool, error) {
	less, _, err := st.less(a, b)
	return less, err
}

func weakly(st *state, a, b value.Value) (bool, error) {
	more, ordered, err := st.less(b, a)
	return ordered && !more, err
}

type order func(st *state, a, b value.Value) (bool, error)

// ascending compares two arguments, or the three of a "between".
func ascending(st *state, args []value.Value, before order) (value.Value, error) {
	ok, err := before(st, arg(args, 0), arg(args, 1))
	if ok && err == nil && len(args) > 2 {
		ok, err = before(st, args[1], args[2])
	}
	return value.FromBool(ok), err
}

func descending(st *state, args []value.Value, before order) (value.Value, error) {
	ok, err := before(st, arg(args, 1), arg(args, 0))
	return value.FromBool(ok), err
}

func add(st *state, args []value.Value) (value.Value, error) {
	sum := 0.0
	for _, v := range args {
		f, err := st.parsed(v)
		if err != nil {
			return value.Undef, err
		}
		sum += f
	}
	return value.FromFloat(sum), nil
}

func multiply(st *state, args []value.Value) (value.Value, error) {
	if len(args) == 0 {
		return value.Undef, failed(`"*" needs at least one argument`)
	}
	if len(args) == 1 {
		return args[0], nil
	}
	product := 1.0
	for _, v := range args {
		f, err := st.parsed(v)
		if err != nil {
			return value.Undef, err
		}
		product *= f
	}
	return value.FromFloat(product), nil
}

func subtract(st *state, args []value.Value) (value.Value, error) {
	a, err := st.number(arg(args, 0))
	if err != nil || len(args) < 2 {
		return value.FromFloat(-a), err
	}
	b, err := st.number(args[1])
	return value.FromFloat(a - b), err
}

func quotient(a, b float64) float64 { return a / b }

func divide(st *state, args []value.Value, op func(a, b float64) float64) (value.Value, error) {
	a, err := st.number(arg(args, 0))
	if err != nil {
		return value.Undef, err
	}
	b, err := st.number(arg(args, 1))
	return value.FromFloat(op(a, b)), err
}

func extreme(st *state, args []value.Value, pick func(a, b float64) float64, sign int) (value.Value, error) {
	best := math.Inf(sign)
	for _, v := range args {
		f, err := st.number(v)
		if err != nil {
			return value.Undef, err
		}
		// Go's would prefer an infinity to NaN.
		if math.IsNaN(f) || math.IsNaN(best) {
			best = math.NaN()
			continue
		}
		best = pick(best, f)
	}
	return value.FromFloat(best), nil
}

func concatenate(st *state, args []value.Value) (value.Value, error) {
	var dst []byte
	var err error
	for _, v := range args {
		if dst, err = st.appendText(dst, v, 0); err != nil {
			return value.Undef, err
		}
	}
	return value.FromString(joined(dst)), nil
}

func substring(st *state, args []value.Value) (value.Value, error) {
	source, err := st.text(arg(args, 0))
	if err != nil {
		return value.Undef, err
	}
	if err := st.spend(len(source) / 16); err != nil {
		return value.Undef, err
	}
	if err := st.charge(len(source)); err != nil {
		return value.Undef, err
	}
	start := 0.0
	if len(args) > 1 {
		if start, err = st.number(args[1]); err != nil {
			return value.Undef, err
		}
		start = integer(start)
	}
	if len(args) < 3 {
		return value.FromString(substr(source, start, math.Inf(1))), nil
	}
	length, err := st.number(args[2])
	if err != nil {
		return value.Undef, err
	}
	if length < 0 {
		// A negative length leaves that many off the end. The reference adds
		// it to the length of the rest, and to a text JavaScript appends.
		source, start = substr(source, start, math.Inf(1)), 0
		rest, err := st.primitive(args[2])
		if err != nil {
			return value.Undef, err
		}
		n := float64(units(source))
		if rest.Kind() == value.String {
			length = stringNumber(value.FormatNumber(n) + rest.Str())
		} else {
			length += n
		}
	}
	return value.FromString(substr(source, start, length)), nil
}

func contains(st *state, args []value.Value) (value.Value, error) {
	needle, hay := arg(args, 0), arg(args, 1)
	switch hay.Kind() {
	case value.String:
		if hay.Str() == "" {
			return value.False, nil
		}
		s, err := st.text(needle)
		if err == nil {
			err = st.spend(len(hay.Str()) / 64)
		}
		return value.FromBool(err == nil && includes(hay.Str(), s)), err
	case value.Array:
		if err := st.spend(hay.Len()); err != nil {
			return value.Undef, err
		}
		for _, e := range hay.Elems() {
			if strictEqual(e, needle) || nullish(e) && nullish(needle) {
				return value.True, nil
			}
		}
	}
	return value.False, nil
}

func merge(st *state, args []value.Value) (value.Value, error) {
	n := 0
	for _, v := range args {
		if v.Kind() == value.Array {
			n += v.Len()
		} else {
			n++
		}
	}
	if err := st.room(n); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, 0, n)
	for _, v := range args {
		if v.Kind() == value.Array {
			out = append(out, v.Elems()...)
		} else {
			out = append(out, v)
		}
	}
	return value.FromArray(out), nil
}

func log(st *state, args []value.Value) (value.Value, error) {
	v := arg(args, 0)
	if st.env == nil || st.env.Log == nil {
		return v, nil
	}
	if err := st.bounded(v); err != nil {
		return value.Undef, err
	}
	if p := st.processor(); p != nil {
		p.Release() // the log may block
	}
	st.env.Log(v)
	return v, nil
}

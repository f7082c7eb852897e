package expr

import (
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// The conversions of ECMA-262, section 7.1, over JSON values. An object has
// none of JavaScript's inherited members, and its text is [object Object]
// whatever its own are.

// truthy is JSON Logic's truth (https://jsonlogic.com/truthy.html): as
// JavaScript's, except that an empty array is false.
func truthy(v value.Value) bool {
	if v.Kind() == value.Array {
		return v.Len() > 0
	}
	return v.Truthy()
}

func nullish(v value.Value) bool {
	return v.Kind() == value.Undefined || v.Kind() == value.Null
}

func composite(v value.Value) bool { return v.Kind() >= value.Array }

// number is ToNumber.
func (st *state) number(v value.Value) (float64, error) {
	switch v.Kind() {
	case value.Number:
		return v.Float(), nil
	case value.Null:
		return 0, nil
	case value.Bool:
		if v.Bool() {
			return 1, nil
		}
		return 0, nil
	case value.String:
		return stringNumber(v.Str()), nil
	case value.Array:
		s, err := st.text(v)
		return stringNumber(s), err
	}
	return math.NaN(), nil
}

// parsed is parseFloat, which reads as much of the text as is a number.
func (st *state) parsed(v value.Value) (float64, error) {
	if v.Kind() == value.Number {
		return v.Float() + 0, nil
	}
	s, err := st.text(v)
	if err != nil {
		return 0, err
	}
	s = strings.TrimLeftFunc(s, isSpace)
	return decimal(s[:decimalLen(s)]), nil
}

// text is ToString. Undefined is written as null, because var of JSON Logic
// yields null if there is nothing.
func (st *state) text(v value.Value) (string, error) {
	switch v.Kind() {
	case value.String:
		return v.Str(), nil
	case value.Undefined, value.Null:
		return "null", nil
	}
	dst, err := st.appendText(nil, v, 0)
	return joined(dst), err
}

// joined returns the text that was put together in dst, which must not be
// changed any more. Halves of surrogate pairs that met become one character.
func joined(dst []byte) string {
	return value.JoinSurrogates(unsafe.String(unsafe.SliceData(dst), len(dst)))
}

// appendText appends what Array.prototype.join makes of an element: nothing
// for undefined and null, else its text.
func (st *state) appendText(dst []byte, v value.Value, depth int) ([]byte, error) {
	before := len(dst)
	switch v.Kind() {
	case value.Undefined, value.Null:
		return dst, nil
	case value.Bool:
		dst = strconv.AppendBool(dst, v.Bool())
	case value.Number:
		dst = value.AppendNumber(dst, v.Float())
	case value.String:
		if err := st.charge(len(v.Str())); err != nil {
			return nil, err
		}
		return append(dst, v.Str()...), nil
	case value.Array:
		if depth >= value.MaxDepth {
			return nil, exceeded("the value is nested too deeply to convert it to text")
		}
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if err := st.spend(1); err != nil {
				return nil, err
			}
			var err error
			if dst, err = st.appendText(dst, e, depth+1); err != nil {
				return nil, err
			}
		}
		return dst, st.charge(v.Len())
	default:
		dst = append(dst, "[object Object]"...)
	}
	return dst, st.charge(len(dst) - before)
}

// primitive returns arrays and objects as their text, anything else as it is.
func (st *state) primitive(v value.Value) (value.Value, error) {
	if !composite(v) {
		return v, nil
	}
	s, err := st.text(v)
	return value.FromString(s), err
}

// less reports whether a < b, and whether the two can be ordered at all:
// undefined, NaN and what is no number cannot, but for two strings.
func (st *state) less(a, b value.Value) (less, ordered bool, err error) {
	if a.Kind() == value.Number && b.Kind() == value.Number {
		x, y := a.Float(), b.Float()
		return x < y, x == x && y == y, nil
	}
	if a, err = st.primitive(a); err != nil {
		return false, false, err
	}
	if b, err = st.primitive(b); err != nil {
		return false, false, err
	}
	if a.Kind() == value.String && b.Kind() == value.String {
		return value.CompareStrings(a.Str(), b.Str()) < 0, true, nil
	}
	x, _ := st.number(a)
	y, _ := st.number(b)
	return x < y, x == x && y == y, nil
}

// looseEqual is ==.
func (st *state) looseEqual(a, b value.Value) (bool, error) {
	for {
		switch ka, kb := a.Kind(), b.Kind(); {
		case nullish(a) || nullish(b):
			return nullish(a) && nullish(b), nil
		case ka == kb || composite(a) && composite(b):
			return strictEqual(a, b), nil
		case composite(a):
			a, b = b, a
		case composite(b):
			s, err := st.text(b)
			if err != nil {
				return false, err
			}
			b = value.FromString(s)
		default:
			// Two of number, string and boolean.
			x, _ := st.number(a)
			y, _ := st.number(b)
			return x == y, nil
		}
	}
}

// strictEqual is ===: arrays and objects equal themselves alone.
func strictEqual(a, b value.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.Array:
		return same(a.Elems(), b.Elems())
	case value.Object:
		return same(a.Entries(), b.Entries())
	}
	return value.Equal(a, b)
}

// same reports whether two values share what is in them. Empty ones share
// nothing, so they are taken for two.
func same[T any](x, y []T) bool {
	return len(x) > 0 && len(x) == len(y) && &x[0] == &y[0]
}

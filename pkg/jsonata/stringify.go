package jsonata

import (
	"math"
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// stringOf casts a value to a string as $string does.
func stringOf(ev *evaluator, v value.Value, indent bool) (value.Value, *Error) {
	switch v.Kind() {
	case value.Undefined, value.String:
		if v.IsUndefined() {
			return value.Undef, nil
		}
		return v, nil
	case value.Func:
		return value.FromString(""), nil
	case value.Number:
		x := v.Float()
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return value.Undef, newError("D3001", -1, details{value: v})
		}
		return value.FromString(value.FormatNumber(rounded(x))), nil
	}
	w := writer{ev: ev}
	if indent {
		w.indent = "\n"
	}
	if err := w.write(outermost(v), w.indent, 0); err != nil {
		return value.Undef, err
	}
	if err := ev.text(len(w.out)); err != nil {
		return value.Undef, err
	}
	return value.FromString(string(w.out)), nil
}

// rounded cuts a number to fifteen significant digits, halves away from zero,
// unless it is an integer.
func rounded(x float64) float64 {
	if x == math.Trunc(x) || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	var buf [40]byte
	text := strconv.AppendFloat(buf[:0], x, 'e', 14, 64)
	y, _ := strconv.ParseFloat(string(text), 64)
	if y == x {
		return x
	}
	// Go rounds a tie to even, JavaScript up. In a tie the digits behind the
	// fifteenth are 5 and nothing else.
	text = strconv.AppendFloat(buf[:0], math.Abs(x), 'e', 25, 64)
	if text[16] == '5' {
		tie := true
		for _, c := range text[17:27] {
			tie = tie && c == '0'
		}
		if tie {
			text[16] = '9'
			up, _ := strconv.ParseFloat(strconv.FormatFloat(mustParse(string(text)), 'e', 14, 64), 64)
			return math.Copysign(up, x)
		}
	}
	return y
}

func mustParse(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

// writer writes values as JSON the way $string does: numbers rounded,
// functions as empty strings.
type writer struct {
	ev      *evaluator
	out     []byte
	indent  string // "\n" where lines are indented
	counted textSize
}

func (w *writer) check() *Error {
	if len(w.out)-w.counted.len < 4096 {
		return nil
	}
	return w.ev.builds(w.out, &w.counted)
}

func (w *writer) write(v value.Value, newline string, depth int) *Error {
	if depth > maxValueDepth {
		return stopped(-1, "a value is nested too deeply")
	}
	switch v.Kind() {
	case value.Number:
		x := v.Float()
		switch {
		case math.IsInf(x, 0):
			return newError("D1001", -1, details{})
		case math.IsNaN(x):
			w.out = append(w.out, "null"...)
		default:
			w.out = value.AppendNumber(w.out, rounded(x))
		}
	case value.String:
		w.out = value.AppendString(w.out, v.Str())
	case value.Func:
		w.out = append(w.out, `""`...)
	case value.Array:
		return w.array(v.Elems(), newline, depth)
	case value.Object:
		return w.object(v.Entries(), newline, depth)
	default:
		w.out = v.Append(w.out)
	}
	return w.check()
}

func (w *writer) array(elems []value.Value, newline string, depth int) *Error {
	inside := newline
	if w.indent != "" {
		inside += "  "
	}
	w.out = append(w.out, '[')
	for i, e := range elems {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, inside...)
		if err := w.write(e, inside, depth+1); err != nil {
			return err
		}
	}
	if len(elems) > 0 {
		w.out = append(w.out, newline...)
	}
	w.out = append(w.out, ']')
	return w.check()
}

func (w *writer) object(entries []value.Entry, newline string, depth int) *Error {
	inside := newline
	if w.indent != "" {
		inside += "  "
	}
	w.out = append(w.out, '{')
	first := true
	for i := range entries {
		e := &entries[i]
		if e.Value.IsUndefined() {
			continue
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		w.out = append(w.out, inside...)
		w.out = value.AppendString(w.out, e.Key)
		w.out = append(w.out, ':')
		if w.indent != "" {
			w.out = append(w.out, ' ')
		}
		if err := w.write(e.Value, inside, depth+1); err != nil {
			return err
		}
	}
	if !first {
		w.out = append(w.out, newline...)
	}
	w.out = append(w.out, '}')
	return w.check()
}

// draftOf makes the copy that a transform changes and $clone returns: what JSON
// makes of the value, with numbers rounded as $string rounds them.
func draftOf(ev *evaluator, v value.Value) (*value.Draft, *Error) {
	v = outermost(v)
	if err := checkDepth(ev, v, 0); err != nil {
		return nil, err
	}
	cells, infinite := 0, false
	d := value.NewDraft(v, func(leaf value.Value) value.Value {
		cells++
		switch leaf.Kind() {
		case value.Func:
			return value.FromString("")
		case value.Number:
			x := leaf.Float()
			if math.IsInf(x, 0) || math.IsNaN(x) {
				infinite = infinite || math.IsInf(x, 0)
				return value.NullValue
			}
			if x != math.Trunc(x) {
				return value.FromFloat(rounded(x))
			}
		}
		return leaf
	})
	if infinite {
		return nil, newError("D1001", -1, details{})
	}
	return d, ev.meter(64 * cells)
}

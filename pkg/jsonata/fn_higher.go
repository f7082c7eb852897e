package jsonata

import (
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var higherOrderFunctions = []native{
	{"map", mustSignature("<af>"), 2, fnMap},
	{"filter", mustSignature("<af>"), 2, fnFilter},
	{"single", mustSignature("<af?>"), 2, fnSingle},
	{"reduce", mustSignature("<afj?:j>"), 3, fnReduce},
	{"each", mustSignature("<o-f:a>"), 2, fnEach},
	{"sift", mustSignature("<o-f?:o>"), 2, fnSift},
}

// callback calls a function with an element, its place and the whole, as far
// as it has parameters for them.
type callback struct {
	ev    *evaluator
	fn    callable
	n     int
	args  [3]value.Value
	plain *closure // a function whose arguments need no checks
}

func newCallback(ev *evaluator, fn value.Value) *callback {
	cb := &callback{ev: ev, fn: callableOf(fn)}
	if cb.fn != nil {
		cb.n = min(max(cb.fn.arity(), 1), 3)
	}
	if c, ok := cb.fn.(*closure); ok && c.fn.sig == nil {
		cb.plain = c
	}
	return cb
}

func (cb *callback) call(element, place, whole value.Value) (value.Value, *Error) {
	cb.args = [3]value.Value{element, place, whole}
	if cb.plain == nil {
		return cb.ev.apply(cb.fn, cb.args[:cb.n])
	}
	ev := cb.ev
	if err := ev.enter(-1); err != nil {
		return value.Undef, err
	}
	f, err := cb.plain.frame(ev, cb.args[:cb.n], value.Undef)
	if err != nil {
		return value.Undef, err
	}
	v, err := cb.plain.run(ev, f, value.NullValue)
	ev.leave()
	return v, err
}

// index returns a number for the place of an element.
func index(i int) value.Value { return value.FromFloat(float64(i)) }

func fnMap(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	whole := args[0]
	cb := newCallback(ev, args[1])
	elems := whole.Elems()
	if err := ev.cells(0, len(elems)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, 0, len(elems))
	for i, e := range elems {
		v, err := cb.call(e, index(i), whole)
		if err != nil {
			return value.Undef, err
		}
		if !v.IsUndefined() {
			out = append(out, v)
		}
	}
	return sequence(out), nil
}

func fnFilter(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	whole := args[0]
	cb := newCallback(ev, args[1])
	var out []value.Value
	for i, e := range whole.Elems() {
		v, err := cb.call(e, index(i), whole)
		if err != nil {
			return value.Undef, err
		}
		keep, err := ev.truth(v, -1)
		if err != nil {
			return value.Undef, err
		}
		if keep {
			if len(out) == cap(out) {
				if err := ev.grows(len(out)); err != nil {
					return value.Undef, err
				}
			}
			out = append(out, e)
		}
	}
	return sequence(out), nil
}

func fnSingle(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	whole := args[0]
	var cb *callback
	if !args[1].IsUndefined() {
		cb = newCallback(ev, args[1])
	}
	var match value.Value
	found := false
	for i, e := range whole.Elems() {
		if cb != nil {
			v, err := cb.call(e, index(i), whole)
			if err != nil {
				return value.Undef, err
			}
			ok, err := ev.truth(v, -1)
			if err != nil {
				return value.Undef, err
			}
			if !ok {
				continue
			}
		}
		if found {
			return value.Undef, newError("D3138", -1, details{})
		}
		match, found = e, true
	}
	if !found {
		return value.Undef, newError("D3139", -1, details{})
	}
	return match, nil
}

func fnReduce(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	whole, acc := args[0], args[2]
	fn := callableOf(args[1])
	if fn == nil || fn.arity() < 2 {
		return value.Undef, newError("D3050", -1, details{})
	}
	elems := whole.Elems()
	from := 0
	if acc.IsUndefined() && len(elems) > 0 {
		acc = elems[0]
		from = 1
	}
	n := min(fn.arity(), 4)
	list := make([]value.Value, 4)
	for i := from; i < len(elems); i++ {
		list[0], list[1], list[2], list[3] = acc, elems[i], index(i), whole
		var err *Error
		if acc, err = ev.apply(fn, list[:n]); err != nil {
			return value.Undef, err
		}
	}
	return acc, nil
}

func fnEach(ev *evaluator, args []value.Value) (value.Value, *Error) {
	whole := args[0]
	cb := newCallback(ev, args[1])
	var out []value.Value
	for _, e := range whole.Entries() {
		v, err := cb.call(e.Value, value.FromString(e.Key), whole)
		if err != nil {
			return value.Undef, err
		}
		if !v.IsUndefined() {
			out = append(out, v)
		}
	}
	return sequence(out), ev.meter(24 * len(out))
}

func fnSift(ev *evaluator, args []value.Value) (value.Value, *Error) {
	whole := args[0]
	cb := newCallback(ev, args[1])
	var out []value.Entry
	for _, e := range whole.Entries() {
		ok := true
		if cb.fn != nil {
			v, err := cb.call(e.Value, value.FromString(e.Key), whole)
			if err != nil {
				return value.Undef, err
			}
			if ok, err = ev.truth(v, -1); err != nil {
				return value.Undef, err
			}
		}
		if ok {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return value.Undef, nil
	}
	return value.FromEntries(out), ev.construct(2 * len(out))
}

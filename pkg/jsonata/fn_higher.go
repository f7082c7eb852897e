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

// callback calls a function again and again, with as many of the arguments
// that are given as it has parameters for.
type callback struct {
	ev   *evaluator
	fn   callable
	n    int
	args [4]value.Value

	// A function that needs no checks of its arguments and whose frame is used
	// again.
	plain *closure
	frame *frame
}

func newCallback(ev *evaluator, fn value.Value) *callback {
	cb := &callback{ev: ev, fn: callableOf(fn)}
	if cb.fn != nil {
		cb.n = min(max(cb.fn.arity(), 1), 3)
	}
	if c, ok := cb.fn.(*closure); ok && c.fn.sig == nil && c.fn.info.pooled && len(c.fn.params) > 0 {
		cb.plain = c
	}
	return cb
}

// call calls with an element, its place and the whole.
func (cb *callback) call(element, place, whole value.Value) (value.Value, *Error) {
	cb.args[0] = element
	if cb.n > 1 {
		cb.args[1], cb.args[2] = place, whole
	}
	return cb.again()
}

// again calls with the arguments that are set.
func (cb *callback) again() (value.Value, *Error) {
	ev := cb.ev
	if cb.plain == nil {
		return applyTo(ev, cb.fn, cb.args[:cb.n])
	}
	if err := ev.enter(-1); err != nil {
		return value.Undef, err
	}
	fn := cb.plain.fn
	if cb.frame == nil {
		cb.frame = ev.newFrame(fn.info, cb.plain.env)
	} else if len(cb.frame.cells) > len(fn.params) {
		clear(cb.frame.cells)
	}
	for i, at := range fn.params {
		var v value.Value
		if i < cb.n {
			v = cb.args[i]
		}
		cb.frame.cells[at] = cell{v, true}
	}
	outside := ev.context
	ev.context = value.NullValue
	v, err := fn.body.eval(ev, cb.frame, cb.plain.in)
	if err == nil && ev.tail != nil {
		c, f := ev.tail, ev.tailFrame
		ev.tail, ev.tailFrame = nil, nil
		v, err = c.run(ev, f, ev.context)
	}
	ev.context = outside
	ev.leave()
	return v, err
}

// done releases the frame after the last call.
func (cb *callback) done() {
	if cb.frame != nil {
		cb.ev.release(cb.plain.fn.info, cb.frame)
		cb.frame = nil
	}
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
	if err := ev.cells(len(elems)); err != nil {
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
	cb.done()
	return sequence(out), nil
}

func fnFilter(ev *evaluator, args []value.Value) (value.Value, *Error) {
	if args[0].IsUndefined() {
		return value.Undef, nil
	}
	whole := args[0]
	cb := newCallback(ev, args[1])
	// What is kept waits on the stack until its number is known.
	base := len(ev.stack)
	for i, e := range whole.Elems() {
		v, err := cb.call(e, index(i), whole)
		if err != nil {
			return value.Undef, err
		}
		keep, err := truth(ev, v, -1)
		if err != nil {
			return value.Undef, err
		}
		if keep {
			if err := ev.put(e); err != nil {
				return value.Undef, err
			}
		}
	}
	cb.done()
	return unstack(ev, base)
}

// unstack makes a sequence of what lies on the stack from base on.
func unstack(ev *evaluator, base int) (value.Value, *Error) {
	kept := ev.stack[base:]
	if err := ev.cells(len(kept)); err != nil {
		return value.Undef, err
	}
	out := make([]value.Value, len(kept))
	copy(out, kept)
	ev.drop(base)
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
			ok, err := truth(ev, v, -1)
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
	cb := newCallback(ev, args[1])
	cb.n = min(fn.arity(), 4)
	for i := from; i < len(elems); i++ {
		cb.args[0], cb.args[1], cb.args[2], cb.args[3] = acc, elems[i], index(i), whole
		var err *Error
		if acc, err = cb.again(); err != nil {
			return value.Undef, err
		}
	}
	cb.done()
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
			if out, err = ev.push(out, v); err != nil {
				return value.Undef, err
			}
		}
	}
	return sequence(out), nil
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
			if ok, err = truth(ev, v, -1); err != nil {
				return value.Undef, err
			}
		}
		if ok {
			var err *Error
			if out, err = room(ev, out, 1, entryBytes); err != nil {
				return value.Undef, err
			}
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return value.Undef, nil
	}
	return value.FromEntries(out), construct(ev, 0)
}

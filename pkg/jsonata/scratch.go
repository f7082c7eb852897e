package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// What a pooled evaluator keeps at most: values, numbers and frames.
const (
	keptStack   = 1 << 14
	keptNumbers = 1 << 14
	keptFrames  = 256
)

// scratch returns n undefined values until drop is called with base. Few come
// from the top of the stack, which mostly costs no memory of their own; they
// count all the same, as those of calls inside calls add up.
func (ev *evaluator) scratch(n int) (room []value.Value, base int, err *Error) {
	base = len(ev.stack)
	if err := ev.meter(cellBytes * n); err != nil {
		return nil, 0, err
	}
	if n > keptStack {
		return make([]value.Value, n), base, nil
	}
	ev.extend(n)
	return ev.stack[base:], base, nil
}

// put puts a value on the stack.
func (ev *evaluator) put(v value.Value) *Error {
	if len(ev.stack) == cap(ev.stack) {
		if err := ev.widen(); err != nil {
			return err
		}
	}
	ev.stack = append(ev.stack, v)
	return nil
}

// widen makes room for another value.
func (ev *evaluator) widen() (err *Error) {
	ev.stack, err = room(ev, ev.stack, 1, cellBytes)
	return err
}

// extend adds n undefined values to the stack. What lies behind its top is
// always undefined.
func (ev *evaluator) extend(n int) {
	if top := len(ev.stack) + n; top <= cap(ev.stack) {
		ev.stack = ev.stack[:top]
		return
	}
	ev.stack = append(ev.stack, make([]value.Value, n)...)
}

// drop takes everything from base on from the stack.
func (ev *evaluator) drop(base int) {
	clear(ev.stack[base:])
	ev.stack = ev.stack[:base]
}

// numbers is scratch for places of items; their contents are of any kind.
func (ev *evaluator) numbers(n int) (room []int32, base int, err *Error) {
	base = len(ev.places)
	if err := ev.meter(4 * n); err != nil {
		return nil, 0, err
	}
	if n > keptNumbers {
		return make([]int32, n), base, nil
	}
	if cap(ev.places)-base < n {
		// Evaluations that hold the old ones go on with them.
		ev.places = append(ev.places, make([]int32, n)...)
	}
	ev.places = ev.places[:base+n]
	return ev.places[base:], base, nil
}

func (ev *evaluator) dropNumbers(base int) { ev.places = ev.places[:base] }

package jsonata

import "github.com/mcpgraph/mcpgraph/pkg/value"

// collector collects the results of a step for many items. The first result is
// held back: alone, at the end of a path, an array is left as it is.
type collector struct {
	first value.Value
	seq   []value.Value
	n     int // results so far
	room  int
}

func (c *collector) add(ev *evaluator, v value.Value) *Error {
	c.n++
	if c.n == 1 {
		c.first = v
		return nil
	}
	if c.n == 2 {
		var err *Error
		if c.seq, err = room(ev, c.seq, max(c.room, 4), cellBytes); err != nil {
			return err
		}
		if err := c.flatten(ev, c.first); err != nil {
			return err
		}
	}
	return c.flatten(ev, v)
}

func (c *collector) flatten(ev *evaluator, v value.Value) (err *Error) {
	if v.Kind() != value.Array || v.Flags()&value.Cons != 0 {
		c.seq, err = ev.push(c.seq, v)
	} else {
		c.seq, err = ev.pushAll(c.seq, v.Elems())
	}
	return err
}

// result returns the sequence, or what was the only result.
func (c *collector) result(ev *evaluator, last bool) (value.Value, *Error) {
	if c.n == 1 {
		v := c.first
		if v.Kind() == value.Array {
			flags := v.Flags()
			if last && flags&value.Sequence == 0 {
				return v, nil
			}
			if flags&value.Cons == 0 {
				return v.WithFlags(value.Sequence), nil
			}
		}
		return value.FromArray([]value.Value{v}).WithFlags(value.Sequence), nil
	}
	return value.FromArray(c.seq).WithFlags(value.Sequence), nil
}

// member looks up the name of the step in an item.
func (st *step) member(ev *evaluator, item value.Value) (value.Value, *Error) {
	if !st.keep || item.Kind() != value.Array {
		return memberOf(ev, item, st.name)
	}
	var out []value.Value
	if err := membersOf(ev, item.Elems(), st.name, &out, 0); err != nil || len(out) == 0 {
		return value.Undef, err
	}
	return value.FromArray(out).WithFlags(value.Sequence | value.KeepSingleton), nil
}

// memberOf looks a name up in an item of any kind; in an array, in each of its
// elements.
func memberOf(ev *evaluator, item value.Value, name string) (value.Value, *Error) {
	switch item.Kind() {
	case value.Object:
		return item.Get(name), nil
	case value.Array:
		var out []value.Value
		if err := membersOf(ev, item.Elems(), name, &out, 0); err != nil {
			return value.Undef, err
		}
		return unwrap(value.FromArray(out).WithFlags(value.Sequence)), nil
	}
	return value.Undef, nil
}

func membersOf(ev *evaluator, items []value.Value, name string, out *[]value.Value, depth int) (err *Error) {
	if depth > maxValueDepth {
		return stopped(-1, "a value is nested too deeply")
	}
	if err := ev.spend(len(items)); err != nil {
		return err
	}
	for _, item := range items {
		switch item.Kind() {
		case value.Object:
			switch v := item.Get(name); v.Kind() {
			case value.Undefined:
			case value.Array:
				*out, err = ev.pushAll(*out, v.Elems())
			default:
				*out, err = ev.push(*out, v)
			}
		case value.Array:
			err = membersOf(ev, item.Elems(), name, out, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
